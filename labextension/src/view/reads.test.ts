import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { NodeRole } from '../document/graph.ts';
import { Sketch } from '../document/sketch.ts';
import { rowsOf } from './outline.ts';
import { show } from './view.ts';

/** What a closed box says beside itself that holds a constant, and hands it to a region in which two operations stand. */
function toldOf(kind: 'init' | 'enter'): readonly string[] {
  const sketch = new Sketch('given');
  const x = sketch.argument('x', 'f32[4]');
  const zero = sketch.op('constant', [], 'f32[]', {}, 'zero');
  const constant = sketch.last;
  const made = sketch.op(kind === 'init' ? 'while' : 'fusion', [zero, x], 'f32[4]');
  sketch.region(sketch.last, 'body', 'body', () => {
    const begun = sketch.argument('', 'f32[]', { kind, from: zero });
    const given = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
    const next = sketch.op('add', [sketch.op('sin', [given], 'f32[4]'), begun], 'f32[4]');
    sketch.result('', next, { kind: 'leave', to: made });
  });
  sketch.result('result', made);
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const { outline, leaf } = rowsOf(document, graph);
  outline.first[1] = constant;
  leaf.fill(1, outline.first[1], outline.end[1]);
  outline.role[constant] = NodeRole.chip;
  const { chips } = show(document, graph, { open: new Set() });
  return [...chips.values()].flat().map(({ title }) => title);
}

test('a closed box says which constants it holds and hands to its regions, and to the first turn of a loop', () => {
  assert.deepEqual(toldOf('init'), ['zero f32[]']);
  assert.deepEqual(toldOf('enter'), ['zero f32[]']);
});
