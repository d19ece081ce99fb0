import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrange, type Ranked } from './arrange.ts';
import { countCrossings } from './crossings.ts';
import { Pin } from './input.ts';
import { makeNet, setPlaces } from './net.ts';
import { makeProper } from './proper.ts';
import { rankVertices, type Directed } from './rank.ts';

function graphOf(count: number, edges: readonly (readonly [number, number])[]): Directed {
  return {
    count,
    from: Int32Array.from(edges, ([from]) => from),
    to: Int32Array.from(edges, ([, to]) => to),
    pin: new Uint8Array(count).fill(Pin.free)
  };
}

function length({ from, to }: Directed, rank: Int32Array): number {
  return from.reduce((sum, source, edge) => sum + rank[to[edge]] - rank[source], 0);
}

const graphs = fc.integer({ min: 2, max: 12 }).chain(count =>
  fc
    .array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 3 * count })
    .map(list => list.filter(([a, b]) => a !== b))
    .map(list =>
      graphOf(
        count,
        list.map(([a, b]) => [Math.min(a, b), Math.max(a, b)])
      )
    )
);

test('ranks from below are as good as those from above', () => {
  fc.assert(
    fc.property(graphs, graph => {
      const low = rankVertices(graph, true);
      graph.from.forEach((source, edge) => assert.ok(low[source] < low[graph.to[edge]]));
      assert.equal(length(graph, low), length(graph, rankVertices(graph)));
    })
  );
});

test('arguments and results keep their rows in both', () => {
  // Arguments 0 and 1, results 2 and 3; the one result is far from its argument, so that 4 and 5 may slide.
  const edges = [
    [0, 4],
    [4, 5],
    [5, 2],
    [1, 6],
    [6, 7],
    [7, 8],
    [8, 9],
    [9, 3]
  ] as const;
  const pin = new Uint8Array(10);
  pin.set([Pin.top, Pin.top, Pin.bottom, Pin.bottom]);
  const [high, low] = [false, true].map(below => rankVertices({ ...graphOf(10, edges), pin }, below));
  assert.deepEqual([...high], [0, 0, 5, 5, 1, 2, 1, 2, 3, 4]);
  assert.deepEqual([...low], [0, 0, 5, 5, 3, 4, 1, 2, 3, 4]);
});

test('of ranks that are equally good, those with fewer crossings are taken', () => {
  const graph = graphOf(11, [
    [0, 1],
    [0, 2],
    [1, 3],
    [2, 3],
    [0, 4],
    [2, 4],
    [3, 5],
    [1, 6],
    [4, 6],
    [4, 7],
    [1, 7],
    [7, 8],
    [6, 9],
    [8, 10]
  ]);
  const crossings = (others: boolean): number => {
    const free = new Int32Array(graph.count).fill(-1);
    const ranked = (low: boolean): Ranked => rankedBy(graph, rankVertices(graph, low));
    const { net, rows } = arrange(ranked(false), () => 10, [free], 1, false, others ? () => ranked(true) : undefined);
    const at = { order: Int32Array.from(rows.flatMap(row => [...row])), place: new Int32Array(net.count) };
    setPlaces(net, at);
    return countCrossings(net, at);
  };
  assert.equal(crossings(false), 3);
  assert.equal(crossings(true), 2);
});

/** Boxes of one size, joined in their middles. */
function rankedBy({ from, to }: Directed, rank: Int32Array): Ranked {
  const proper = makeProper(rank, from, to);
  const links = (): Float64Array => new Float64Array(proper.upper.length);
  const half = (): Float64Array => new Float64Array(proper.count).fill(30);
  const extents = { left: half(), right: half(), upperOffset: links(), lowerOffset: links() };
  return { proper, net: makeNet(proper, links(), links()), extents, pulls: extents };
}
