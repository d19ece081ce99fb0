/**
 * The order within rows: few crossings. Depth first from the top for a start, barycentre sweeps down and up with the
 * best kept, then swaps of neighbours until none helps. Swaps that change nothing are taken too: they lead out of
 * many dead ends.
 */
import type { Proper } from './proper.ts';

export interface Order {
  /** Vertices row by row. */
  readonly rows: readonly Int32Array[];
  /** Place of a vertex in its row. */
  readonly place: Int32Array;
  readonly crossings: number;
}

/** Work is counted in links, so that the same graph gets the same layout on every machine. */
const SWEEP_WORK = 4_000_000;
const MOST_SWEEPS = 24;
const SWAP_WORK = 6_000_000;
const MOST_SWAP_PASSES = 60;

/** `fixed` gives vertices whose order among themselves is kept, such as arguments; -1 for all others. */
export function orderRows(proper: Proper, fixed: Int32Array): Order {
  const rows = startRows(proper);
  const place = new Int32Array(proper.count);
  keepFixed(rows, fixed);
  setPlaces(rows, place);
  let best = rows.map(row => row.slice());
  let fewest = crossings(proper, rows, place);
  const links = proper.upper.length + proper.count;
  const sweeps = Math.min(MOST_SWEEPS, Math.max(4, Math.floor(SWEEP_WORK / Math.max(1, links))));
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    sweepRows(proper, rows, place, sweep % 2 === 0, sweep % 4 >= 2);
    keepFixed(rows, fixed);
    setPlaces(rows, place);
    const now = crossings(proper, rows, place);
    if (now < fewest) {
      fewest = now;
      best = rows.map(row => row.slice());
    }
  }
  setPlaces(best, place);
  if (fewest > 0) {
    swapNeighbours(proper, best, place, fixed, Math.min(MOST_SWAP_PASSES, Math.floor(SWAP_WORK / Math.max(1, links))));
  }
  return { rows: best, place, crossings: crossings(proper, best, place) };
}

/** Number of crossings between all neighbouring rows. */
export function crossings(proper: Proper, rows: readonly Int32Array[], place: Int32Array): number {
  let total = 0;
  for (let r = 0; r + 1 < rows.length; r++) {
    total += crossingsBelow(proper, rows[r], rows[r + 1].length, place);
  }
  return total;
}

/** Crossings of the links under one row, counted with a Fenwick tree over the places of the row below. */
function crossingsBelow(proper: Proper, row: Int32Array, width: number, place: Int32Array): number {
  const { below, lower } = proper;
  const tree = new Int32Array(width + 1);
  let links = 0;
  let total = 0;
  for (const vertex of row) {
    const first = below.first[vertex];
    const end = below.first[vertex + 1];
    // Count all links of the vertex before any is added: links from one vertex do not cross.
    for (let i = first; i < end; i++) {
      let atOrLeft = 0;
      for (let at = place[lower[below.edge[i]]] + 1; at > 0; at -= at & -at) {
        atOrLeft += tree[at];
      }
      total += links - atOrLeft;
    }
    for (let i = first; i < end; i++) {
      for (let at = place[lower[below.edge[i]]] + 1; at <= width; at += at & -at) {
        tree[at]++;
      }
    }
    links += end - first;
  }
  return total;
}

/** Rows filled depth first from the top, so that what belongs together stands together. */
function startRows(proper: Proper): Int32Array[] {
  const { count, rank, rankCount, below, above, upper, lower } = proper;
  const rows: number[][] = Array.from({ length: rankCount }, () => []);
  const seen = new Uint8Array(count);
  const stack: number[] = [];
  for (let root = 0; root < count; root++) {
    if (above.first[root] !== above.first[root + 1]) {
      continue;
    }
    stack.push(root);
    while (stack.length) {
      const vertex = stack.pop() as number;
      if (seen[vertex]) {
        continue;
      }
      seen[vertex] = 1;
      rows[rank[vertex]].push(vertex);
      // Pushed last is visited first: readers in order, before the other things that they read.
      for (let i = above.first[vertex]; i < above.first[vertex + 1]; i++) {
        stack.push(upper[above.edge[i]]);
      }
      for (let i = below.first[vertex + 1] - 1; i >= below.first[vertex]; i--) {
        stack.push(lower[below.edge[i]]);
      }
    }
  }
  return rows.map(row => Int32Array.from(row));
}

