import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { show } from './view.ts';

/** The chips at the left of the boxes of one operation, in a program of `x` and a number. */
function chips(op: string, operands: (x: number) => (number | string)[]): string[] {
  const sketch = new Sketch();
  sketch.result('result', sketch.op(op, operands(sketch.argument('x', 'f32[4]')), 'f32[4]'));
  const document = decodePlain(sketch.plain());
  const visible = show(document, document.graphs[0], { open: new Set() });
  return [...visible.chips.values()].flat().map(({ text }) => text);
}

test('a number that is taken off an array is told from an array that is taken off a number', () => {
  assert.deepEqual(
    chips('sub', x => [x, '1.0']),
    ['− 1.0']
  );
  assert.deepEqual(
    chips('sub', x => ['1.0', x]),
    ['1.0 −']
  );
});

test('of two numbers the second has the sign, as in a formula', () => {
  assert.deepEqual(
    chips('div', () => ['1.0', '3.0']),
    ['1.0', '/ 3.0']
  );
});

test('where the order of the operands says nothing, there is no sign', () => {
  assert.deepEqual(
    chips('mul', x => ['2.0', x]),
    ['2.0']
  );
});
