import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shorten } from './simplex.ts';
import type { Spans } from './tighttree.ts';

const graphsUpTo = (most: number) =>
  fc.integer({ min: 2, max: most }).chain(count =>
    fc
      .array(
        fc.record({
          ends: fc.tuple(fc.nat(count - 1), fc.nat(count - 1)),
          weight: fc.nat(4),
          least: fc.integer({ min: 0, max: 3 })
        }),
        { minLength: 1, maxLength: 3 * most }
      )
      .map(list => list.filter(({ ends: [a, b] }) => a !== b))
      .map((list): Spans => ({
        count,
        from: Int32Array.from(list, ({ ends }) => Math.min(...ends)),
        to: Int32Array.from(list, ({ ends }) => Math.max(...ends)),
        weight: Int32Array.from(list, ({ weight }) => weight),
        least: Int32Array.from(list, ({ least }) => least)
      }))
  );

const graphs = graphsUpTo(6);

/** Every vertex as far down as what is above it asks, with some room more. */
function start({ count, from, to, least }: Spans, room: number): Int32Array {
  const at = new Int32Array(count);
  for (let vertex = 0; vertex < count; vertex++) {
    from.forEach((source, edge) => {
      if (to[edge] === vertex) {
        at[vertex] = Math.max(at[vertex], at[source] + least[edge] + room);
      }
    });
  }
  return at;
}

function length({ from, to, weight }: Spans, at: Int32Array): number {
  return from.reduce((sum, source, edge) => sum + weight[edge] * (at[to[edge]] - at[source]), 0);
}

/**
 * The least length, found otherwise: the smallest cost over all potentials is the largest over all flows, and places
 * between 0 and the sum of all spans suffice, so a vertex at a time goes to its best place for every place of the rest.
 */
function leastLength(spans: Spans): number {
  const { count, from, to, least } = spans;
  const most = Math.min(
    9,
    least.reduce((a, b) => a + b, 0)
  );
  const at = new Int32Array(count);
  let best = Infinity;
  const place = (vertex: number): void => {
    if (vertex === count) {
      best = Math.min(best, length(spans, at));
      return;
    }
    for (at[vertex] = 0; at[vertex] <= most; at[vertex]++) {
      if (from.every((source, edge) => to[edge] !== vertex || at[vertex] - at[source] >= least[edge])) {
        place(vertex + 1);
      }
    }
    at[vertex] = 0;
  };
  place(0);
  return best;
}

test('the length is least, and no edge is too short', () => {
  fc.assert(
    fc.property(
      graphs.filter(({ count, least }) => count <= 5 && least.reduce((a, b) => a + b, 0) <= 9),
      fc.nat(2),
      (spans, room) => {
        const at = start(spans, room);
        shorten(spans, at, Infinity);
        spans.from.forEach((source, edge) => assert.ok(at[spans.to[edge]] - at[source] >= spans.least[edge]));
        assert.equal(length(spans, at), leastLength(spans));
      }
    ),
    { numRuns: 200 }
  );
});

test('where it starts does not matter, and it never makes the length worse', () => {
  fc.assert(
    fc.property(graphsUpTo(40), fc.integer({ min: 1, max: 5 }), (spans, room) => {
      const [near, far] = [start(spans, 0), start(spans, room)];
      const before = length(spans, near);
      shorten(spans, near, Infinity);
      shorten(spans, far, Infinity);
      assert.equal(length(spans, near), length(spans, far));
      assert.ok(length(spans, near) <= before);
    }),
    { numRuns: 300 }
  );
});

test('few pivots leave feasible places', () => {
  fc.assert(
    fc.property(graphs, fc.nat(2), (spans, pivots) => {
      const at = start(spans, 1);
      assert.ok(shorten(spans, at, pivots) <= pivots);
      spans.from.forEach((source, edge) => assert.ok(at[spans.to[edge]] - at[source] >= spans.least[edge]));
    }),
    { numRuns: 300 }
  );
});

test('a chain of 20,000 with a long way round is done in no time', () => {
  const count = 20_000;
  const from = Int32Array.from({ length: count }, (_, i) => (i < count - 1 ? i : 0));
  const to = Int32Array.from({ length: count }, (_, i) => (i < count - 1 ? i + 1 : count - 1));
  const spans = { count, from, to, weight: new Int32Array(count).fill(1), least: new Int32Array(count).fill(1) };
  const at = Int32Array.from({ length: count }, (_, i) => 2 * i);
  const begin = process.cpuUsage();
  shorten(spans, at, Infinity);
  assert.equal(length(spans, at), 2 * (count - 1));
  // µs of work, whatever else the machine does.
  assert.ok(process.cpuUsage(begin).user < 3e6);
});
