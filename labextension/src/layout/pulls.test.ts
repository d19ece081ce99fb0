import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { eased } from './pulls.ts';

test('only what leads from one side of a wide box to the other side of the next pulls less', () => {
  const ends = (upper: number, lower: number): number[] => {
    const [upperOffset, lowerOffset] = [Float64Array.of(upper), Float64Array.of(lower)];
    const pulls = eased({ left: new Float64Array(2), right: new Float64Array(2), upperOffset, lowerOffset });
    return [pulls.upperOffset[0], pulls.lowerOffset[0]];
  };
  for (const same of [
    [20, -20],
    [500, 0],
    [500, 480],
    [140, -140]
  ]) {
    assert.deepEqual(ends(same[0], same[1]), same);
  }
  const [upper, lower] = ends(500, -500);
  assert.ok(Math.abs(upper - lower) < 100 && upper > 0 && lower < 0);
});

test('frames in columns that follow each other stand below each other, not as a staircase', () => {
  const [frames, each] = [6, 150];
  const count = frames * (each + 1);
  const frameOf = (box: number): number => box - (box % (each + 1));
  const boxes = Array.from({ length: count }, (_, box) => box).filter(box => frameOf(box) !== box);
  const input: LayoutInput = {
    parent: Int32Array.from({ length: count }, (_, box) => (frameOf(box) === box ? -1 : frameOf(box))),
    width: new Float64Array(count).fill(60),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: Uint8Array.from({ length: count }, (_, box) => (frameOf(box) === box ? 1 : 0)),
    pin: new Uint8Array(count),
    source: Int32Array.from(boxes.slice(0, -1)),
    target: Int32Array.from(boxes.slice(1)),
    sourcePort: new Int32Array(boxes.length - 1),
    targetPort: new Int32Array(boxes.length - 1),
    aspect: 1.3
  };
  const { width, column, totalWidth } = layout(input);
  assert.ok(Math.max(...column) > 2);
  assert.ok(totalWidth < 2 * Math.max(...width), `${totalWidth} px for frames of ${Math.max(...width)} px`);
});
