import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { annealPass } from './anneal.ts';
import { countCrossings, Crossings, swapChange } from './crossings.ts';
import { makeNet, setPlaces, type Arrangement, type Net } from './net.ts';
import { orderRows, rowsOf } from './order.ts';
import { makeProper } from './proper.ts';
import { Reach } from './reach.ts';
import { rerouteLongEdges } from './reroute.ts';
import { depthFirst, sweepToMeans } from './start.ts';

type Link = readonly [upper: number, upperPort: number, lower: number, lowerPort: number];

/** A graph in rows with ports: edges run down by at least one row and meet their boxes at offsets of -1, 0 or 1. */
interface Sample {
  readonly net: Net;
  /** Links with the offsets of their ports. */
  readonly links: readonly Link[];
  readonly real: number;
}

const samples: fc.Arbitrary<Sample> = fc
  .record({
    rank: fc.array(fc.nat(4), { minLength: 2, maxLength: 24 }),
    ends: fc.array(fc.tuple(fc.nat(23), fc.nat(23), fc.integer({ min: -1, max: 1 }), fc.integer({ min: -1, max: 1 })), {
      maxLength: 40
    })
  })
  .map(({ rank, ends }) => {
    // Rows without a vertex do not occur.
    const used = [...new Set(rank)].sort((a, b) => a - b);
    const ranks = Int32Array.from(rank, one => used.indexOf(one));
    const edges = ends
      .map(([a, b, p, q]) => [a % rank.length, b % rank.length, p, q] as const)
      .map(([a, b, p, q]) => (ranks[a] < ranks[b] ? ([a, b, p, q] as const) : ([b, a, p, q] as const)))
      .filter(([a, b]) => ranks[a] < ranks[b]);
    const proper = makeProper(
      ranks,
      Int32Array.from(edges, edge => edge[0]),
      Int32Array.from(edges, edge => edge[1])
    );
    const upperOffset = new Float64Array(proper.upper.length);
    const lowerOffset = new Float64Array(proper.upper.length);
    let link = 0;
    edges.forEach(([, , p, q], edge) => {
      upperOffset[link] = p;
      link += proper.laneCount[edge] + 1;
      lowerOffset[link - 1] = q;
    });
    return {
      net: makeNet(proper, upperOffset, lowerOffset),
      links: Array.from(proper.upper, (upper, i) => [upper, upperOffset[i], proper.lower[i], lowerOffset[i]] as const),
      real: ranks.length
    };
  });

/** By looking at every pair. */
function slowCount({ net, links }: Pick<Sample, 'net' | 'links'>, { place }: Arrangement): number {
  const side = (a: number, p: number, b: number, q: number): number => Math.sign(place[a] - place[b] || p - q);
  let total = 0;
  links.forEach(([u1, p1, l1, q1], i) => {
    links.slice(i + 1).forEach(([u2, p2, l2, q2]) => {
      total += net.row[u1] === net.row[u2] && side(u1, p1, u2, p2) * side(l1, q1, l2, q2) < 0 ? 1 : 0;
    });
  });
  return total;
}

function checkArrangement({ net }: Sample, { order, place }: Arrangement): void {
  assert.deepEqual(
    Array.from(order).sort((a, b) => a - b),
    Array.from(order.keys())
  );
  for (let row = 0; row < net.rowCount; row++) {
    for (let i = net.rowStart[row]; i < net.rowStart[row + 1]; i++) {
      assert.equal(net.row[order[i]], row);
      assert.equal(place[order[i]], i - net.rowStart[row]);
    }
  }
}

test('crossings are counted as by looking at every pair, ports included', () => {
  fc.assert(
    fc.property(samples, fc.boolean(), (sample, fromTop) => {
      const at = depthFirst(sample.net, fromTop);
      checkArrangement(sample, at);
      assert.equal(countCrossings(sample.net, at), slowCount(sample, at));
    }),
    { numRuns: 300 }
  );
});

test('crossings are the same where only rows that have changed are counted again', () => {
  fc.assert(
    fc.property(samples, fc.array(fc.nat(1000), { maxLength: 8 }), (sample, picks) => {
      const { net } = sample;
      const at = depthFirst(net, true);
      const crossings = new Crossings(net, at);
      assert.equal(crossings.count(), slowCount(sample, at));
      for (const pick of picks) {
        const i = pick % net.count;
        const row = net.row[at.order[i]];
        at.order.subarray(net.rowStart[row], net.rowStart[row + 1]).reverse();
        setPlaces(net, at);
        crossings.forget(row);
        assert.equal(crossings.count(), slowCount(sample, at));
      }
    }),
    { numRuns: 300 }
  );
});

