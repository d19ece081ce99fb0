/**
 * Two groups side by side whose members belong together in pairs: rows are moved down, never up, until the boxes of as
 * many pairs as can be stand at one height. Nothing moves sideways and no row passes another.
 */
import type { FlatLayout } from './flat.ts';

/** Past this many pairs only the first are looked at. */
const MOST_PAIRS = 2000;

/** A flat layout with the heights of its vertices. */
export interface Side {
  readonly layout: FlatLayout;
  readonly height: Float64Array;
}

/** From `at` downward all stands `by` px further down. */
interface Cut {
  readonly at: number;
  readonly by: number;
}

/** `pairs` holds vertices of the one side and of the other. Both layouts come out equally high. */
export function level(a: Side, b: Side, pairs: readonly (readonly [number, number])[]): [FlatLayout, FlatLayout] {
  const [topsA, topsB] = [bandTops(a), bandTops(b)];
  const cutsA: Cut[] = [];
  const cutsB: Cut[] = [];
  let [downA, downB] = [0, 0];
  for (const [one, other] of longestChain(pairs.slice(0, MOST_PAIRS), topsA, topsB)) {
    const apart = b.layout.y[other] + downB - a.layout.y[one] - downA;
    if (apart > 0) {
      cutsA.push({ at: topsA[one], by: apart });
      downA += apart;
    } else if (apart < 0) {
      cutsB.push({ at: topsB[other], by: -apart });
      downB -= apart;
    }
  }
  const height = Math.max(a.layout.height + downA, b.layout.height + downB);
  cutsA.push({ at: a.layout.height, by: height - a.layout.height - downA });
  cutsB.push({ at: b.layout.height, by: height - b.layout.height - downB });
  return [stretch(a.layout, cutsA), stretch(b.layout, cutsB)];
}

/** For each vertex the upper end of its band: rows that reach into each other are one band. */
function bandTops({ layout, height }: Side): Float64Array {
  const order = Array.from(layout.y.keys()).sort((a, b) => layout.y[a] - layout.y[b]);
  const tops = new Float64Array(layout.y.length);
  let [top, bottom] = [-Infinity, -Infinity];
  for (const vertex of order) {
    if (layout.y[vertex] > bottom) {
      top = layout.y[vertex];
    }
    bottom = Math.max(bottom, layout.y[vertex] + height[vertex]);
    tops[vertex] = top;
  }
  return tops;
}

/** The most pairs that come one below the other on both sides. */
function longestChain(
  pairs: readonly (readonly [number, number])[],
  topsA: Float64Array,
  topsB: Float64Array
): (readonly [number, number])[] {
  // Of pairs in one band of the left side, the lowest on the right comes first: no two of them end up in one chain.
  const sorted = [...pairs].sort(([a, b], [c, d]) => topsA[a] - topsA[c] || topsB[d] - topsB[b]);
  const ends: number[] = [];
  const before = new Int32Array(sorted.length).fill(-1);
  sorted.forEach(([, b], i) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (topsB[sorted[ends[middle]][1]] < topsB[b]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    before[i] = low > 0 ? ends[low - 1] : -1;
    ends[low] = i;
  });
  const chain: (readonly [number, number])[] = [];
  for (let i = ends.at(-1) ?? -1; i >= 0; i = before[i]) {
    chain.push(sorted[i]);
  }
  return chain.reverse();
}

function stretch(layout: FlatLayout, cuts: readonly Cut[]): FlatLayout {
  if (!cuts.some(({ by }) => by > 0)) {
    return layout;
  }
  const moved = (y: number): number => cuts.reduce((sum, { at, by }) => (y >= at ? sum + by : sum), y);
  return {
    ...layout,
    y: layout.y.map(moved),
    height: cuts.reduce((sum, { by }) => sum + by, layout.height),
    routes: layout.routes.map(route => route && route.map((value, i) => (i % 2 ? moved(value) : value)))
  };
}
