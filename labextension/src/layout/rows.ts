/**
 * Where the rows of a part begin. A gap grows with how far its edges run sideways. In a picture that follows another it
 * stays as it was, so that a region that opens sends away what is below it by no more than its own height.
 */
import type { Extents } from './coordinates.ts';
import { GATE_GAP, ROW_GAP, ROW_GAP_MOST, ROW_GAP_SIDEWAYS } from './distances.ts';
import type { Proper } from './proper.ts';

/** A gap that is kept is at least this part of what its edges want now: they would lie flat otherwise. */
const LEAST_KEPT = 0.2;

/** Space above and below the row that each vertex stood in, in px; NaN where there was none. */
export interface Gaps {
  readonly above: Float64Array;
  readonly below: Float64Array;
}

/** x of an edge where it leaves a row and where it meets the next. */
type Way = readonly [above: number, below: number];

/** Below each row but the last. */
export function rowGaps(
  { upper, lower, rank }: Proper,
  x: Float64Array,
  { upperOffset, lowerOffset }: Extents,
  heights: readonly number[]
): Float64Array {
  // Rows of gates have no height.
  const isBorder = (row: number): boolean => heights[row] === 0 || heights[row + 1] === 0;
  const sideways = new Float64Array(heights.length);
  const ways: Way[][] = heights.map(() => []);
  upper.forEach((vertex, link) => {
    const [row, above, below] = [rank[vertex], x[vertex] + upperOffset[link], x[lower[link]] + lowerOffset[link]];
    sideways[row] = Math.max(sideways[row], Math.abs(above - below));
    if (isBorder(row)) {
      ways[row].push([above, below]);
    }
  });
  return Float64Array.from({ length: Math.max(0, heights.length - 1) }, (_, row) => {
    // Next to a border, edges that cross would lie on each other.
    const least = isBorder(row) && !anyCross(ways[row]) ? GATE_GAP : ROW_GAP;
    return Math.min(ROW_GAP_MOST, least + ROW_GAP_SIDEWAYS * sideways[row]);
  });
}

/** True where two edges come out in another order than they went in. */
function anyCross(ways: readonly Way[]): boolean {
  let furthest = -Infinity;
  return [...ways]
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .some(([, below]) => {
      const crosses = below < furthest;
      furthest = Math.max(furthest, below);
      return crosses;
    });
}

/** `gaps` as they were next to the vertices of each row, where that is known. */
export function keepGaps(gaps: Float64Array, rank: Int32Array, { above, below }: Gaps): Float64Array {
  const before = new Float64Array(gaps.length).fill(NaN);
  const see = (row: number, gap: number): void => {
    if (row >= 0 && row < gaps.length && !Number.isNaN(gap)) {
      before[row] = Math.max(before[row] || 0, gap);
    }
  };
  rank.forEach((row, vertex) => {
    see(row - 1, above[vertex]);
    see(row, below[vertex]);
  });
  return gaps.map((gap, row) => (Number.isNaN(before[row]) ? gap : Math.max(before[row], LEAST_KEPT * gap)));
}

/** Upper edges of the rows, from the first. */
export function rowTops(heights: readonly number[], gaps: Float64Array): Float64Array {
  const tops = new Float64Array(heights.length);
  for (let row = 1; row < heights.length; row++) {
    tops[row] = Math.round(tops[row - 1] + heights[row - 1] + gaps[row - 1]);
  }
  return tops;
}
