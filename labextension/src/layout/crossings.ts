/** Crossings of an arrangement: all of them, and what a swap of two neighbours changes. */
import type { Arrangement, Net, Side } from './net.ts';

/** Number of crossings between all neighbouring rows. */
export function countCrossings(net: Net, at: Arrangement): number {
  return new Crossings(net, at).count();
}

/** The crossings of an arrangement that changes: only rows that were told to have changed are counted again. */
export class Crossings {
  /** Between each row and the next. */
  private readonly below: Float64Array;
  private readonly stale: Uint8Array;
  private readonly slot: Int32Array;
  private tree = new Int32Array(16);

  constructor(
    private readonly net: Net,
    private readonly at: Arrangement
  ) {
    this.below = new Float64Array(net.rowCount);
    this.stale = new Uint8Array(net.rowCount).fill(1);
    this.slot = new Int32Array(net.count);
  }

  forget(row: number): void {
    this.stale[row] = 1;
  }

  count(): number {
    const { below, stale } = this;
    let total = 0;
    for (let row = 0; row + 1 < this.net.rowCount; row++) {
      if (stale[row] || stale[row + 1]) {
        below[row] = this.anyBelow(row) ? this.countBelow(row) : 0;
      }
      total += below[row];
    }
    stale.fill(0);
    return total;
  }

  /** False if the links of a row end in the order in which they begin. */
  private anyBelow(row: number): boolean {
    const { rowStart, below } = this.net;
    const { first, end, endShift } = below;
    const { order, place } = this.at;
    let furthest = -1;
    for (let i = rowStart[row], beyond = rowStart[row + 1]; i < beyond; i++) {
      for (let k = first[order[i]], last = first[order[i] + 1]; k < last; k++) {
        const far = place[end[k]] + endShift[k];
        if (far < furthest) {
          return true;
        }
        furthest = far;
      }
    }
    return false;
  }

  /** By a Fenwick tree over the ports of the lower row. */
  private countBelow(row: number): number {
    const { rowStart, above, below } = this.net;
    const { order } = this.at;
    const { slot } = this;
    const { first, end, port, endPort } = below;
    let slots = 0;
    for (let i = rowStart[row + 1], beyond = rowStart[row + 2]; i < beyond; i++) {
      slot[order[i]] = slots;
      slots += above.ports[order[i]];
    }
    if (this.tree.length <= slots) {
      this.tree = new Int32Array(2 * slots);
    }
    const tree = this.tree.fill(0, 0, slots + 1);
    let total = 0;
    let links = 0;
    for (let i = rowStart[row], beyond = rowStart[row + 1]; i < beyond; i++) {
      const last = first[order[i] + 1];
      for (let k = first[order[i]]; k < last;) {
        // All links of one port are counted before any is added: they do not cross each other.
        let next = k;
        for (; next < last && port[next] === port[k]; next++) {
          let atOrLeft = 0;
          for (let at = slot[end[next]] + endPort[next] + 1; at > 0; at -= at & -at) {
            atOrLeft += tree[at];
          }
          total += links - atOrLeft;
        }
        links += next - k;
        for (; k < next; k++) {
          for (let at = slot[end[k]] + endPort[k] + 1; at <= slots; at += at & -at) {
            tree[at]++;
          }
        }
      }
    }
    return total;
  }
}

/**
 * Two vertices with more pairs of links than this are never swapped: it costs too much to count what it would change.
 * Where hubs stand is left to the sweeps.
 */
export const MOST_PAIRS = 4096;

/** Change of the number of crossings if neighbour `a` and `b`, which follows it, swap; infinite if they must not. */
export function swapChange({ above, below }: Net, a: number, b: number, place: Int32Array): number {
  return sideChange(above, a, b, place) + sideChange(below, a, b, place);
}

export function sideChange({ first, end, endShift }: Side, a: number, b: number, place: Int32Array): number {
  let change = 0;
  const beginB = first[b];
  const endB = first[b + 1];
  if ((first[a + 1] - first[a]) * (endB - beginB) > MOST_PAIRS) {
    return Infinity;
  }
  for (let i = first[a]; i < first[a + 1]; i++) {
    const left = place[end[i]] + endShift[i];
    for (let k = beginB; k < endB; k++) {
      const right = place[end[k]] + endShift[k];
      change += left < right ? 1 : left > right ? -1 : 0;
    }
  }
  return change;
}