test('a swap changes the crossings by what is foretold', () => {
  fc.assert(
    fc.property(samples, fc.nat(1000), (sample, pick) => {
      const { net } = sample;
      const at = depthFirst(net, true);
      const i = pick % net.count;
      if (i + 1 < net.rowStart[net.row[at.order[i]] + 1]) {
        const before = slowCount(sample, at);
        const change = swapChange(net, at.order[i], at.order[i + 1], at.place);
        [at.order[i], at.order[i + 1]] = [at.order[i + 1], at.order[i]];
        setPlaces(net, at);
        assert.equal(slowCount(sample, at) - before, change);
      }
    }),
    { numRuns: 300 }
  );
});

test('an annealing pass knows what it changed and never swaps two that are held', () => {
  fc.assert(
    fc.property(samples, fc.double({ min: 0.1, max: 3, noNaN: true }), (sample, temperature) => {
      const { net } = sample;
      const at = depthFirst(net, true);
      const held = Uint8Array.from({ length: net.count }, (_, vertex) => (vertex % 3 === 0 ? 1 : 0));
      const heldBefore = Array.from(at.order).filter(vertex => held[vertex]);
      const before = slowCount(sample, at);
      const change = annealPass(net, at, held, temperature, { random: 7, steps: 0 });
      checkArrangement(sample, at);
      assert.equal(slowCount(sample, at) - before, change);
      assert.deepEqual(
        Array.from(at.order).filter(vertex => held[vertex]),
        heldBefore
      );
    }),
    { numRuns: 300 }
  );
});

test('rerouting long edges saves what it says, which is never less than nothing', () => {
  fc.assert(
    fc.property(samples, fc.boolean(), (sample, fromTop) => {
      const at = depthFirst(sample.net, fromTop);
      const before = slowCount(sample, at);
      const saved = rerouteLongEdges(sample.net, at, Infinity);
      checkArrangement(sample, at);
      assert.equal(before - slowCount(sample, at), saved);
      assert.ok(saved >= 0);
    }),
    { numRuns: 500 }
  );
});

test('it is known which lanes are crossed, also after something has moved', () => {
  fc.assert(
    fc.property(samples, fc.nat(1000), (sample, pick) => {
      const { net, real } = sample;
      const at = depthFirst(net, true);
      const reach = new Reach(net, at);
      const check = (): void => {
        for (let lane = real; lane < net.count; lane++) {
          const own = sample.links.find(([upper]) => upper === lane) as Link;
          const crossing = sample.links.filter(
            link => net.row[link[0]] === net.row[lane] && slowCount({ net, links: [own, link] }, at) > 0
          );
          assert.equal(reach.isCrossed(lane), crossing.length > 0);
        }
      };
      check();
      const row = pick % net.rowCount;
      at.order.subarray(net.rowStart[row], net.rowStart[row + 1]).reverse();
      setPlaces(net, at);
      reach.forget(row);
      check();
    }),
    { numRuns: 300 }
  );
});

test('a long edge is put where it crosses the least', () => {
  fc.assert(
    fc.property(samples, fc.boolean(), (sample, fromTop) => {
      const { net } = sample;
      const edge = net.firstLane.findIndex((lane, one) => lane >= 0 && net.laneCount[one] > 0);
      const at = depthFirst(net, fromTop);
      const before = slowCount(sample, at);
      // All ways of its lanes, one row after the other.
      const fewest = (lane: number, last: number): number => {
        if (lane > last) {
          return slowCount(sample, at);
        }
        const row = at.order.subarray(net.rowStart[net.row[lane]], net.rowStart[net.row[lane] + 1]);
        const others = row.filter(one => one !== lane);
        const old = row.slice();
        const own = old.indexOf(lane);
        let best = Infinity;
        // No lane moves further than over 12 places.
        for (let gap = Math.max(0, own - 12); gap < Math.min(row.length, own + 13); gap++) {
          row.set([...others.subarray(0, gap), lane, ...others.subarray(gap)]);
          setPlaces(net, at);
          best = Math.min(best, fewest(lane + 1, last));
        }
        row.set(old);
        setPlaces(net, at);
        return best;
      };
      const first = net.firstLane[edge];
      if (edge >= 0 && net.laneCount[edge] <= 2) {
        const best = fewest(first, first + net.laneCount[edge] - 1);
        // With so little work, the first edge is all that is rerouted.
        assert.equal(rerouteLongEdges(net, at, 1), before - best);
        assert.equal(slowCount(sample, at), best);
      }
    }),
    { numRuns: 200 }
  );
});

