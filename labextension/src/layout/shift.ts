/**
 * The shortest places within rows: network simplex over the x of all vertices, so that the weighted sum of all
 * sideways distances is least, with the order and the distances in each row kept.
 *
 * Each link is a point of its own, at the left of both of its ends: it costs what lies between.
 */
import type { Extents } from './coordinates.ts';
import type { Proper } from './proper.ts';
import { shorten } from './simplex.ts';

/** More vertices than this are left as they are: the work grows with the square of their number. */
const MOST_VERTICES = 1500;
const MOST_PIVOTS = 3000;
/** Simplex works with whole numbers: parts of a px. */
const PARTS = 8;

/** What a px of the whole width costs, where it counts, against one that an edge runs sideways. */
const WIDTH_WEIGHT = 4;
/** What a px costs from an argument to what reads it. */
const READS_WEIGHT = 1;

/**
 * Moves `x`, which must keep the distances already. Where `narrow`, rows keep within the width of the widest as far as
 * that is worth it. Gives the number of pivots.
 */
export function shortenSideways(
  { count, upper, lower, reads, real }: Proper,
  rows: readonly Int32Array[],
  { left, right, upperOffset, lowerOffset }: Extents,
  gap: (left: number, right: number) => number,
  x: Float64Array,
  narrow = false
): number {
  const links = upper.length;
  if (count > MOST_VERTICES) {
    return 0;
  }
  const walls = narrow ? 2 * rows.length + 1 : 0;
  const edges = 2 * links + count - rows.length + walls;
  const from = new Int32Array(edges);
  const to = new Int32Array(edges);
  const weight = new Int32Array(edges);
  const least = new Int32Array(edges);
  const points = count + links + (narrow ? 2 : 0);
  const at = new Int32Array(points);
  let edge = 0;
  for (const row of rows) {
    row.forEach((vertex, i) => {
      at[vertex] = Math.round(PARTS * x[vertex]);
      if (i > 0) {
        const before = row[i - 1];
        from[edge] = before;
        to[edge] = vertex;
        least[edge] = Math.ceil(PARTS * (right[before] + gap(before, vertex) + left[vertex]));
        at[vertex] = Math.max(at[vertex], at[before] + least[edge]);
        edge++;
      }
    });
  }
  for (let link = 0; link < links; link++) {
    const [a, b] = [upper[link], lower[link]];
    const offset = Math.round(PARTS * (upperOffset[link] - lowerOffset[link]));
    // The point stands left of where the link leaves its upper end and of where it meets its lower one.
    at[count + link] = Math.min(at[a] + offset, at[b]);
    weight[edge] = weight[edge + 1] = reads[link] ? READS_WEIGHT : linkWeight(a >= real, b >= real);
    from[edge] = from[edge + 1] = count + link;
    to[edge] = a;
    least[edge++] = -offset;
    to[edge++] = b;
  }
  if (narrow) {
    const [first, last] = [count + links, count + links + 1];
    at[first] = at[last] = at[rows[0][0]];
    for (const row of rows) {
      const [begin, end] = [row[0], row[row.length - 1]];
      from[edge] = first;
      to[edge] = begin;
      least[edge] = Math.ceil(PARTS * left[begin]);
      at[first] = Math.min(at[first], at[begin] - least[edge++]);
      from[edge] = end;
      to[edge] = last;
      least[edge] = Math.ceil(PARTS * right[end]);
      at[last] = Math.max(at[last], at[end] + least[edge++]);
    }
    from[edge] = first;
    to[edge] = last;
    weight[edge++] = WIDTH_WEIGHT;
  }
  const pivots = shorten({ count: points, from, to, weight, least }, at, MOST_PIVOTS);
  for (let vertex = 0; vertex < count; vertex++) {
    x[vertex] = at[vertex] / PARTS;
  }
  return pivots;
}

/** Long edges are pulled straight, as they are the easier to follow for it. */
function linkWeight(upperLane: boolean, lowerLane: boolean): number {
  return upperLane && lowerLane ? 6 : upperLane || lowerLane ? 4 : 2;
}
