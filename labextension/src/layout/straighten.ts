/**
 * Straightens strands. Places that balance all their links leave long edges leaning a little in every row, which reads
 * as a wobble. A strand, a run of lanes and of boxes with one link above and one below, is put upright where there is
 * room, and where there is not it bends as few times as can be. What stays where it is ends a strand.
 */
import type { Extents } from './coordinates.ts';
import type { Proper } from './proper.ts';

/** What was in the way of a strand may have moved away after it. */
const ROUNDS = 3;

/** A path of vertices, from the top down, and what each must be moved by to stand under the first. */
interface Strand {
  readonly vertices: readonly number[];
  readonly shift: readonly number[];
}

export function straighten(
  proper: Proper,
  rows: readonly Int32Array[],
  place: Int32Array,
  extents: Extents,
  gap: (left: number, right: number) => number,
  x: Float64Array,
  [leftWall, rightWall]: readonly [number, number] = [-Infinity, Infinity],
  stays: (vertex: number) => boolean = () => false
): void {
  const { left, right } = extents;
  const strands = findStrands(proper, extents, stays).sort((a, b) => b.vertices.length - a.vertices.length);
  for (const { vertices, shift } of Array.from({ length: ROUNDS }, () => strands).flat()) {
    let begin = 0;
    let low = -Infinity;
    let high = Infinity;
    for (let i = 0; i <= vertices.length; i++) {
      let least = Infinity;
      let most = -Infinity;
      if (i < vertices.length) {
        const vertex = vertices[i];
        const row = rows[proper.rank[vertex]];
        const at = place[vertex];
        const before = at > 0 ? row[at - 1] : -1;
        const after = at + 1 < row.length ? row[at + 1] : -1;
        least = (before < 0 ? leftWall : x[before] + right[before] + gap(before, vertex)) + left[vertex];
        most = (after < 0 ? rightWall : x[after] - left[after] - gap(vertex, after)) - right[vertex];
        least -= shift[i];
        most -= shift[i];
      }
      // Never true past the end, which closes the last run.
      if (Math.max(low, least) <= Math.min(high, most)) {
        low = Math.max(low, least);
        high = Math.min(high, most);
        continue;
      }
      if (i > begin) {
        const wish = wishOf(proper, extents, x, vertices, shift, begin, i);
        const base = Math.min(Math.max(wish, low), high);
        for (let k = begin; k < i; k++) {
          x[vertices[k]] = base + shift[k];
        }
      }
      begin = i;
      low = least;
      high = most;
    }
  }
}

/** Where the run from `begin` to `end` would like to stand: under what it hangs on, else over what it leads to. */
function wishOf(
  proper: Proper,
  { upperOffset, lowerOffset }: Extents,
  x: Float64Array,
  vertices: readonly number[],
  shift: readonly number[],
  begin: number,
  end: number
): number {
  const { above, below, upper, lower } = proper;
  const first = vertices[begin];
  const last = vertices[end - 1];
  const whole = begin === 0 && end === vertices.length;
  const hangs = above.first[first + 1] - above.first[first] === 1;
  const leads = below.first[last + 1] - below.first[last] === 1;
  if (begin === 0 && hangs && !(whole && leads && end - begin === 1)) {
    const link = above.edge[above.first[first]];
    return x[upper[link]] + upperOffset[link] - lowerOffset[link] - shift[begin];
  }
  if (end === vertices.length && leads) {
    const link = below.edge[below.first[last]];
    return x[lower[link]] + lowerOffset[link] - upperOffset[link] - shift[end - 1];
  }
  let sum = 0;
  for (let i = begin; i < end; i++) {
    sum += x[vertices[i]] - shift[i];
  }
  return sum / (end - begin);
}

function findStrands(
  proper: Proper,
  { upperOffset, lowerOffset }: Extents,
  stays: (vertex: number) => boolean
): Strand[] {
  const { count, above, below, lower } = proper;
  const onlyBelow = (vertex: number): number =>
    below.first[vertex + 1] - below.first[vertex] === 1 ? below.edge[below.first[vertex]] : -1;
  const hasOneAbove = (vertex: number): boolean => above.first[vertex + 1] - above.first[vertex] === 1;
  const continued = new Uint8Array(count);
  for (let vertex = 0; vertex < count; vertex++) {
    const link = onlyBelow(vertex);
    if (link >= 0 && hasOneAbove(lower[link]) && !stays(vertex) && !stays(lower[link])) {
      continued[lower[link]] = 1;
    }
  }
  const strands: Strand[] = [];
  for (let head = 0; head < count; head++) {
    if (continued[head]) {
      continue;
    }
    const vertices = [head];
    const shift = [0];
    for (
      let link = onlyBelow(head);
      link >= 0 && continued[lower[link]];
      link = onlyBelow(vertices[vertices.length - 1])
    ) {
      shift.push(shift[shift.length - 1] + upperOffset[link] - lowerOffset[link]);
      vertices.push(lower[link]);
    }
    if (vertices.length > 1) {
      strands.push({ vertices, shift });
    }
  }
  return strands;
}
