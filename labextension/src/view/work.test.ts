import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { workOf } from './work.ts';

/** How much each node of a sketch does. */
function work(sketch: Sketch): number[] {
  const document = decodePlain(sketch.plain());
  return [...workOf(document, document.graphs[0])];
}

test('what makes many elements does more than what makes few, and a product of matrices twice as much', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[8,8]');
  sketch.op('sin', [x], 'f32[]');
  sketch.op('sin', [x], 'f32[8,8]');
  sketch.op('dot_general', [x, x], 'f32[8,8]');
  const [argument, one, many, product] = work(sketch);
  assert.equal(argument, 0);
  assert.equal(one, 1);
  assert.equal(many, Math.log2(65));
  assert.equal(product, 2 * many);
});

test('what a loop does counts for each turn, and what is in a branch as what is beside it', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  sketch.op('scan', [x], 'f32[]');
  sketch.region(sketch.last, 'scan body', '', () => sketch.op('sin', [sketch.argument('c', 'f32[]')], 'f32[]'));
  sketch.op('cond', [x], 'f32[]');
  sketch.region(sketch.last, 'branch', '', () => sketch.op('sin', [sketch.argument('c', 'f32[]')], 'f32[]'));
  assert.deepEqual(work(sketch), [0, 1, 0, Math.log2(9), 1, 0, 1]);
});
