import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Layout, LayoutInput } from './input.ts';
import { layout } from './layout.ts';

/** A long ladder of boxes: `rails` chains side by side that read one another now and then. */
function ladder(rails: number, rungs: number, every: number): LayoutInput {
  const count = rails * rungs;
  const edges: [number, number, number][] = [];
  for (let box = rails; box < count; box++) {
    edges.push([box - rails, box, 0]);
    if (box % every === 0 && box % rails > 0) {
      edges.push([box - rails - 1, box, 1]);
    }
  }
  return {
    parent: new Int32Array(count).fill(-1),
    width: Float64Array.from({ length: count }, (_, box) => 60 + 10 * (box % 5)),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count).fill(5),
    right: new Float64Array(count),
    group: new Uint8Array(count),
    pin: new Uint8Array(count),
    source: Int32Array.from(edges, edge => edge[0]),
    target: Int32Array.from(edges, edge => edge[1]),
    sourcePort: new Int32Array(edges.length),
    targetPort: Int32Array.from(edges, edge => edge[2])
  };
}

function check(input: LayoutInput, out: Layout): void {
  const count = input.width.length;
  const overlaps = (a: number, b: number): boolean =>
    out.x[a] < out.x[b] + out.width[b] &&
    out.x[b] < out.x[a] + out.width[a] &&
    out.y[a] < out.y[b] + out.height[b] &&
    out.y[b] < out.y[a] + out.height[a];
  for (let a = 0; a < count; a++) {
    assert.ok(out.x[a] >= 0 && out.x[a] + out.width[a] <= out.totalWidth + 0.01);
    assert.ok(out.y[a] >= 0 && out.y[a] + out.height[a] <= out.totalHeight + 0.01);
    for (let b = a + 1; b < count; b++) {
      assert.ok(!overlaps(a, b), `boxes ${a} and ${b} overlap`);
    }
  }
  input.source.forEach((source, edge) => {
    const [begin, end] = [2 * out.routeStart[edge], 2 * out.routeStart[edge + 1] - 2];
    assert.ok(end > begin, `edge ${edge} is not drawn`);
    const target = input.target[edge];
    assert.ok(Math.abs(out.route[begin + 1] - out.y[source] - out.height[source]) < 0.01);
    assert.ok(Math.abs(out.route[end + 1] - out.y[target]) < 0.01);
    for (let k = begin; k < end; k += 2) {
      for (let box = 0; box < count; box++) {
        assert.ok(!runsThrough(out, k, box), `edge ${edge} runs through box ${box}`);
      }
    }
  });
}

function runsThrough({ route, x, y, width, height }: Layout, k: number, box: number): boolean {
  const [x1, y1, x2, y2] = [route[k], route[k + 1], route[k + 2], route[k + 3]];
  const top = Math.max(Math.min(y1, y2), y[box] + 1);
  const bottom = Math.min(Math.max(y1, y2), y[box] + height[box] - 1);
  if (top > bottom) {
    return false;
  }
  const at = (py: number): number => (y1 === y2 ? x1 : x1 + ((x2 - x1) * (py - y1)) / (y2 - y1));
  const [a, b] = y1 === y2 ? [x1, x2] : [at(top), at(bottom)];
  return Math.max(a, b) > x[box] + 1 && Math.min(a, b) < x[box] + width[box] - 1;
}

test('a chain of a thousand boxes is folded to the shape that is asked for', () => {
  const input = { ...ladder(1, 1000, 2000), aspect: 1.6 };
  const out = layout(input);
  check(input, out);
  const aspect = out.totalWidth / out.totalHeight;
  assert.ok(aspect > 1 && aspect < 2.5, `${out.totalWidth} x ${out.totalHeight}`);
});

