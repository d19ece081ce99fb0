import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pin } from './input.ts';
import { keepRows } from './keeprows.ts';
import { rankVertices, type Directed } from './rank.ts';

function graph(count: number, edges: readonly (readonly [number, number])[], pins: readonly number[] = []): Directed {
  return {
    count,
    from: Int32Array.from(edges, ([from]) => from),
    to: Int32Array.from(edges, ([, to]) => to),
    pin: Uint8Array.from({ length: count }, (_, vertex) => pins[vertex] ?? Pin.free)
  };
}

test('a vertex stays in its row where another would be as good', () => {
  // 3 may stand beside 1 or beside 2.
  const diamond = graph(5, [
    [0, 1],
    [1, 2],
    [2, 4],
    [0, 3],
    [3, 4]
  ]);
  for (const row of [1, 2]) {
    const before = Int32Array.of(0, 1, 2, row, 3);
    assert.deepEqual(keepRows(diamond, rankVertices(diamond), before), before);
  }
});

test('an argument that reads something stays in its row, as what is carried round a loop does', () => {
  const carried = graph(
    5,
    [
      [0, 1],
      [1, 2],
      [2, 4],
      [0, 3],
      [3, 4]
    ],
    [Pin.top, Pin.free, Pin.free, Pin.top, Pin.free]
  );
  const before = Int32Array.of(0, 1, 2, 2, 3);
  assert.deepEqual(keepRows(carried, rankVertices(carried), before), before);
});

test('what is new pushes others down no further than its edges ask for, and rows that are empty now are gone', () => {
  const chain = graph(4, [
    [0, 1],
    [1, 2],
    [2, 3]
  ]);
  assert.deepEqual([...keepRows(chain, rankVertices(chain), Int32Array.of(0, -1, 1, 2))], [0, 1, 2, 3]);
  assert.deepEqual([...keepRows(chain, rankVertices(chain), Int32Array.of(0, 4, 5, 6))], [0, 1, 2, 3]);
});

test('rows that have become far too long are given up', () => {
  const star = graph(4, [
    [0, 1],
    [0, 2],
    [0, 3]
  ]);
  assert.deepEqual([...keepRows(star, rankVertices(star), Int32Array.of(0, 1, 2, 3))], [0, 1, 1, 1]);
});

test('whatever the rows were, edges run downward, arguments stand at the top and results at the bottom', () => {
  const shape = fc.record({
    edges: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 25 }),
    before: fc.array(fc.integer({ min: -1, max: 12 }), { minLength: 12, maxLength: 12 })
  });
  const pins = [Pin.top, Pin.top, ...new Array<number>(8).fill(Pin.free), Pin.bottom, Pin.bottom];
  fc.assert(
    fc.property(shape, ({ edges, before }) => {
      const downward = edges.filter(([from, to]) => from < to && to > 1 && from < 10);
      const some = graph(12, downward, pins);
      const rank = keepRows(some, rankVertices(some), Int32Array.from(before));
      const last = Math.max(...rank);
      assert.ok(downward.every(([from, to]) => rank[from] < rank[to]));
      assert.deepEqual(
        [...rank].filter((_, vertex) => pins[vertex] === Pin.top),
        [0, 0]
      );
      assert.deepEqual(
        [...rank].filter((_, vertex) => pins[vertex] === Pin.bottom),
        [last, last]
      );
      assert.ok([...rank].every((row, vertex) => pins[vertex] !== Pin.free || (row > 0 && row < last)));
    })
  );
});
