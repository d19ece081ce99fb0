import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { placeVertices } from './coordinates.ts';
import { countCrossings } from './crossings.ts';
import { makeNet } from './net.ts';
import { orderRows, rowsOf } from './order.ts';
import { makeProper } from './proper.ts';
import { shortenSideways } from './shift.ts';
import { straighten } from './straighten.ts';

const GAP = 10;

/** A graph in rows of boxes of several widths, ordered. */
const samples = fc
  .record({
    rank: fc.array(fc.nat(4), { minLength: 1, maxLength: 24 }),
    width: fc.array(fc.integer({ min: 4, max: 60 }), { minLength: 24, maxLength: 24 }),
    ends: fc.array(fc.tuple(fc.nat(23), fc.nat(23)), { maxLength: 40 })
  })
  .map(({ rank, width, ends }) => {
    const used = [...new Set(rank)].sort((a, b) => a - b);
    const ranks = Int32Array.from(rank, one => used.indexOf(one));
    const edges = ends
      .map(([a, b]) => [a % rank.length, b % rank.length])
      .map(([a, b]) => (ranks[a] < ranks[b] ? [a, b] : [b, a]))
      .filter(([a, b]) => ranks[a] < ranks[b]);
    const proper = makeProper(
      ranks,
      Int32Array.from(edges, edge => edge[0]),
      Int32Array.from(edges, edge => edge[1])
    );
    const zero = new Float64Array(proper.upper.length);
    const half = Float64Array.from({ length: proper.count }, (_, i) => (i < rank.length ? width[i] / 2 : 0));
    const net = makeNet(proper, zero, zero);
    const order = orderRows(net, new Int32Array(proper.count).fill(-1), 0, 20_000);
    // What is placed shares its order with its rows.
    const rows = rowsOf(net, order.order);
    return { proper, net, order, rows, extents: { left: half, right: half, upperOffset: zero, lowerOffset: zero } };
  });

const gap = (): number => GAP;

function checkDistances(rows: readonly Int32Array[], half: Float64Array, x: Float64Array): void {
  for (const row of rows) {
    for (let i = 1; i < row.length; i++) {
      assert.ok(x[row[i]] - x[row[i - 1]] >= half[row[i]] + half[row[i - 1]] + GAP - 0.001);
    }
  }
}

test('places keep the distances in every step, and swaps cost no crossing', () => {
  fc.assert(
    fc.property(samples, ({ proper, net, order, rows, extents }) => {
      const before = countCrossings(net, order);
      const x = placeVertices(proper, net, order, order.held, extents, gap);
      checkDistances(rows, extents.left, x);
      assert.ok(countCrossings(net, order) <= before);
      shortenSideways(proper, rows, extents, gap, x);
      checkDistances(rows, extents.left, x);
      straighten(proper, rows, order.place, extents, gap, x);
      checkDistances(rows, extents.left, x);
    }),
    { numRuns: 200 }
  );
});

test('network simplex makes the weighted distances sideways no longer', () => {
  fc.assert(
    fc.property(samples, ({ proper, net, order, rows, extents }) => {
      const x = placeVertices(proper, net, order, order.held, extents, gap);
      const cost = (): number =>
        proper.upper.reduce((sum, a, link) => {
          const b = proper.lower[link];
          const lanes = (a >= proper.real ? 1 : 0) + (b >= proper.real ? 1 : 0);
          return sum + (lanes + 1) * Math.abs(x[a] - x[b]);
        }, 0);
      const before = cost();
      shortenSideways(proper, rows, extents, gap, x);
      // Whole parts of a px may cost a little.
      assert.ok(cost() <= before + 0.5 * proper.upper.length);
    }),
    { numRuns: 200 }
  );
});

test('two that stand crosswise for nothing are put in order', () => {
  // 0 and 1 above, 2 and 3 below, 4 joined to nothing in the row of 2 and 3.
  const proper = makeProper(Int32Array.of(0, 0, 1, 1, 1), Int32Array.of(0, 1), Int32Array.of(2, 3));
  const zero = new Float64Array(2);
  const half = new Float64Array(5).fill(20);
  const net = makeNet(proper, zero, zero);
  const at = { order: Int32Array.of(0, 1, 2, 4, 3), place: Int32Array.of(0, 1, 0, 2, 1) };
  const x = placeVertices(
    proper,
    net,
    at,
    new Uint8Array(5),
    { left: half, right: half, upperOffset: zero, lowerOffset: zero },
    gap
  );
  assert.equal(countCrossings(net, at), 0);
  assert.ok(Math.abs(x[0] - x[2]) < 1 && Math.abs(x[1] - x[3]) < 1);
});