test('a long edge on the wrong side of four others moves over them all', () => {
  // 0 to 4 above, 5 to 9 below and joined straight, three rows between; the first edge runs on the far right.
  const rank = Int32Array.of(0, 0, 0, 0, 0, 4, 4, 4, 4, 4);
  const proper = makeProper(rank, Int32Array.of(0, 1, 2, 3, 4), Int32Array.of(5, 6, 7, 8, 9));
  const zero = new Float64Array(proper.upper.length);
  const net = makeNet(proper, zero, zero);
  const at = depthFirst(net, true);
  for (const row of [1, 2, 3]) {
    const order = at.order.subarray(net.rowStart[row], net.rowStart[row + 1]);
    order.set([...order.subarray(1), order[0]]);
  }
  setPlaces(net, at);
  assert.equal(countCrossings(net, at), 8);
  assert.equal(rerouteLongEdges(net, at, Infinity), 8);
  assert.equal(countCrossings(net, at), 0);
});

test('what a long edge saves is counted once for each port that it passes', () => {
  // One box below the other, joined from two ports, and an edge from above them both to below them.
  const proper = makeProper(Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 1), Int32Array.of(3, 2, 2));
  const upperOffset = new Float64Array(proper.upper.length);
  upperOffset.set([-1, 1], proper.laneCount[0] + 1);
  const net = makeNet(proper, upperOffset, new Float64Array(proper.upper.length));
  const at = depthFirst(net, true);
  const [first, second] = [net.firstLane[0], net.firstLane[0] + 1];
  // In the one row left of the box, in the next right of it.
  at.order.set([first, 1], net.rowStart[1]);
  at.order.set([2, second], net.rowStart[2]);
  setPlaces(net, at);
  assert.equal(countCrossings(net, at), 2);
  assert.equal(rerouteLongEdges(net, at, Infinity), 2);
  assert.equal(countCrossings(net, at), 0);
});

test('the order has no more crossings than its start, and keeps what is fixed', () => {
  fc.assert(
    fc.property(samples, sample => {
      const { net, real } = sample;
      const fixed = Int32Array.from({ length: net.count }, (_, vertex) => (vertex < real && vertex % 2 ? vertex : -1));
      const start = depthFirst(net, true);
      const swept = sweepToMeans(net, start, fixed, 6);
      assert.equal(swept, slowCount(sample, start));
      const { order, place, crossings } = orderRows(net, fixed, 0, 20_000);
      checkArrangement(sample, { order, place });
      assert.equal(crossings, slowCount(sample, { order, place }));
      assert.ok(crossings <= swept);
      for (const row of rowsOf(net, order)) {
        const kept = [...row].filter(vertex => fixed[vertex] >= 0);
        assert.deepEqual(
          kept,
          [...kept].sort((a, b) => fixed[a] - fixed[b])
        );
      }
    }),
    { numRuns: 150 }
  );
});

test('an order that was found for a graph that looks the same is not looked for again, and is nobody else’s', () => {
  // Three rows of twelve, each vertex with three links down: crossings cannot be avoided.
  const ends = Array.from({ length: 72 }, (_, edge) => Math.floor(edge / 3));
  const proper = makeProper(
    Int32Array.from({ length: 36 }, (_, vertex) => Math.floor(vertex / 12)),
    Int32Array.from(ends),
    Int32Array.from(ends, (vertex, edge) => 12 * Math.floor(vertex / 12 + 1) + ((5 * vertex + 7 * edge) % 12))
  );
  const timed = (): { milliseconds: number; order: Int32Array; crossings: number } => {
    const net = makeNet(proper, new Float64Array(72), new Float64Array(72));
    const begin = performance.now();
    const { order, crossings } = orderRows(net, new Int32Array(36).fill(-1), 0, 5_000_000);
    return { milliseconds: performance.now() - begin, order, crossings };
  };
  const first = timed();
  assert.ok(first.crossings > 0);
  const kept = first.order.slice();
  // What gets it may change it.
  first.order.reverse();
  const again = timed();
  assert.deepEqual(again.order, kept);
  assert.equal(again.crossings, first.crossings);
  assert.ok(again.milliseconds < first.milliseconds / 4, `${again.milliseconds} ms after ${first.milliseconds}`);
});
