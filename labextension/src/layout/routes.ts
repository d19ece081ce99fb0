/** The ways of edges through the rows. */
import type { Proper } from './proper.ts';

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
