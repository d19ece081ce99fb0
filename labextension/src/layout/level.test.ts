import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { check, graph } from './layout.test.ts';

/**
 * Two groups side by side, each a chain of as many boxes as given, and below them a box that reads both; `twins` pairs
 * members by their place in the chain.
 */
function twoChains(left: number, right: number, twins: readonly (readonly [number, number])[]): LayoutInput {
  const boxes = [
    { group: true },
    ...Array.from({ length: left }, () => ({ parent: 0 })),
    { group: true },
    ...Array.from({ length: right }, () => ({ parent: left + 1 })),
    {}
  ];
  const edges: [number, number][] = [];
  for (const [first, count] of [
    [1, left],
    [left + 2, right]
  ]) {
    for (let i = 1; i < count; i++) {
      edges.push([first + i - 1, first + i]);
    }
  }
  edges.push([0, boxes.length - 1], [left + 1, boxes.length - 1]);
  const level = new Int32Array(boxes.length).fill(-1);
  const join = (a: number, b: number): void => {
    level[a] = b;
    level[b] = a;
  };
  join(0, left + 1);
  twins.forEach(([a, b]) => join(1 + a, left + 2 + b));
  return { ...graph(boxes, edges), level };
}

test('twins in two groups stand at one height, and the groups are equally high', () => {
  const input = twoChains(5, 3, [
    [0, 0],
    [3, 1],
    [4, 2]
  ]);
  const out = layout(input);
  check(input, out);
  for (const [a, b] of [
    [1, 7],
    [4, 8],
    [5, 9]
  ]) {
    assert.equal(out.y[a], out.y[b]);
  }
  assert.equal(out.y[0], out.y[6]);
  assert.equal(out.height[0], out.height[6]);
  // The rows without a twin stay as close as they were.
  const plain = layout({ ...input, level: undefined });
  assert.equal(out.y[2] - out.y[1], plain.y[2] - plain.y[1]);
});

test('of twins in opposite order as many as can be stand at one height', () => {
  const input = twoChains(4, 4, [
    [0, 3],
    [1, 0],
    [2, 1],
    [3, 2]
  ]);
  const out = layout(input);
  check(input, out);
  assert.deepEqual(
    [2, 3, 4].map(box => out.y[box]),
    [6, 7, 8].map(box => out.y[box])
  );
});

test('twins inside of twins stand at one height too', () => {
  const boxes = [
    { group: true },
    { parent: 0 },
    { parent: 0, group: true },
    { parent: 2 },
    { parent: 2 },
    { group: true },
    { parent: 5, group: true },
    { parent: 6 }
  ];
  const level = Int32Array.from([5, -1, 6, -1, 7, 0, 2, 4]);
  const edges: [number, number][] = [
    [1, 3],
    [3, 4]
  ];
  const input = { ...graph(boxes, edges), level };
  const out = layout(input);
  check(input, out);
  assert.equal(out.y[2], out.y[6]);
  assert.equal(out.y[4], out.y[7]);
});

test('whatever the twins are, nothing overlaps and every edge is attached', () => {
  const pairs = fc.uniqueArray(fc.tuple(fc.nat(7), fc.nat(7)), { selector: ([a]) => a, maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), pairs, (left, right, twins) => {
      const seen = new Set<number>();
      const fitting = twins.filter(([a, b]) => a < left && b < right && !seen.has(b) && seen.add(b));
      const input = twoChains(left, right, fitting);
      const out = layout(input);
      check(input, out);
      assert.equal(out.height[0], out.height[left + 1]);
      assert.ok(fitting.length === 0 || fitting.some(([a, b]) => out.y[1 + a] === out.y[left + 2 + b]));
    }),
    { numRuns: 100 }
  );
});
