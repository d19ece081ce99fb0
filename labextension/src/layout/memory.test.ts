import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlatLayout } from './flat.ts';
import type { Layout, LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { LayoutMemory } from './memory.ts';
import type { FlatInput } from './part.ts';

/** Two groups of crossing strands, and between them a box that may be open: a group of six boxes in a row. */
function picture(open: boolean): LayoutInput {
  const parent: number[] = [];
  const group: number[] = [];
  const width: number[] = [];
  const edges: [number, number][] = [];
  const box = (around: number, isGroup = 0, wide = 60): number => {
    group.push(isGroup);
    width.push(wide);
    return parent.push(around) - 1;
  };
  const strands = (): number => {
    const around = box(-1, 1);
    const inner = Array.from({ length: 24 }, (_, i) => box(around, 0, 60 + (i % 5) * 12));
    inner.forEach((one, i) => i >= 4 && edges.push([inner[(i * 7 + 3) % i], one], [inner[i - 1], one]));
    return inner[23];
  };
  const upper = strands();
  const middle = box(-1, open ? 1 : 0);
  const inside = open ? Array.from({ length: 6 }, () => box(middle)) : [middle];
  const lower = box(-1);
  inside.forEach(one => edges.push([upper, one], [one, lower]));
  strands();
  const count = parent.length;
  return {
    parent: Int32Array.from(parent),
    width: Float64Array.from(width),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: Uint8Array.from(group),
    pin: new Uint8Array(count),
    source: Int32Array.from(edges, ([from]) => from),
    target: Int32Array.from(edges, ([, to]) => to),
    sourcePort: new Int32Array(edges.length),
    targetPort: new Int32Array(edges.length)
  };
}

/** Where the 24 boxes of a group of strands stand, from the corner of the group. */
function inside(out: Layout, group: number): number[] {
  return Array.from({ length: 24 }, (_, i) => group + 1 + i).flatMap(box => [
    Math.round(1000 * (out.x[box] - out.x[group])),
    Math.round(1000 * (out.y[box] - out.y[group]))
  ]);
}

const centres = (out: Layout, boxes: readonly number[]): Float64Array =>
  Float64Array.from(boxes, box => (box < 0 ? NaN : out.x[box] + out.width[box] / 2));

test('what opens elsewhere moves nothing inside a group, and what is closed again is as it was', () => {
  const memory = new LayoutMemory();
  const closed = layout(picture(false), memory);
  // 25 boxes stand before the one that opens, 26 after it.
  const opening = [...Array(26).keys(), ...Array<number>(6).fill(-1), ...Array.from({ length: 26 }, (_, i) => 26 + i)];
  const open = layout({ ...picture(true), before: centres(closed, opening) }, memory);
  assert.ok(open.width[25] > closed.width[25]);
  assert.deepEqual(inside(open, 0), inside(closed, 0));
  assert.deepEqual(inside(open, 33), inside(closed, 27));
  const closing = opening.flatMap((box, i) => (box < 0 ? [] : [i]));
  const again = layout({ ...picture(false), before: centres(open, closing) }, memory);
  assert.deepEqual(again, closed);
});

test('without a memory the same input gives the same picture, whatever was laid out before', () => {
  const first = layout(picture(true));
  layout(picture(false));
  assert.deepEqual(layout(picture(true)), first);
});

test('of two groups that look the same, each keeps the order that it stood in', () => {
  const memory = new LayoutMemory();
  // One box above three alike, in a group: nothing but the picture before tells the three apart.
  const input: LayoutInput = {
    parent: Int32Array.of(-1, 0, 0, 0, 0),
    width: new Float64Array(5).fill(60),
    height: new Float64Array(5).fill(22),
    left: new Float64Array(5),
    right: new Float64Array(5),
    group: Uint8Array.of(1, 0, 0, 0, 0),
    pin: new Uint8Array(5),
    source: Int32Array.of(1, 1, 1),
    target: Int32Array.of(2, 3, 4),
    sourcePort: new Int32Array(3),
    targetPort: new Int32Array(3)
  };
  const first = layout(input, memory);
  const mirrored = Float64Array.from(centres(first, [0, 1, 2, 3, 4]), x => first.totalWidth - x);
  const other = layout({ ...input, before: mirrored }, memory);
  assert.deepEqual(centres(other, [0, 1, 2, 3, 4]), mirrored);
  assert.notDeepEqual(other.x, first.x);
  // Where nothing has a place to keep, a picture is as if there had been none before.
  assert.deepEqual(layout(input, memory), first);
  assert.deepEqual(layout({ ...input, before: mirrored }, memory), other);
});

/** Two groups of three boxes that stood side by side, each 600 px wide. */
function twoGroups(): FlatInput {
  const column = (value: number): Float64Array => new Float64Array(2).fill(value);
  const held = (centre: number): { was: number; now: number }[] =>
    [0, -200, 0, 200].map(off => ({ was: centre + off, now: off }));
  return {
    pin: new Uint8Array(2),
    order: Int32Array.of(0, 1),
    gate: new Uint8Array(2),
    height: column(100),
    left: column(300),
    right: column(300),
    from: new Int32Array(0),
    to: new Int32Array(0),
    fromOffset: new Float64Array(0),
    toOffset: new Float64Array(0),
    before: Float64Array.of(300, 948),
    holds: [held(300), held(948)],
    slide: column(0),
    effort: 1
  };
}

/** The groups with their centres at `x`, for all that is asked of it here. */
const at = (...x: number[]): FlatLayout => ({ x: Float64Array.from(x) }) as unknown as FlatLayout;

test('what is remembered is not taken where that would send what stands deeper past each other', () => {
  const memory = new LayoutMemory();
  // One above the other, and hardly to its left: the groups keep their order, what is in them does not.
  const stacked = at(300, 310);
  memory.recall(twoGroups(), () => stacked);
  const beside = at(300, 948);
  assert.equal(
    memory.recall(twoGroups(), () => beside),
    beside
  );
  assert.equal(
    memory.recall(twoGroups(), () => stacked),
    beside
  );
});

test('what was laid out with less effort is not taken for a picture that is drawn', () => {
  const memory = new LayoutMemory();
  const [roughly, drawn] = [at(0, 0), at(0, 0)];
  memory.recall({ ...twoGroups(), before: undefined, effort: 0.1 } as FlatInput, () => roughly);
  const recalled = memory.recall({ ...twoGroups(), before: undefined } as FlatInput, () => drawn);
  assert.equal(recalled, drawn);
});
