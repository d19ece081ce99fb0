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
  const more = mostWanted(borders, stretches);
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

/** Centres where all that has grown did so to the left, and to the right; none where nothing has. */
export function grownToSides(before: Float64Array, { left, right }: Growth): Float64Array[] {
  const grown = left.map((one, vertex) => Math.max(0, one + right[vertex]) / 2);
  return grown.some(one => one > 0) ? [-1, 1].map(side => before.map((x, vertex) => x + side * grown[vertex])) : [];
}

/** Centres with room in the rows where something has grown, and without it in all others; none where that is all the same. */
export function inRowsThatGrow(
  before: Float64Array,
  room: Float64Array,
  row: Int32Array,
  { left, right }: Growth
): Float64Array[] {
  const rows = new Set(row.filter((_, vertex) => left[vertex] + right[vertex] > 0));
  const mixed = before.map((x, vertex) => (rows.has(row[vertex]) ? room[vertex] : x));
  const differs = (other: Float64Array): boolean => mixed.some((x, vertex) => x === x && x !== other[vertex]);
  return differs(before) && differs(room) ? [mixed] : [];
}

/** Between each border and the next what is wanted most there: what groups one above the other want is made once. */
function mostWanted(borders: readonly number[], stretches: readonly Stretch[]): Float64Array {
  const wanted = new Float64Array(borders.length);
  const place = new Map(borders.map((border, i) => [border, i]));
  // The largest first, each where there is none yet: `next` leads past what is taken.
  const next = Int32Array.from({ length: borders.length + 1 }, (_, i) => i);
  const free = (at: number): number => {
    while (next[at] !== at) {
      next[at] = next[next[at]];
      at = next[at];
    }
    return at;
  };
  for (const { from, to, more } of [...stretches].sort((a, b) => b.more - a.more)) {
    const end = place.get(to) as number;
    for (let at = free(place.get(from) as number); at < end; at = free(at)) {
      wanted[at] = more;
      next[at] = at + 1;
    }
  }
  return wanted;
}

/** To both sides of what has grown, as far as its neighbours in the row are in the way. */
function wantedRoom(before: Float64Array, taken: Taken, growth: Growth): Stretch[] {
  const { left, right } = taken;
  const near = neighbours(before, taken);
  const stretches: Stretch[] = [];
  before.forEach((x, vertex) => {
    const toLeft = Math.min(growth.left[vertex], near.left[vertex] + BOX_GAP - (x - left[vertex]));
    const toRight = Math.min(growth.right[vertex], x + right[vertex] + BOX_GAP - near.right[vertex]);
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

/** How far what stands to the left of each vertex in its row reaches to the right, and the other way round. */
function neighbours(before: Float64Array, { row, left, right }: Taken): Pick<Taken, 'left' | 'right'> {
  const near = {
    left: new Float64Array(before.length).fill(-Infinity),
    right: new Float64Array(before.length).fill(Infinity)
  };
  const order = [...before.keys()].filter(vertex => before[vertex] === before[vertex]);
  order.sort((a, b) => row[a] - row[b] || before[a] - before[b]);
  const isBeside = (i: number, j: number): boolean => row[order[i]] === row[order[j]];
  for (let i = 1; i < order.length; i++) {
    if (isBeside(i - 1, i)) {
      const [vertex, other] = [order[i], order[i - 1]];
      near.left[vertex] = Math.max(near.left[other], before[other] + right[other]);
    }
  }
  for (let i = order.length - 2; i >= 0; i--) {
    if (isBeside(i, i + 1)) {
      const [vertex, other] = [order[i], order[i + 1]];
      near.right[vertex] = Math.min(near.right[other], before[other] - left[other]);
    }
  }
  return near;
}
