/**
 * Arrangements to begin with: depth first, so that what belongs together stands together, then sweeps down and up in
 * which each vertex goes to the mean of the places of its neighbours in the row before.
 */
import { Crossings } from './crossings.ts';
import { setPlaces, type Arrangement, type Net, type Side } from './net.ts';

/** After so many sweeps they are alike again: down and up, with ties as they are and reversed. */
const TURN = 4;

/** Rows filled depth first from the top, or from the bottom. */
export function depthFirst(net: Net, fromTop: boolean): Arrangement {
  const { count, rowStart, row } = net;
  const [ahead, back] = fromTop ? [net.below, net.above] : [net.above, net.below];
  const next = rowStart.slice();
  const order = new Int32Array(count);
  const seen = new Uint8Array(count);
  const stack: number[] = [];
  for (let root = 0; root < count; root++) {
    if (back.first[root] !== back.first[root + 1]) {
      continue;
    }
    stack.push(root);
    while (stack.length) {
      const vertex = stack.pop() as number;
      if (seen[vertex]) {
        continue;
      }
      seen[vertex] = 1;
      order[next[row[vertex]]++] = vertex;
      // Pushed last is visited first: readers in order, before the other things that they read.
      for (let i = back.first[vertex]; i < back.first[vertex + 1]; i++) {
        stack.push(back.end[i]);
      }
      for (let i = ahead.first[vertex + 1] - 1; i >= ahead.first[vertex]; i--) {
        stack.push(ahead.end[i]);
      }
    }
  }
  const at = { order, place: new Int32Array(count) };
  setPlaces(net, at);
  return at;
}

/** The best of `sweeps` sweeps. Vertices of one row with `fixed` not below 0 keep that order among themselves. */
export function sweepToMeans(net: Net, at: Arrangement, fixed: Int32Array, sweeps: number): number {
  const { order, place } = at;
  const crossings = new Crossings(net, at);
  const sorter = new Sorter(net, at, crossings);
  const holding = rowsWithFixed(net, fixed);
  keepFixed(net, at, fixed, holding);
  const best = order.slice();
  const turn = order.slice();
  let fewest = crossings.count();
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    for (let step = 1; step < net.rowCount; step++) {
      sorter.sortRow(down ? step : net.rowCount - 1 - step, down ? net.above : net.below, sweep % TURN >= 2);
    }
    keepFixed(net, at, fixed, holding, crossings);
    const now = crossings.count();
    if (now < fewest) {
      fewest = now;
      best.set(order);
    }
    if (sweep % TURN === TURN - 1) {
      if (isSame(order, turn)) {
        break;
      }
      turn.set(order);
    }
  }
  order.set(best);
  setPlaces(net, { order, place });
  return fewest;
}

function isSame(one: Int32Array, other: Int32Array): boolean {
  for (let i = 0; i < one.length; i++) {
    if (one[i] !== other[i]) {
      return false;
    }
  }
  return true;
}

/** Rows with several fixed vertices. */
function rowsWithFixed({ row, rowCount }: Net, fixed: Int32Array): number[] {
  const held = new Int32Array(rowCount);
  fixed.forEach((place, vertex) => {
    held[row[vertex]] += place >= 0 ? 1 : 0;
  });
  return Array.from(held.keys()).filter(one => held[one] > 1);
}

/** Puts fixed vertices of each row into their order, each into a place that one of them has. */
export function keepFixed(
  net: Net,
  { order, place }: Arrangement,
  fixed: Int32Array,
  holding: readonly number[] = rowsWithFixed(net, fixed),
  crossings?: Crossings
): void {
  for (const row of holding) {
    const begin = net.rowStart[row];
    const places: number[] = [];
    for (let i = begin; i < net.rowStart[row + 1]; i++) {
      if (order[i] < fixed.length && fixed[order[i]] >= 0) {
        places.push(i);
      }
    }
    const sorted = places.map(i => order[i]).sort((a, b) => fixed[a] - fixed[b]);
    places.forEach((i, k) => {
      order[i] = sorted[k];
      place[sorted[k]] = i - begin;
    });
    crossings?.forget(row);
  }
}

/** Sorts rows by wishes, with room to work in that is made once. */
class Sorter {
  private readonly wish: Float64Array;
  private readonly spare: Int32Array;
  private readonly rooted: Int32Array;

  constructor(
    private readonly net: Net,
    private readonly at: Arrangement,
    private readonly crossings: Crossings
  ) {
    this.wish = new Float64Array(net.count);
    this.spare = new Int32Array(net.count);
    this.rooted = new Int32Array(net.count);
  }

  /** Vertices that nothing joins to that side keep their places, the others are sorted around them. */
  sortRow(row: number, { first, end: far, endShift }: Side, tiesReversed: boolean): void {
    const { wish, rooted } = this;
    const { order, place } = this.at;
    const begin = this.net.rowStart[row];
    const end = this.net.rowStart[row + 1];
    let moving = begin;
    let still = 0;
    for (let i = begin; i < end; i++) {
      const vertex = order[i];
      const from = first[vertex];
      const to = first[vertex + 1];
      if (from === to) {
        rooted[still++] = vertex;
        continue;
      }
      let sum = 0;
      for (let k = from; k < to; k++) {
        sum += place[far[k]] + endShift[k];
      }
      wish[vertex] = sum / (to - from);
      order[moving++] = vertex;
    }
    if (tiesReversed) {
      for (let left = begin, right = moving - 1; left < right; left++, right--) {
        const vertex = order[left];
        order[left] = order[right];
        order[right] = vertex;
      }
    }
    this.sort(begin, moving);
    for (let i = end - 1; still > 0; i--) {
      const vertex = rooted[still - 1];
      if (place[vertex] === i - begin) {
        order[i] = vertex;
        still--;
      } else {
        order[i] = order[--moving];
      }
    }
    for (let i = begin; i < end; i++) {
      if (place[order[i]] !== i - begin) {
        place[order[i]] = i - begin;
        this.crossings.forget(row);
      }
    }
  }

  /** A stable sort of part of the order by wishes: by insertion where it is short, by merging otherwise. */
  private sort(begin: number, end: number): void {
    const { wish, spare } = this;
    const { order } = this.at;
    if (end - begin <= 20) {
      for (let i = begin + 1; i < end; i++) {
        const vertex = order[i];
        const own = wish[vertex];
        let k = i - 1;
        for (; k >= begin && wish[order[k]] > own; k--) {
          order[k + 1] = order[k];
        }
        order[k + 1] = vertex;
      }
      return;
    }
    const middle = (begin + end) >> 1;
    this.sort(begin, middle);
    this.sort(middle, end);
    for (let i = begin; i < middle; i++) {
      spare[i] = order[i];
    }
    let left = begin;
    let right = middle;
    let to = begin;
    while (left < middle && right < end) {
      order[to++] = wish[order[right]] < wish[spare[left]] ? order[right++] : spare[left++];
    }
    while (left < middle) {
      order[to++] = spare[left++];
    }
  }
}
