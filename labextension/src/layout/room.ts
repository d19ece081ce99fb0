/**
 * Room for what has grown since the picture before. What stands beside a group that opens has to make way; if only its
 * own row did, it would pass what stands in other rows. So all rows are stretched alike where room is wanted, and no
 * two boxes change their order from left to right.
 */
import { BOX_GAP } from './distances.ts';

/** What the vertices of a part take in their rows, from their centres, and their rows. */
export interface Taken {
  readonly row: Int32Array;
  readonly left: Float64Array;
  readonly right: Float64Array;
}

/** How far the two borders of each vertex have moved outward since the picture before; below 0 where they moved inward. */
export interface Growth {
  readonly left: Float64Array;
  readonly right: Float64Array;
}

/** Between `from` and `to` each px becomes 1 + `more`. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly more: number;
}

/** Centres with room for what has grown; what is NaN stays so. */
export function makeRoom(before: Float64Array, taken: Taken, growth: Growth): Float64Array {
  const stretches = wantedRoom(before, taken, growth);
  const borders = [...new Set(stretches.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  // What is wanted twice, by groups one above the other, is made once.
  const more = borders.map(border =>
    stretches.reduce((most, one) => (one.from <= border && border < one.to ? Math.max(most, one.more) : most), 0)
  );
  const moved = new Float64Array(borders.length);
  for (let i = 1; i < borders.length; i++) {
    moved[i] = moved[i - 1] + more[i - 1] * (borders[i] - borders[i - 1]);
  }
  return before.map(x => {
    let [low, high] = [0, borders.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (borders[middle] <= x) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low === 0 || x !== x ? x : x + moved[low - 1] + more[low - 1] * (x - borders[low - 1]);
  });
}

/** To both sides of what has grown, as far as its neighbours in the row are in the way. */
function wantedRoom(before: Float64Array, { row, left, right }: Taken, growth: Growth): Stretch[] {
  const stretches: Stretch[] = [];
  before.forEach((x, vertex) => {
    if (!(growth.left[vertex] > 0 || growth.right[vertex] > 0)) {
      return;
    }
    let [nearestLeft, nearestRight] = [-Infinity, Infinity];
    before.forEach((other, neighbour) => {
      if (row[neighbour] === row[vertex] && other < x) {
        nearestLeft = Math.max(nearestLeft, other + right[neighbour]);
      } else if (row[neighbour] === row[vertex] && other > x) {
        nearestRight = Math.min(nearestRight, other - left[neighbour]);
      }
    });
    const toLeft = Math.min(growth.left[vertex], nearestLeft + BOX_GAP - (x - left[vertex]));
    const toRight = Math.min(growth.right[vertex], x + right[vertex] + BOX_GAP - nearestRight);
    const [from, to] = [x - left[vertex] + growth.left[vertex], x + right[vertex] - growth.right[vertex]];
    if (toLeft > 0 && from < x) {
      stretches.push({ from, to: x, more: toLeft / (x - from) });
    }
    if (toRight > 0 && to > x) {
      stretches.push({ from: x, to, more: toRight / (to - x) });
    }
  });
  return stretches;
}
