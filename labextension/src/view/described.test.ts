import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { loop, Sketch } from '../document/sketch.ts';
import { described } from './described.ts';
import { openEverything } from './opening.ts';
import { rowsOf } from './outline.ts';
import { show } from './view.ts';

function words(sketch: Sketch): string {
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  return described('jaxpr', show(document, graph, { open: openEverything(rowsOf(document, graph), true) }));
}

test('a picture is told in words by its boxes, frames with what is in them', () => {
  assert.equal(words(loop()), 'jaxpr with 4 operations: w, h, xs, cell (carry, slice, mul, add), neg, result');
});

test('what would take too long to hear is cut between two boxes', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let turn = 0; turn < 200; turn++) {
    value = sketch.op(turn % 2 ? 'sine' : 'cosine', [value], 'f32[4]');
  }
  sketch.result('result', value);
  const text = words(sketch);
  assert.ok(text.length <= 603 && /(sine|cosine), …$/.test(text), text);
});
