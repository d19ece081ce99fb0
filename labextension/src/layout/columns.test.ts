import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepColumns } from './columns.ts';
import { Pin, type Layout, type LayoutInput } from './input.ts';
import { layout } from './layout.ts';

/** Chains side by side, each as long as said and in a group of its own where there are groups. */
function chains(
  lengths: readonly number[],
  change: Partial<LayoutInput> = {},
  parent: readonly number[] = []
): LayoutInput {
  const first = parent.length;
  const parents = [...parent];
  const source: number[] = [];
  const target: number[] = [];
  lengths.forEach((length, group) => {
    let last = -1;
    for (let i = 0; i < length; i++) {
      const box = parents.push(first ? group : -1) - 1;
      if (last >= 0) {
        source.push(last);
        target.push(box);
      }
      last = box;
    }
  });
  const count = parents.length;
  return {
    parent: Int32Array.from(parents),
    width: new Float64Array(count).fill(80),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: Uint8Array.from({ length: count }, (_, box) => (box < first ? 1 : 0)),
    pin: new Uint8Array(count),
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    sourcePort: new Int32Array(source.length),
    targetPort: new Int32Array(source.length),
    aspect: 1.5,
    ...change
  };
}

const middles = ({ x, width }: Layout): Float64Array => x.map((left, box) => left + width[box] / 2);

function afterwards(input: LayoutInput, was: Layout): Layout {
  return layout({ ...input, before: middles(was), stood: was });
}

test('what stood in a column is still there when a box grows', () => {
  const input = chains([300]);
  const was = layout(input);
  assert.ok(Math.max(...was.column) >= 3);
  const height = input.height.slice();
  height[120] = 700;
  const is = afterwards({ ...input, height }, was);
  assert.deepEqual(is.column, was.column);
  // What stands beside or above it has not moved; what stands in later columns has made no more room than it takes.
  input.parent.forEach((_, box) => {
    const before = was.column[box] !== was.column[120] || was.y[box] < was.y[120];
    assert.ok(!before || Math.abs(is.y[box] - was.y[box]) < 1, `box ${box} moved by ${is.y[box] - was.y[box]}`);
    assert.ok(Math.abs(is.x[box] - was.x[box]) < 40, `box ${box} moved sideways by ${is.x[box] - was.x[box]}`);
  });
});

test('columns are chosen anew where they would be far from the wanted shape', () => {
  const input = chains([300]);
  const was = layout(input);
  const height = new Float64Array(input.height.length).fill(400);
  const is = afterwards({ ...input, height }, was);
  assert.ok(Math.max(...is.column) > Math.max(...was.column));
  assert.ok(is.totalHeight < 6 * is.totalWidth, `${is.totalWidth} x ${is.totalHeight}`);
});

test('what was one column stays one where it is but a little too high for it', () => {
  const short = chains([33]);
  short.width.fill(420);
  const was = layout(short);
  assert.equal(Math.max(...was.column), 0);
  const height = short.height.slice();
  height[20] = 500;
  assert.ok(Math.max(...layout({ ...short, height }).column) > 0);
  assert.equal(Math.max(...afterwards({ ...short, height }, was).column), 0);
});

test('columns stay where what opens sends some more edges from one to the next', () => {
  const input = chains([300]);
  const was = layout(input);
  const ends = Array.from({ length: 23 }, (_, i) => [10 * i, 10 * i + 60]);
  const is = afterwards(
    {
      ...input,
      source: Int32Array.from([...input.source, ...ends.map(([from]) => from), ...ends.map(([from]) => from + 1)]),
      target: Int32Array.from([...input.target, ...ends.map(([, to]) => to), ...ends.map(([, to]) => to + 2)]),
      sourcePort: new Int32Array(input.source.length + 2 * ends.length),
      targetPort: new Int32Array(input.source.length + 2 * ends.length)
    },
    was
  );
  assert.deepEqual(is.column, was.column);
});

test('columns that do not go with the rows are not kept', () => {
  const count = 40;
  const row = Int32Array.from({ length: count }, (_, vertex) => vertex);
  const part = { from: row.slice(0, -1), to: row.slice(1), row };
  const before = new Float64Array(count);
  const half = Int32Array.from(row, vertex => (vertex < 20 ? 0 : 1));
  assert.deepEqual(keepColumns(part, before, half)?.cuts, [19]);
  assert.equal(
    keepColumns(
      part,
      before,
      half.map(column => 1 - column)
    ),
    null
  );
});

test('groups side by side in columns are not torn apart to stand level', () => {
  const input = chains([250, 250], {}, [-1, -1]);
  const size = (input.parent.length - 2) / 2;
  const pin = new Uint8Array(input.parent.length);
  pin.fill(Pin.ordered, 0, 2);
  // Each box has its twin at the other end of the other group.
  const level = Int32Array.from(input.parent, (group, box) =>
    group < 0 ? 1 - box : group === 0 ? box + size : box - size
  );
  const apart = layout({ ...input, pin });
  assert.ok(Math.max(...apart.column) > 0);
  const height = input.height.slice();
  height[40] = 600;
  height[2 + size + 200] = 600;
  const [free, level_] = [layout({ ...input, pin, height }), layout({ ...input, pin, height, level })];
  assert.equal(level_.totalHeight, free.totalHeight);
});
