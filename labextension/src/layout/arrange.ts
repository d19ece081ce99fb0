/**
 * Orders and places a part. Orders with equally few crossings may have edges of very different length, and a single
 * start may end badly, so small graphs are ordered and placed several times and the best picture is kept. Half of the times
 * they have other ranks, with edges as short: which of equally good ranks lead to fewer crossings, nobody knows before.
 */
import { placeVertices, type Extents } from './coordinates.ts';
import { ROW_GAP_MOST } from './distances.ts';
import { setPlaces, type Net } from './net.ts';
import { orderRows, rowsOf, type Order } from './order.ts';
import type { Proper } from './proper.ts';
import { shortenSideways } from './shift.ts';
import { orderAsBefore, stood } from './warm.ts';
import { straighten } from './straighten.ts';

/** Vertices that annealing looks at in a whole picture; a graph of 2,000 boxes uses all of it. */
const ANNEAL_WORK = 1_200_000;
/** Graphs of fewer vertices than this, lanes included, begin several times, as far as each start has enough passes. */
const SMALL = 600;
const MOST_STARTS = 16;
const PASSES_OF_START = 300;
const PASSES_OF_VERTEX = 3;
/** The smallest graphs need fewer starts: one for so many vertices. */
const VERTICES_OF_START = 10;
/** Keeps a picture without crossings from being the best whatever its edges' length. */
const FEW_CROSSINGS = 1;
/** What it is worth that gates keep the order that they have outside. */
const KEPT = 0.9;

/** A part with ranks, ready to be ordered. */
export interface Ranked {
  readonly proper: Proper;
  readonly net: Net;
  readonly extents: Extents;
  /** The same with link ends as they pull. */
  readonly pulls: Extents;
}

export interface Arranged extends Ranked {
  readonly rows: readonly Int32Array[];
  readonly x: Float64Array;
}

/**
 * `fixed` holds orders that may be kept, the freest first; `effort` is a share of the whole work; a `narrow` picture is
 * no wider than its widest row, as far as that is worth it. `others` gives ranks that are as good as the first.
 */
export function arrange(
  first: Ranked,
  gap: (left: number, right: number) => number,
  fixed: readonly Int32Array[],
  effort: number,
  narrow = false,
  others?: () => Ranked
): Arranged {
  const { count } = first.net;
  const share = (ANNEAL_WORK * effort) / fixed.length;
  const affordable = Math.floor(share / (PASSES_OF_START * Math.max(1, count)));
  const wanted = Math.min(MOST_STARTS, Math.ceil(count / VERTICES_OF_START));
  const starts = count < SMALL ? Math.max(1, Math.min(wanted, affordable)) : 1;
  const choices = starts > 1 && others ? [first, others()] : [first];
  // Small graphs need no more passes than these.
  const passes = Math.min(PASSES_OF_START, PASSES_OF_VERTEX * count);
  const each = count < SMALL ? Math.min(share / starts, passes * count) : share;
  let best: { order: Order; x: Float64Array; of: Ranked } | null = null;
  let least = Infinity;
  for (let start = 0; start < starts; start++) {
    // Every second start goes from the bottom: of four in turn, each ranks have one of both kinds.
    const of = choices[(start ^ (start >> 1)) % choices.length];
    fixed.forEach((kept, i) => {
      const order = orderRows(of.net, kept, start, each);
      const x = placeVertices(of.proper, of.net, order, order.held, of.pulls, gap);
      const cost = (order.crossings + FEW_CROSSINGS) ** 2 * length(of.proper, of.pulls, x) * (i > 0 ? KEPT : 1);
      if (cost < least) {
        least = cost;
        best = { order, x, of };
      }
    });
  }
  const { order, x, of } = best as unknown as { order: Order; x: Float64Array; of: Ranked };
  const rows = rowsOf(of.net, order.order);
  shortenSideways(of.proper, rows, of.pulls, gap, x, narrow);
  const walls = narrow ? sides(rows, of.pulls, x) : undefined;
  straighten(of.proper, rows, order.place, of.pulls, gap, x, walls);
  return { ...of, rows, x };
}

/**
 * In the order of the picture that this one follows. `places` has the centres that boxes may have, the first as they
 * stood left to right; of these the ones are taken with which `passing` is least.
 */
export function arrangeAsBefore(
  { proper, net, extents, pulls }: Ranked,
  gap: (left: number, right: number) => number,
  fixed: Int32Array,
  places: readonly Float64Array[],
  passing: (x: Float64Array) => number
): Arranged {
  const { order, held } = orderAsBefore(net, proper, fixed, places[0]);
  const arranged = places.map(before => {
    const own = { order: order.slice(), place: new Int32Array(net.count) };
    setPlaces(net, own);
    const x = placeVertices(proper, net, own, held, pulls, gap, before);
    const rows = rowsOf(net, own.order);
    straighten(proper, rows, own.place, pulls, gap, x, undefined, vertex => stood(before, vertex));
    return { proper, net, extents, pulls, rows, x };
  });
  const passed = arranged.map(({ x }) => (places.length > 1 ? passing(x) : 0));
  return arranged[passed.indexOf(Math.min(...passed))];
}

/** Where the leftmost vertex begins and the rightmost ends. */
function sides(rows: readonly Int32Array[], { left, right }: Extents, x: Float64Array): [number, number] {
  return [
    Math.min(...rows.map(row => x[row[0]] - left[row[0]])),
    Math.max(...rows.map(row => x[row[row.length - 1]] + right[row[row.length - 1]]))
  ];
}

/** About the length of all edges. */
function length({ upper, lower }: Proper, { upperOffset, lowerOffset }: Extents, x: Float64Array): number {
  let sum = 1;
  for (let link = 0; link < upper.length; link++) {
    sum += ROW_GAP_MOST + Math.abs(x[upper[link]] + upperOffset[link] - x[lower[link]] - lowerOffset[link]);
  }
  return sum;
}
