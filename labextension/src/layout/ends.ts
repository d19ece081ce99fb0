/**
 * Where an edge leaves and meets its boxes. Ends keep to their ports where a side has several of them; an end that is
 * alone on its side slides along it towards where its edge goes, so that the edge is shorter and often straight.
 */
import type { Proper } from './proper.ts';

/**
 * x of both ends of all edges. `x` has the centres, `fromOffset` and `toOffset` the ports from there; `slideOf` tells how
 * far from its middle an end may slide along a box.
 */
export function placeEnds(
  { above, below, firstLane, laneCount }: Proper,
  x: Float64Array,
  from: Int32Array,
  to: Int32Array,
  fromOffset: Float64Array,
  toOffset: Float64Array,
  slideOf: (vertex: number) => number
): { start: Float64Array; end: Float64Array } {
  const count = from.length;
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  for (let edge = 0; edge < count; edge++) {
    const [a, b, lanes] = [from[edge], to[edge], laneCount[edge]];
    const freeA = below.first[a + 1] - below.first[a] === 1 ? slideOf(a) : 0;
    const freeB = above.first[b + 1] - above.first[b] === 1 ? slideOf(b) : 0;
    const upper = (wish: number): number => slid(wish, x[a], fromOffset[edge], freeA);
    const lower = (wish: number): number => slid(wish, x[b], toOffset[edge], freeB);
    const [portA, portB] = [x[a] + fromOffset[edge], x[b] + toOffset[edge]];
    if (lanes > 0) {
      start[edge] = upper(x[firstLane[edge]]);
      end[edge] = lower(x[firstLane[edge] + lanes - 1]);
    } else if (freeA < freeB) {
      // The one that may slide less goes first, the other one comes to meet it.
      start[edge] = upper(portB);
      end[edge] = lower(start[edge]);
    } else {
      end[edge] = lower(portA);
      start[edge] = upper(end[edge]);
    }
  }
  return { start, end };
}

/** The place nearest to `wish` that is within `free` of the middle of the box; the port itself where nothing is free. */
function slid(wish: number, middle: number, offset: number, free: number): number {
  const port = middle + offset;
  return free === 0 ? port : Math.min(Math.max(port, middle + free), Math.max(Math.min(port, middle - free), wish));
}