test('strands that read one another are folded without an edge through a box', () => {
  for (const [rails, every] of [
    [2, 7],
    [3, 5],
    [4, 11]
  ]) {
    const input = { ...ladder(rails, 120, every), aspect: 1.5 };
    const out = layout(input);
    check(input, out);
    assert.ok(out.totalHeight < 2500, `${out.totalWidth} x ${out.totalHeight}`);
  }
});

test('a group is folded inside, and its results leave at its lower border', () => {
  const chain = ladder(1, 200, 400);
  const count = 203;
  const input: LayoutInput = {
    parent: Int32Array.from({ length: count }, (_, box) => (box > 1 && box < 202 ? 1 : -1)),
    width: new Float64Array(count).fill(80),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: Uint8Array.from({ length: count }, (_, box) => (box === 1 ? 1 : 0)),
    pin: new Uint8Array(count),
    source: Int32Array.from([0, ...Array.from(chain.source, box => box + 2), 201]),
    target: Int32Array.from([2, ...Array.from(chain.target, box => box + 2), 202]),
    sourcePort: new Int32Array(201),
    targetPort: new Int32Array(201),
    aspect: 1.6
  };
  const out = layout(input);
  assert.ok(out.height[1] < 2500, `${out.width[1]} x ${out.height[1]}`);
  for (let box = 2; box < 202; box++) {
    assert.ok(out.x[box] >= out.x[1] && out.x[box] + 80 <= out.x[1] + out.width[1]);
    assert.ok(out.y[box] >= out.y[1] && out.y[box] + 22 <= out.y[1] + out.height[1]);
  }
  const [begin, end] = [2 * out.routeStart[200], 2 * out.routeStart[201]];
  assert.ok(
    Array.from({ length: (end - begin) / 2 }, (_, k) => out.route[begin + 2 * k + 1]).some(
      y => y >= out.y[1] + out.height[1] - 20
    )
  );
});

test('one box that grows does not fold what stood in one column; many that do fold it', () => {
  const input = ladder(2, 44, 7);
  const first = layout(input);
  const before = first.x.map((x, box) => x + first.width[box] / 2);
  const taller = (many: number): Layout => {
    const some = (box: number): boolean => box % 2 === 0 && box >= 40 && box < 40 + 2 * many;
    const width = input.width.map((one, box) => (some(box) ? one + 10 : one));
    const height = input.height.map((one, box) => (some(box) ? one + 1600 / many : one));
    const next = { ...input, width, height, aspect: 1.6, before, stood: first };
    const out = layout(next);
    check(next, out);
    return out;
  };
  assert.equal(Math.max(...taller(1).column), 0);
  assert.ok(Math.max(...taller(8).column) > 0);
});

test('what is not too high, or cannot be cut, stays as it is', () => {
  const low = ladder(3, 20, 5);
  assert.deepEqual(layout({ ...low, aspect: 1.6 }), layout(low));
  const wide = ladder(30, 60, 7);
  assert.deepEqual(layout({ ...wide, aspect: 1.6 }), layout(wide));
});

test('what can only be cut near its end stays as it is', () => {
  // Ten strands are too many to cut through; only the single one below them could be.
  const [rails, rungs, end] = [10, 120, 12];
  const strands = ladder(rails, rungs, 7);
  const count = rails * rungs + end;
  const chain = Array.from({ length: end }, (_, i) => [
    i ? rails * rungs + i - 1 : rails * rungs - 1,
    rails * rungs + i
  ]);
  const input = {
    ...strands,
    parent: new Int32Array(count).fill(-1),
    width: new Float64Array(count).fill(60),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: new Uint8Array(count),
    pin: new Uint8Array(count),
    source: Int32Array.from([...strands.source, ...chain.map(([from]) => from)]),
    target: Int32Array.from([...strands.target, ...chain.map(([, to]) => to)]),
    sourcePort: new Int32Array(strands.source.length + end),
    targetPort: Int32Array.from([...strands.targetPort, ...chain.map(() => 0)])
  };
  assert.deepEqual(layout({ ...input, aspect: 1.6 }), layout(input));
});
