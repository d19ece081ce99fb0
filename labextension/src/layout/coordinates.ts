/**
 * Places within rows: every vertex as near as can be to what it is joined to, with the given distances.
 *
 * A row's places are an isotonic regression of its wishes; rows are placed in turn, down and up. Many orders have equally
 * few crossings, so in the first passes neighbours that wish to stand the other way round swap if it costs no crossing.
 */
import { swapChange } from './crossings.ts';
import type { Arrangement, Net } from './net.ts';
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
/** The pull of an argument on what reads it, against that of what is made elsewhere. */
const READS = 0.25;
/** The pull of the place that a box had before, against that of an edge: it moves only where it has to make room. */
const STAY = 1000;
/** In the first passes a row looks only at the row before it. */
const ONE_SIDED = 2;
/** Passes in which neighbours may swap. */
const SWAP_FROM = 2;
const SWAP_TO = 16;
/** Times that a row is gone through for swaps in one pass. */
const SWAP_ROUNDS = 4;

/**
 * Centres of all vertices. `gap` is the distance kept between two neighbours; two `held` ones never swap. `before` has
 * the centres of some boxes in the picture that this one follows, NaN or nothing for all others.
 */
export function placeVertices(
  proper: Proper,
  net: Net,
  at: Arrangement,
  held: Uint8Array,
  extents: Extents,
  gap: (left: number, right: number) => number,
  before?: Float64Array
): Float64Array {
  const { rowStart, rowCount } = net;
  const { order, place } = at;
  const row = new RowPlacer(proper, net, at, extents, gap, before);
  for (let r = 0; r < rowCount; r++) {
    row.centre(rowStart[r], rowStart[r + 1]);
  }
  for (let pass = 0; pass < PASSES; pass++) {
    const down = pass % 2 === 0;
    const both = pass >= ONE_SIDED;
    const swaps = pass >= SWAP_FROM && pass < SWAP_TO;
    for (let i = 0; i < rowCount; i++) {
      const r = down ? i : rowCount - 1 - i;
      const begin = rowStart[r];
      const end = rowStart[r + 1];
      row.wishAll(begin, end, both || down, both || !down);
      if (swaps && swapByWish(net, order, place, held, row.wish, begin, end)) {
        row.spread(begin, end);
      }
      row.regress(begin, end);
    }
  }
  return row.x;
}

/** True if anything was swapped. */
function swapByWish(
  net: Net,
  order: Int32Array,
  place: Int32Array,
  held: Uint8Array,
  wish: Float64Array,
  begin: number,
  end: number
): boolean {
  for (let round = 0; round < SWAP_ROUNDS; round++) {
    let swapped = false;
    for (let i = begin; i + 1 < end; i++) {
      const a = order[i];
      const b = order[i + 1];
      if (wish[a] > wish[b] + 0.001 && !(held[a] && held[b]) && swapChange(net, a, b, place) <= 0) {
        order[i] = b;
        order[i + 1] = a;
        place[a]++;
        place[b]--;
        swapped = true;
      }
    }
    if (!swapped) {
      return round > 0;
    }
  }
  return true;
}

/** What the links of all vertices ask for. Those of `v` are `first[v]` to `first[v + 1]`, from `below[v]` on to the row below. */
interface Wanted {
  readonly first: Int32Array;
  readonly below: Int32Array;
  readonly end: Int32Array;
  /** Where the vertex would stand straight above or below the far end, from there. */
  readonly shift: Float64Array;
  readonly pull: Float64Array;
  /** All that pulls a vertex from above, and from below. */
  readonly fromAbove: Float64Array;
  readonly fromBelow: Float64Array;
}

function wantedBy(
  { above, below, upper, lower, reads, real, count }: Proper,
  { upperOffset, lowerOffset }: Extents
): Wanted {
  const links = upper.length;
  const wanted = {
    first: new Int32Array(count + 1),
    below: new Int32Array(count),
    end: new Int32Array(2 * links),
    shift: new Float64Array(2 * links),
    pull: new Float64Array(2 * links),
    fromAbove: new Float64Array(count),
    fromBelow: new Float64Array(count)
  };
  let at = 0;
  for (let vertex = 0; vertex < count; vertex++) {
    wanted.first[vertex] = at;
    for (let k = above.first[vertex]; k < above.first[vertex + 1]; k++, at++) {
      const link = above.edge[k];
      wanted.end[at] = upper[link];
      wanted.shift[at] = upperOffset[link] - lowerOffset[link];
      wanted.pull[at] = linkWeight(vertex >= real, upper[link] >= real) * (reads[link] ? READS : 1);
      wanted.fromAbove[vertex] += wanted.pull[at];
    }
    wanted.below[vertex] = at;
    for (let k = below.first[vertex]; k < below.first[vertex + 1]; k++, at++) {
      const link = below.edge[k];
      wanted.end[at] = lower[link];
      wanted.shift[at] = lowerOffset[link] - upperOffset[link];
      wanted.pull[at] = linkWeight(vertex >= real, lower[link] >= real) * (reads[link] ? READS : 1);
      wanted.fromBelow[vertex] += wanted.pull[at];
    }
  }
  wanted.first[count] = at;
  return wanted;
}

