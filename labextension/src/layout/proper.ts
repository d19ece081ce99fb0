/** The proper graph: long edges get a lane vertex in every row that they pass, so that every link joins neighbours. */
import { rowsBy, type Rows } from './rank.ts';

/**
 * More lanes than these are not made, in all and for each vertex; the longest edges are left out instead. What runs past
 * hundreds of rows cannot be followed by eye, costs most of the time and pushes apart what belongs together.
 */
const MOST_LANES = 150_000;
const LANES_OF_VERTEX = 12;
const LEAST_LANES = 3_000;

export interface Proper {
  /** Vertices of the graph first, lanes after them. */
  readonly count: number;
  readonly real: number;
  readonly rank: Int32Array;
  readonly rankCount: number;
  /** Links between neighbouring rows, from the upper to the lower vertex. */
  readonly upper: Int32Array;
  readonly lower: Int32Array;
  /** Of each link 1 where an edge from an argument meets what reads it: it is no reason to stand near the argument. */
  readonly reads: Uint8Array;
  readonly below: Rows;
  readonly above: Rows;
  /** For each edge its first lane and their number; -1 for an edge that was left out. */
  readonly firstLane: Int32Array;
  readonly laneCount: Int32Array;
}

export function makeProper(
  rank: Int32Array,
  from: Int32Array,
  to: Int32Array,
  isArgument: (vertex: number) => boolean = () => false
): Proper {
  const real = rank.length;
  const edges = from.length;
  const limit = longestSpan(rank, from, to);
  const firstLane = new Int32Array(edges).fill(-1);
  const laneCount = new Int32Array(edges);
  const ranks = Array.from(rank);
  const upper: number[] = [];
  const lower: number[] = [];
  const reads: number[] = [];
  for (let edge = 0; edge < edges; edge++) {
    const span = rank[to[edge]] - rank[from[edge]];
    if (span > limit) {
      continue;
    }
    firstLane[edge] = ranks.length;
    laneCount[edge] = span - 1;
    let previous = from[edge];
    for (let step = 1; step < span; step++) {
      const lane = ranks.push(rank[from[edge]] + step) - 1;
      upper.push(previous);
      lower.push(lane);
      previous = lane;
    }
    if (isArgument(from[edge])) {
      reads.push(upper.length);
    }
    upper.push(previous);
    lower.push(to[edge]);
  }
  const count = ranks.length;
  const uppers = Int32Array.from(upper);
  const lowers = Int32Array.from(lower);
  const isRead = new Uint8Array(upper.length);
  reads.forEach(link => (isRead[link] = 1));
  return {
    count,
    real,
    rank: Int32Array.from(ranks),
    rankCount: rank.reduce((most, one) => Math.max(most, one), -1) + 1,
    upper: uppers,
    lower: lowers,
    reads: isRead,
    below: rowsBy(count, uppers),
    above: rowsBy(count, lowers),
    firstLane,
    laneCount
  };
}

/** The longest span for which all edges up to it fit into the budget of lanes. */
function longestSpan(rank: Int32Array, from: Int32Array, to: Int32Array): number {
  const bySpan = new Map<number, number>();
  let all = 0;
  from.forEach((vertex, edge) => {
    const span = rank[to[edge]] - rank[vertex];
    bySpan.set(span, (bySpan.get(span) ?? 0) + 1);
    all += span - 1;
  });
  const most = Math.min(MOST_LANES, Math.max(LEAST_LANES, LANES_OF_VERTEX * rank.length));
  if (all <= most) {
    return Infinity;
  }
  let lanes = 0;
  for (const [span, edges] of [...bySpan].sort((a, b) => a[0] - b[0])) {
    lanes += (span - 1) * edges;
    if (lanes > most) {
      return Math.max(1, span - 1);
    }
  }
  return Infinity;
}
