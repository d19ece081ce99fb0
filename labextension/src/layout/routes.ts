/** Heights of rows, and the ways of edges through them. */
import type { Extents } from './coordinates.ts';
import { GATE_GAP, ROW_GAP, ROW_GAP_MOST, ROW_GAP_SIDEWAYS } from './distances.ts';
import type { Proper } from './proper.ts';

/** Upper edges of the rows. A gap grows with how far its links run sideways. */
export function rowTops(proper: Proper, x: Float64Array, extents: Extents, heights: readonly number[]): Float64Array {
  const { upper, lower, rank } = proper;
  const sideways = new Float64Array(heights.length);
  upper.forEach((vertex, link) => {
    const way = Math.abs(x[vertex] + extents.upperOffset[link] - x[lower[link]] - extents.lowerOffset[link]);
    sideways[rank[vertex]] = Math.max(sideways[rank[vertex]], way);
  });
  const tops = new Float64Array(heights.length);
  for (let row = 1; row < heights.length; row++) {
    // Rows of gates have no height.
    const least = heights[row - 1] === 0 || heights[row] === 0 ? GATE_GAP : ROW_GAP;
    const gap = Math.min(ROW_GAP_MOST, least + ROW_GAP_SIDEWAYS * sideways[row - 1]);
    tops[row] = Math.round(tops[row - 1] + heights[row - 1] + gap);
  }
  return tops;
}

/** Points of an edge: out of its box to the edge of the row, through each row straight down, into its box. */
export function routeOf(
  proper: Proper,
  edge: number,
  from: number,
  to: number,
  x: Float64Array,
  y: Float64Array,
  heightOf: (vertex: number) => number,
  tops: Float64Array,
  heights: readonly number[],
  start: number,
  end: number
): Float64Array {
  const points: number[] = [];
  const point = (px: number, py: number): void => {
    const n = points.length;
    if (n < 2 || points[n - 2] !== px || points[n - 1] !== py) {
      points.push(px, py);
    }
  };
  const { rank, firstLane, laneCount } = proper;
  point(start, y[from] + heightOf(from));
  point(start, tops[rank[from]] + heights[rank[from]]);
  for (let lane = firstLane[edge]; lane < firstLane[edge] + laneCount[edge]; lane++) {
    const row = rank[lane];
    point(x[lane], tops[row]);
    point(x[lane], tops[row] + heights[row]);
  }
  point(end, tops[rank[to]]);
  point(end, y[to]);
  return Float64Array.from(points);
}

export function reversed(route: Float64Array): Float64Array {
  const result = new Float64Array(route.length);
  for (let i = 0; i < route.length; i += 2) {
    result[i] = route[route.length - 2 - i];
    result[i + 1] = route[route.length - 1 - i];
  }
  return result;
}
