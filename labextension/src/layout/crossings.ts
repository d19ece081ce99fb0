/** Crossings of an arrangement: all of them, and what a swap of two neighbours changes. */
import type { Arrangement, Net, Side } from './net.ts';

/** Number of crossings between all neighbouring rows, by a Fenwick tree over the ports of the lower row. */
export function countCrossings(net: Net, { order }: Arrangement): number {
  const { rowStart, rowCount, above, below } = net;
  const slot = new Int32Array(net.count);
  let total = 0;
  for (let row = 0; row + 1 < rowCount; row++) {
    let slots = 0;
    for (let i = rowStart[row + 1]; i < rowStart[row + 2]; i++) {
      slot[order[i]] = slots;
      slots += above.ports[order[i]];
    }
    const tree = new Int32Array(slots + 1);
    let links = 0;
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++) {
      const end = below.first[order[i] + 1];
      for (let k = below.first[order[i]]; k < end;) {
        // All links of one port are counted before any is added: they do not cross each other.
        let next = k;
        for (; next < end && below.port[next] === below.port[k]; next++) {
          let atOrLeft = 0;
          for (let at = slot[below.end[next]] + below.endPort[next] + 1; at > 0; at -= at & -at) {
            atOrLeft += tree[at];
          }
          total += links - atOrLeft;
        }
        links += next - k;
        for (; k < next; k++) {
          for (let at = slot[below.end[k]] + below.endPort[k] + 1; at <= slots; at += at & -at) {
            tree[at]++;
          }
        }
      }
    }
  }
  return total;
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
