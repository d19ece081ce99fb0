import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import { decodePlain } from '../document/decode.ts';
import type { Document, TracingError } from '../document/graph.ts';
import { Sketch } from '../document/sketch.ts';
import { sceneOf } from '../draw/sceneOf.ts';
import { failureMarks, makeFailure, nothingTraced } from './failure.ts';

const before = globalThis.document;

beforeEach(() => {
  Object.assign(globalThis, { document: new Window().document });
});

afterEach(() => {
  Object.assign(globalThis, { document: before });
});

const ERROR: TracingError = {
  kind: 'TracerBoolConversionError',
  message: 'Attempted boolean conversion',
  case: 'choice',
  title: 'Python needs to know `x > 0`',
  reason: 'It is a stand-in. It has no number.',
  cures: [{ text: 'Choose for each element:', code: '<b>jnp.where(x > 0, x, -x)</b>' }],
  link: 'https://docs.jax.dev/en/latest/errors.html',
  stack: -1,
  nodes: [1]
};

function failing(error: Partial<TracingError> = {}, sketch = traced()): Document {
  const plain = sketch.plain();
  Object.assign(plain.programs[0], { error: { ...ERROR, ...error } });
  return decodePlain(plain);
}

function traced(): Sketch {
  const sketch = new Sketch();
  sketch.result('x > 0', sketch.op('gt', [sketch.argument('x', 'f32[]')], 'bool[]'));
  return sketch;
}

test('a program that could be traced has no such panel', () => {
  assert.deepEqual(makeFailure(decodePlain(traced().plain())), []);
});

test('an error is told with its reason, its cures and its page, and what a document holds is text', () => {
  const [panel] = makeFailure(failing());
  assert.equal(panel.querySelector('h3')?.textContent, 'Python needs to know x > 0');
  assert.equal(panel.querySelector('h3 code')?.textContent, 'x > 0');
  assert.equal(panel.querySelector('.jv-cure-code')?.textContent, '<b>jnp.where(x > 0, x, -x)</b>');
  assert.equal(panel.querySelector('b'), null);
  assert.equal(panel.querySelector('a')?.getAttribute('href'), ERROR.link);
  assert.match(panel.textContent ?? '', /below: what was traced until then/);
});

test('nothing but a page on the web becomes a link', () => {
  for (const link of ['', 'javascript:alert(1)', 'file:///etc/passwd']) {
    assert.equal(makeFailure(failing({ link }))[0].querySelector('a'), null);
  }
});

test('what the error is about is marked', () => {
  const document = failing();
  const { visible } = sceneOf(traced());
  const [mark] = failureMarks(document, { ...visible, graph: document.graphs[0] });
  assert.equal(visible.label[mark.box], 'gt');
  assert.equal(mark.text, 'stopped here');
});

test('where nothing was traced there is nothing to draw', () => {
  assert.equal(nothingTraced(failing()), false);
  const empty = failing({ nodes: [] }, new Sketch());
  assert.equal(nothingTraced(empty), true);
  assert.doesNotMatch(makeFailure(empty)[0].textContent ?? '', /below/);
});

test('an error that names what is not there is told when the document is read', () => {
  assert.throws(() => failing({ nodes: [99] }), /error\/nodes/);
  assert.throws(() => failing({ stack: 99 }), /error\/stack/);
});
