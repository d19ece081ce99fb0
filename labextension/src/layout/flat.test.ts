import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutFlat } from './flat.ts';
import type { FlatInput } from './part.ts';

/** A box over two others, joined, and one by itself to the right; `wanted` are the centres that they should have now. */
function withOneBeside(wanted: readonly number[]): FlatInput {
  const count = 4;
  const zero = new Float64Array(count);
  const stood = [200, 50, 350, 900];
  return {
    pin: new Uint8Array(count),
    order: Int32Array.from({ length: count }, (_, i) => i),
    gate: new Uint8Array(count),
    height: Float64Array.of(22, 22, 22, 600),
    left: new Float64Array(count).fill(40),
    right: new Float64Array(count).fill(40),
    from: Int32Array.of(0, 0),
    to: Int32Array.of(1, 2),
    fromOffset: new Float64Array(2),
    toOffset: new Float64Array(2),
    slide: zero,
    effort: 1,
    before: Float64Array.from(wanted),
    stood: {
      width: new Float64Array(count).fill(80),
      above: new Float64Array(count).fill(NaN),
      below: new Float64Array(count).fill(NaN),
      row: Int32Array.of(0, 1, 1, 0),
      column: new Int32Array(count),
      shelf: new Int32Array(count)
    },
    holds: stood.map(was => [{ was, now: 0 }])
  };
}

test('what stood beside a part stays there, also where what grew in it would go to the midst of that part', () => {
  const { x, y } = layoutFlat(withOneBeside([200, 50, 350, 250]));
  assert.ok(x[3] - 40 > Math.max(x[0], x[1], x[2]) + 40);
  // It has no row in common with the part: a high one would send away what is below it.
  assert.ok(y[1] < 100);
});
