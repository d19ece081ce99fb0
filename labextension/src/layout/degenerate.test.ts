import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Layout, LayoutInput } from './input.ts';
import { layout } from './layout.ts';

type Edge = readonly [number, number];

/** Equal boxes and edges; `change` sets columns otherwise. */
function graph(count: number, edges: readonly Edge[], change: Partial<LayoutInput> = {}): LayoutInput {
  return {
    parent: new Int32Array(count).fill(-1),
    width: new Float64Array(count).fill(80),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: new Uint8Array(count),
    pin: new Uint8Array(count),
    source: Int32Array.from(edges, edge => edge[0]),
    target: Int32Array.from(edges, edge => edge[1]),
    sourcePort: new Int32Array(edges.length),
    targetPort: Int32Array.from(edges.keys()),
    ...change
  };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const star = range(10_000).map(i => [0, i + 1] as const);
const clique = range(300).flatMap(a => range(a).map(b => [b, a] as const));

/** Pairs of boxes of one group that overlap, found from left to right. */
function overlaps(input: LayoutInput, out: Layout): number {
  const order = range(out.x.length).sort((a, b) => out.y[a] - out.y[b] || out.x[a] - out.x[b]);
  let count = 0;
  let rows: number[] = [];
  for (const box of order) {
    rows = rows.filter(other => out.y[other] + out.height[other] > out.y[box] + 0.02);
    for (let i = rows.length - 1; i >= 0; i--) {
      const other = rows[i];
      if (input.parent[other] !== input.parent[box]) {
        continue;
      }
      const apart =
        out.x[other] + out.width[other] <= out.x[box] + 0.02 || out.x[box] + out.width[box] <= out.x[other] + 0.02;
      count += apart ? 0 : 1;
      // In a row of equal height all others lie further to the left.
      if (apart && out.y[other] === out.y[box] && rows.length > 1000) {
        break;
      }
    }
    rows.push(box);
  }
  return count;
}

const cases: [string, () => LayoutInput][] = [
  ['nothing', () => graph(0, [])],
  ['one box', () => graph(1, [])],
  ['an empty group', () => graph(1, [], { group: Uint8Array.of(1) })],
  ['10,000 boxes that nothing joins', () => graph(10_000, [])],
  ['a star of 10,000', () => graph(10_001, star)],
  [
    '10,000 boxes that one reads',
    () =>
      graph(
        10_001,
        star.map(([a, b]) => [b, a])
      )
  ],
  [
    'two that 10,000 read',
    () =>
      graph(
        10_002,
        star.flatMap(([, b]) => [[0, b + 1] as const, [1, b + 1] as const])
      )
  ],
  ['a clique of 300', () => graph(300, clique)],
  [
    '300 that 300 others read',
    () =>
      graph(
        600,
        range(90_000).map(i => [i % 300, 300 + Math.floor(i / 300)] as const)
      )
  ],
  [
    'a cycle of 5,000',
    () =>
      graph(
        5000,
        range(5000).map(i => [i, (i + 1) % 5000] as const)
      )
  ],
  [
    'a chain of 20,000',
    () =>
      graph(
        20_000,
        range(19_999).map(i => [i, i + 1] as const)
      )
  ],
  [
    'the same edge 5,000 times, and as many loops',
    () =>
      graph(
        2,
        range(10_000).map(i => [0, i % 2] as const)
      )
  ],
  [
    'groups nested 400 deep',
    () =>
      graph(401, [], {
        parent: Int32Array.from(range(401), i => i - 1),
        group: Uint8Array.from(range(401), i => (i < 400 ? 1 : 0))
      })
  ],
  [
    'groups nested 60 deep, each with what leads into it and out of it',
    () => {
      const inside = (depth: number): number => 3 * depth;
      return graph(
        183,
        range(60).flatMap(depth => [
          [inside(depth), inside(depth + 1)] as const,
          [inside(depth + 1) + 2, inside(depth) + 2] as const
        ]),
        {
          parent: Int32Array.from(range(183), i => (i < 3 ? -1 : inside(Math.floor(i / 3) - 1) + 1)),
          group: Uint8Array.from(range(183), i => (i % 3 === 1 ? 1 : 0))
        }
      );
    }
  ],
  [
    'a group of 5,000 that read what leads into it',
    () =>
      graph(
        5002,
        range(5000).map(i => [0, i + 2] as const),
        {
          parent: Int32Array.from(range(5002), i => (i < 2 ? -1 : 1)),
          group: Uint8Array.from(range(5002), i => Number(i === 1))
        }
      )
  ],
  [
    '2,000 programs in one, each with nothing of the others',
    () =>
      graph(
        6000,
        range(4000).map(i => [Math.floor(i / 2) * 3 + (i % 2), Math.floor(i / 2) * 3 + (i % 2) + 1] as const)
      )
  ],
  [
    'a label of 10,000 characters',
    () =>
      graph(
        3,
        [
          [0, 1],
          [0, 2]
        ],
        { width: Float64Array.of(80, 70_000, 80) }
      )
  ],
  [
    'boxes of no size',
    () =>
      graph(
        3,
        [
          [0, 1],
          [0, 2]
        ],
        { width: new Float64Array(3), height: new Float64Array(3) }
      )
  ],
  [
    'arguments that read results',
    () =>
      graph(
        4,
        [
          [2, 0],
          [0, 3],
          [3, 1],
          [1, 2]
        ],
        { pin: Uint8Array.of(1, 1, 2, 2) }
      )
  ]
];

for (const [what, make] of cases) {
  test(`neither hangs nor overlaps: ${what}`, () => {
    const input = make();
    const start = process.cpuUsage();
    const out = layout(input);
    // µs of work, whatever else the machine does.
    assert.ok(process.cpuUsage(start).user < 12e6, 'it takes too long');
    for (const column of [out.x, out.y, out.width, out.height, out.route]) {
      assert.ok(column.every(Number.isFinite));
    }
    assert.equal(overlaps(input, out), 0);
  });
}

test('past the budget the longest edges are left out, and that is said', () => {
  assert.match(layout(graph(300, clique)).simplified.join(), /^of the \d+ longest edges only the ends are drawn/);
  assert.deepEqual(layout(graph(10_001, star)).simplified, []);
});

test('a frame of 300 boxes that little joins has a readable shape, also where one is read outside of it', () => {
  const parent = new Int32Array(302).fill(0);
  parent[0] = parent[301] = -1;
  const input = graph(302, [[150, 301]], { parent, group: Uint8Array.from(parent, (_, box) => (box === 0 ? 1 : 0)) });
  const out = layout(input);
  assert.ok(out.totalWidth < 3 * out.totalHeight, `${out.totalWidth} by ${out.totalHeight}`);
  assert.equal(overlaps(input, out), 0);
});
