/**
 * The proper graph as the ordering walks it: for each vertex where its links end in the row above and in the row
 * below, and at which port. Ports stand left to right in a box, so links to one box may cross as well.
 */
import type { Proper } from './proper.ts';
import type { Rows } from './rank.ts';

/** Links of all vertices to one side. Those of vertex `v` are `first[v]` to `first[v + 1]`, by the ports of `v`. */
export interface Side {
  readonly first: Int32Array;
  /** The vertex at the far end. */
  readonly end: Int32Array;
  /** Ordinal of the port at this vertex, and at the far end. */
  readonly port: Int32Array;
  readonly endPort: Int32Array;
  /** The same port at the far end as a part of 1, to be added to the place of the far end. */
  readonly endShift: Float64Array;
  /** Number of ports of a vertex on this side. */
  readonly ports: Int32Array;
  /** The far end where a vertex has one link; `NONE` or `MANY` otherwise. */
  readonly only: Int32Array;
  /** `endShift` of that one link. */
  readonly onlyShift: Float64Array;
}

export const NONE = -1;
export const MANY = -2;

export interface Net {
  readonly count: number;
  readonly rowCount: number;
  /** Row `r` is `order[rowStart[r]]` to `order[rowStart[r + 1]]` of an arrangement. */
  readonly rowStart: Int32Array;
  readonly row: Int32Array;
  readonly above: Side;
  readonly below: Side;
  /** For each edge its first lane and their number, as in `Proper`. */
  readonly firstLane: Int32Array;
  readonly laneCount: Int32Array;
}

/** An order of all vertices, row by row, and the place of each within its row. */
export interface Arrangement {
  readonly order: Int32Array;
  readonly place: Int32Array;
}

export function makeNet(proper: Proper, upperOffset: Float64Array, lowerOffset: Float64Array): Net {
  const { count, rank, rankCount, above, below, upper, lower } = proper;
  const rowStart = new Int32Array(rankCount + 1);
  for (const row of rank) {
    rowStart[row + 1]++;
  }
  for (let row = 0; row < rankCount; row++) {
    rowStart[row + 1] += rowStart[row];
  }
  const down = portsOf(count, below, upperOffset);
  const up = portsOf(count, above, lowerOffset);
  return {
    count,
    rowCount: rankCount,
    rowStart,
    row: rank,
    above: makeSide(count, up, down, upper),
    below: makeSide(count, down, up, lower),
    firstLane: proper.firstLane,
    laneCount: proper.laneCount
  };
}

/** Ports on one side of all vertices: what stands at the same offset is one port. */
interface Ports {
  readonly rows: Rows;
  readonly edge: Int32Array;
  readonly ofLink: Int32Array;
  readonly count: Int32Array;
}

function portsOf(count: number, rows: Rows, offset: Float64Array): Ports {
  const edge = rows.edge.slice();
  const ofLink = new Int32Array(edge.length);
  const counts = new Int32Array(count).fill(1);
  for (let vertex = 0; vertex < count; vertex++) {
    const [begin, end] = [rows.first[vertex], rows.first[vertex + 1]];
    if (end - begin < 2) {
      continue;
    }
    const own = edge.subarray(begin, end);
    own.sort((a, b) => offset[a] - offset[b] || a - b);
    for (let i = 1; i < own.length; i++) {
      ofLink[own[i]] = ofLink[own[i - 1]] + (offset[own[i]] > offset[own[i - 1]] ? 1 : 0);
    }
    counts[vertex] = ofLink[own[own.length - 1]] + 1;
  }
  return { rows, edge, ofLink, count: counts };
}

function makeSide(count: number, own: Ports, far: Ports, ends: Int32Array): Side {
  const { first } = own.rows;
  const links = own.edge.length;
  const end = new Int32Array(links);
  const port = new Int32Array(links);
  const endPort = new Int32Array(links);
  const endShift = new Float64Array(links);
  for (let i = 0; i < links; i++) {
    const link = own.edge[i];
    end[i] = ends[link];
    port[i] = own.ofLink[link];
    endPort[i] = far.ofLink[link];
    endShift[i] = endPort[i] / far.count[end[i]];
  }
  const only = new Int32Array(count);
  const onlyShift = new Float64Array(count);
  for (let vertex = 0; vertex < count; vertex++) {
    const begin = first[vertex];
    const many = first[vertex + 1] - begin;
    only[vertex] = many === 1 ? end[begin] : many === 0 ? NONE : MANY;
    onlyShift[vertex] = many === 1 ? endShift[begin] : 0;
  }
  return { first, end, port, endPort, endShift, ports: own.count, only, onlyShift };
}

export function setPlaces({ rowStart, rowCount }: Net, { order, place }: Arrangement): void {
  for (let row = 0; row < rowCount; row++) {
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++) {
      place[order[i]] = i - rowStart[row];
    }
  }
}