function sweepRows(proper: Proper, rows: Int32Array[], place: Int32Array, down: boolean, tiesReversed: boolean): void {
  const { above, below, upper, lower, count } = proper;
  const wish = new Float64Array(count);
  for (let step = 1; step < rows.length; step++) {
    const r = down ? step : rows.length - 1 - step;
    const row = rows[r];
    const [links, ends] = down ? [above, upper] : [below, lower];
    for (const vertex of row) {
      const first = links.first[vertex];
      const end = links.first[vertex + 1];
      let sum = 0;
      for (let i = first; i < end; i++) {
        sum += place[ends[links.edge[i]]];
      }
      wish[vertex] = end > first ? sum / (end - first) : place[vertex];
    }
    const sign = tiesReversed ? -1 : 1;
    row.sort((a, b) => wish[a] - wish[b] || sign * (place[a] - place[b]));
    row.forEach((vertex, at) => {
      place[vertex] = at;
    });
  }
}

/** Puts fixed vertices of each row into their order, each into a place that one of them has. */
function keepFixed(rows: Int32Array[], fixed: Int32Array): void {
  for (const row of rows) {
    const places: number[] = [];
    row.forEach((vertex, at) => {
      if (vertex < fixed.length && fixed[vertex] >= 0) {
        places.push(at);
      }
    });
    if (places.length > 1) {
      const sorted = places.map(at => row[at]).sort((a, b) => fixed[a] - fixed[b]);
      places.forEach((at, i) => {
        row[at] = sorted[i];
      });
    }
  }
}

function setPlaces(rows: readonly Int32Array[], place: Int32Array): void {
  for (const row of rows) {
    row.forEach((vertex, at) => {
      place[vertex] = at;
    });
  }
}

function swapNeighbours(
  proper: Proper,
  rows: Int32Array[],
  place: Int32Array,
  fixed: Int32Array,
  passes: number
): void {
  const isFixed = (vertex: number): boolean => vertex < fixed.length && fixed[vertex] >= 0;
  let idle = 0;
  for (let pass = 0; pass < passes && idle < 4; pass++) {
    let gained = 0;
    for (const row of rows) {
      for (let at = 0; at + 1 < row.length; at++) {
        const [a, b] = [row[at], row[at + 1]];
        if (isFixed(a) && isFixed(b)) {
          continue;
        }
        const change = swapGain(proper, a, b, place);
        // Equal swaps only in every second pass, or two vertices would change places for ever.
        if (change < 0 || (change === 0 && pass % 2 === 0)) {
          row[at] = b;
          row[at + 1] = a;
          place[a] = at + 1;
          place[b] = at;
          gained -= change;
        }
      }
    }
    idle = gained > 0 ? 0 : idle + 1;
  }
}

/** Change of the number of crossings if neighbours `a` and `b` swap. */
function swapGain(proper: Proper, a: number, b: number, place: Int32Array): number {
  const { above, below, upper, lower } = proper;
  return pairGain(above.first, above.edge, upper, a, b, place) + pairGain(below.first, below.edge, lower, a, b, place);
}

function pairGain(
  first: Int32Array,
  edge: Int32Array,
  ends: Int32Array,
  a: number,
  b: number,
  place: Int32Array
): number {
  let gain = 0;
  for (let i = first[a]; i < first[a + 1]; i++) {
    const left = place[ends[edge[i]]];
    for (let k = first[b]; k < first[b + 1]; k++) {
      const right = place[ends[edge[k]]];
      gain += left < right ? 1 : left > right ? -1 : 0;
    }
  }
  return gain;
}
