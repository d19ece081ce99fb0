/** What closed boxes of one name say that hold different things. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { show } from './view.ts';

/** A call of `model` for each list of types: those of what its operations make, one after the other. */
function details(...calls: readonly (readonly string[])[]): readonly string[] {
  const sketch = new Sketch();
  const given = sketch.argument('x', 'f32[4]');
  for (const types of calls) {
    const value = sketch.op('jit', [given], types[types.length - 1], {}, 'model');
    sketch.region(sketch.last, 'jit', 'model', () => {
      let inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: given });
      types.forEach((type, at) => {
        inner = sketch.op(at % 2 ? 'sin' : 'cos', [inner], type);
      });
      sketch.result('', inner, { kind: 'leave', to: value });
    });
    sketch.op('neg', [value], 'f32[]');
  }
  const document = decodePlain(sketch.plain());
  const { label, detail } = show(document, document.graphs[0], { open: new Set(), apart: true });
  return detail.filter((_, box) => label[box] === 'model');
}

const steps = (count: number): readonly string[] => new Array<string>(count).fill('f32[4]');

test('of one name, what gives different types says which', () => {
  assert.deepEqual(details(['f32[4]', 'f32[2]'], ['f32[4]', 'f32[4]', 'f32[4,4]']), ['f32[2]', 'f32[4,4]']);
});

test('of one name, what holds far more than the other says how much each holds', () => {
  assert.deepEqual(details(steps(20), steps(2)), ['20 operations', '2 operations']);
});

test('what holds the same, or nearly so, needs no words', () => {
  assert.deepEqual(details(steps(20), steps(20)), ['', '']);
  assert.deepEqual(details(steps(20), steps(19)), ['', '']);
  assert.deepEqual(details(steps(4), steps(2)), ['', '']);
});
