/**
 * Orders and places a part. Orders with equally few crossings may have edges of very different length, and a single
 * start may end badly, so small graphs are ordered and placed several times and the best picture is kept.
 */
import { placeVertices, type Extents } from './coordinates.ts';
import { ROW_GAP_MOST } from './distances.ts';
import type { Net } from './net.ts';
import { orderRows, type Order } from './order.ts';
import type { Proper } from './proper.ts';
import { shortenSideways } from './shift.ts';
import { orderAsBefore, stood } from './warm.ts';
import { straighten } from './straighten.ts';

/** Vertices that annealing looks at in a whole picture; a graph of 2,000 boxes uses all of it. */
const ANNEAL_WORK = 1_200_000;
/** Graphs of fewer vertices than this, lanes included, begin several times, as far as each start has enough passes. */
const SMALL = 600;
const MOST_STARTS = 10;
const PASSES_OF_START = 320;
const PASSES_OF_VERTEX = 2;
/** The smallest graphs need fewer starts: one for so many vertices. */
const VERTICES_OF_START = 15;
/** Keeps a picture without crossings from being the best whatever its edges' length. */
const FEW_CROSSINGS = 1;
/** What it is worth that gates keep the order that they have outside. */
const KEPT = 0.9;

export interface Arranged {
  readonly rows: readonly Int32Array[];
  readonly x: Float64Array;
}

/**
 * `fixed` holds orders that may be kept, the freest first; `effort` is a share of the whole work; `before` has the centres of boxes in
 * the picture that this one follows, and is given where most of them stood in it. A `narrow` picture is no wider than its
 * widest row, as far as that is worth it.
 */
export function arrange(
  proper: Proper,
  net: Net,
  extents: Extents,
  gap: (left: number, right: number) => number,
  fixed: readonly Int32Array[],
  effort: number,
  before?: Float64Array,
  narrow = false
): Arranged {
  if (before) {
    const order = orderAsBefore(net, proper, fixed[fixed.length - 1], before);
    const x = placeVertices(proper, net, order, order.held, extents, gap, before);
    straighten(proper, order.rows, order.place, extents, gap, x, undefined, vertex => stood(before, vertex));
    return { rows: order.rows, x };
  }
  const work = ANNEAL_WORK * effort;
  const share = work / fixed.length;
  const affordable = Math.floor(share / (PASSES_OF_START * Math.max(1, net.count)));
  const wanted = Math.min(MOST_STARTS, Math.ceil(net.count / VERTICES_OF_START));
  const starts = net.count < SMALL ? Math.max(1, Math.min(wanted, affordable)) : 1;
  // Small graphs need no more passes than these.
  const passes = Math.min(PASSES_OF_START, PASSES_OF_VERTEX * net.count);
  const each = net.count < SMALL ? Math.min(share / starts, passes * net.count) : share;
  let best: { order: Order; x: Float64Array } | null = null;
  let least = Infinity;
  for (let start = 0; start < starts; start++) {
    fixed.forEach((kept, i) => {
      const order = orderRows(net, kept, start, each);
      const x = placeVertices(proper, net, order, order.held, extents, gap);
      const cost = (order.crossings + FEW_CROSSINGS) ** 2 * length(proper, extents, x) * (i > 0 ? KEPT : 1);
      if (cost < least) {
        least = cost;
        best = { order, x };
      }
    });
  }
  const { order, x } = best as unknown as { order: Order; x: Float64Array };
  shortenSideways(proper, order.rows, extents, gap, x, narrow);
  const walls = narrow ? sides(order.rows, extents, x) : undefined;
  straighten(proper, order.rows, order.place, extents, gap, x, walls);
  return { rows: order.rows, x };
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
