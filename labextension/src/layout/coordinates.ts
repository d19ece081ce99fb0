/**
 * Places within rows: every vertex as near as can be to what it is joined to, in the given order and with the given
 * distances. A row's places are an isotonic regression of its wishes; rows are placed in turn, down and up.
 */
import type { Proper } from './proper.ts';

/** Half widths to both sides of a vertex's centre, and the x of link ends relative to it. */
export interface Extents {
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** For each link: where it leaves its upper vertex and meets its lower one, from their centres. */
  readonly upperOffset: Float64Array;
  readonly lowerOffset: Float64Array;
}

const PASSES = 24;
const GROW = 4;

/** Centres of all vertices. `gap` is the distance kept between two neighbours. */
export function placeVertices(
  proper: Proper,
  rows: readonly Int32Array[],
  extents: Extents,
  gap: (left: number, right: number) => number
): Float64Array {
  const { left, right } = extents;
  const x = new Float64Array(proper.count);
  const offset = new Float64Array(proper.count);
  for (const row of rows) {
    let at = 0;
    row.forEach((vertex, i) => {
      if (i > 0) {
        at += right[row[i - 1]] + gap(row[i - 1], vertex) + left[vertex];
      }
      offset[vertex] = at;
    });
    // Centred rows are a good start: a pass moves a row to its neighbours, not the neighbours to it.
    const middle = row.length ? at / 2 : 0;
    for (const vertex of row) {
      x[vertex] = offset[vertex] - middle;
    }
  }
  const wish = new Float64Array(proper.count);
  const weight = new Float64Array(proper.count);
  for (let pass = 0; pass < PASSES; pass++) {
    const down = pass % 2 === 0;
    const both = pass >= GROW;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[down ? i : rows.length - 1 - i];
      for (const vertex of row) {
        wishOf(proper, extents, x, vertex, wish, weight, both || down, both || !down);
      }
      regress(row, wish, weight, offset, x);
    }
  }
  return x;
}

/** Weighted mean of where the links of a vertex want it; nothing joined keeps it where it is, with little weight. */
function wishOf(
  proper: Proper,
  { upperOffset, lowerOffset }: Extents,
  x: Float64Array,
  vertex: number,
  wish: Float64Array,
  weight: Float64Array,
  useAbove: boolean,
  useBelow: boolean
): void {
  const { above, below, upper, lower, real } = proper;
  let sum = 0;
  let total = 0;
  if (useAbove) {
    for (let i = above.first[vertex]; i < above.first[vertex + 1]; i++) {
      const link = above.edge[i];
      const w = linkWeight(vertex, upper[link], real);
      sum += w * (x[upper[link]] + upperOffset[link] - lowerOffset[link]);
      total += w;
    }
  }
  if (useBelow) {
    for (let i = below.first[vertex]; i < below.first[vertex + 1]; i++) {
      const link = below.edge[i];
      const w = linkWeight(vertex, lower[link], real);
      sum += w * (x[lower[link]] + lowerOffset[link] - upperOffset[link]);
      total += w;
    }
  }
  wish[vertex] = total > 0 ? sum / total : x[vertex];
  weight[vertex] = total > 0 ? total : 0.01;
}

/** Long edges should be straight: links between two lanes pull most. */
function linkWeight(a: number, b: number, real: number): number {
  return a >= real && b >= real ? 8 : a >= real || b >= real ? 2 : 1;
}

/** Pool adjacent violators: the places nearest to the wishes that keep order and distances. */
function regress(
  row: Int32Array,
  wish: Float64Array,
  weight: Float64Array,
  offset: Float64Array,
  x: Float64Array
): void {
  const n = row.length;
  const value = new Float64Array(n);
  const total = new Float64Array(n);
  const size = new Int32Array(n);
  let blocks = 0;
  for (let i = 0; i < n; i++) {
    const vertex = row[i];
    let [v, w, s] = [wish[vertex] - offset[vertex], weight[vertex], 1];
    while (blocks > 0 && value[blocks - 1] > v) {
      blocks--;
      v = (v * w + value[blocks] * total[blocks]) / (w + total[blocks]);
      w += total[blocks];
      s += size[blocks];
    }
    value[blocks] = v;
    total[blocks] = w;
    size[blocks++] = s;
  }
  for (let block = 0, i = 0; block < blocks; block++) {
    for (let k = 0; k < size[block]; k++, i++) {
      x[row[i]] = value[block] + offset[row[i]];
    }
  }
}