/** Places one row at a time, with room to work in that is made once. */
class RowPlacer {
  readonly x: Float64Array;
  readonly wish: Float64Array;
  private readonly wanted: Wanted;
  private readonly weight: Float64Array;
  private readonly offset: Float64Array;
  /** Blocks of vertices that stand side by side: where, how heavy, how many. */
  private readonly value: Float64Array;
  private readonly total: Float64Array;
  private readonly size: Int32Array;

  constructor(
    proper: Proper,
    net: Net,
    private readonly at: Arrangement,
    private readonly extents: Extents,
    private readonly gap: (left: number, right: number) => number,
    private readonly before: Float64Array = new Float64Array(0)
  ) {
    const count = proper.count;
    this.wanted = wantedBy(proper, extents);
    this.x = new Float64Array(count);
    this.wish = new Float64Array(count);
    this.weight = new Float64Array(count);
    this.offset = new Float64Array(count);
    let widest = 0;
    for (let r = 0; r < net.rowCount; r++) {
      widest = Math.max(widest, net.rowStart[r + 1] - net.rowStart[r]);
    }
    this.value = new Float64Array(widest);
    this.total = new Float64Array(widest);
    this.size = new Int32Array(widest);
  }

  /** Side by side about 0: a pass moves a row to its neighbours, not the neighbours to it. */
  centre(begin: number, end: number): void {
    const { order } = this.at;
    const middle = this.spread(begin, end) / 2;
    for (let i = begin; i < end; i++) {
      this.x[order[i]] = this.offset[order[i]] - middle;
    }
  }

  /** Weighted means of where the links of each vertex want it; what has none stands beside its neighbour in the row. */
  wishAll(begin: number, end: number, useAbove: boolean, useBelow: boolean): void {
    const { first, below, end: far, shift, pull, fromAbove, fromBelow } = this.wanted;
    const { order } = this.at;
    const { x, wish, weight, before } = this;
    const placed = before.length;
    for (let i = begin; i < end; i++) {
      const vertex = order[i];
      let total = (useAbove ? fromAbove[vertex] : 0) + (useBelow ? fromBelow[vertex] : 0);
      let sum = 0;
      // What stood somewhere is drawn back to there.
      if (vertex < placed && before[vertex] === before[vertex]) {
        total += STAY;
        sum = STAY * before[vertex];
      }
      const last = useBelow ? first[vertex + 1] : below[vertex];
      for (let k = useAbove ? first[vertex] : below[vertex]; k < last; k++) {
        sum += pull[k] * (x[far[k]] + shift[k]);
      }
      wish[vertex] = total > 0 ? sum / total : x[vertex];
      weight[vertex] = total > 0 ? total : 0.01;
    }
    this.followNeighbours(begin, end);
  }

  /** Of what nothing joins, and what stood nowhere: it goes wherever its row goes. */
  private followNeighbours(begin: number, end: number): void {
    const { order } = this.at;
    const { wish, offset } = this;
    const beside = (vertex: number, other: number): number => wish[other] + offset[vertex] - offset[other];
    let first = begin;
    while (first < end && this.isLoose(order[first])) {
      first++;
    }
    for (let i = first; first < end && i-- > begin;) {
      wish[order[i]] = beside(order[i], order[i + 1]);
    }
    for (let i = first + 1; i < end; i++) {
      if (this.isLoose(order[i])) {
        wish[order[i]] = beside(order[i], order[i - 1]);
      }
    }
  }

  private isLoose(vertex: number): boolean {
    const { before, wanted } = this;
    const stood = vertex < before.length && before[vertex] === before[vertex];
    return wanted.first[vertex] === wanted.first[vertex + 1] && !stood;
  }

  /** Pool adjacent violators: the places nearest to the wishes that keep order and distances. */
  regress(begin: number, end: number): void {
    const { x, wish, weight, offset, value, total, size } = this;
    const { order } = this.at;
    let blocks = 0;
    for (let i = begin; i < end; i++) {
      const vertex = order[i];
      let v = wish[vertex] - offset[vertex];
      let w = weight[vertex];
      let s = 1;
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
    for (let block = 0, i = begin; block < blocks; block++) {
      for (let k = 0; k < size[block]; k++, i++) {
        x[order[i]] = value[block] + offset[order[i]];
      }
    }
  }

  /** Least distances from the first vertex of the row; gives that of the last. */
  spread(begin: number, end: number): number {
    const { left, right } = this.extents;
    const { order } = this.at;
    const { offset } = this;
    let at = 0;
    for (let i = begin; i < end; i++) {
      if (i > begin) {
        at += right[order[i - 1]] + this.gap(order[i - 1], order[i]) + left[order[i]];
      }
      offset[order[i]] = at;
    }
    return at;
  }
}

/** Long edges should be straight: links between two lanes pull most. */
function linkWeight(lane: boolean, otherLane: boolean): number {
  return lane && otherLane ? 4 : lane || otherLane ? 2 : 1;
}
