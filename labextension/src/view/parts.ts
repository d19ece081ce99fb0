/**
 * Parts: a long row of things that stand beside one another, cut where the fewest values cross, and each part again,
 * until a person can take in what is at one level.
 */

/** So many things at one level need no parts. */
export const MOST_BESIDE = 14;
/** Parts at one level. */
const MOST_PARTS = 8;
/** How far from an even cut a better one is looked for, as a share of a part. */
const LOOSE = 0.4;

export interface Part {
  /** The things `from` to `to`. */
  readonly from: number;
  readonly to: number;
  readonly parts: readonly Part[];
}

/** `crossing[i]` is how many values cross the border before thing i. */
export function partsOf(from: number, to: number, crossing: Float64Array): readonly Part[] {
  const count = to - from;
  if (count <= MOST_BESIDE) {
    return [];
  }
  const many = Math.min(MOST_PARTS, Math.ceil(count / MOST_BESIDE));
  const size = count / many;
  const cuts = [from];
  for (let part = 1; part < many; part++) {
    const even = from + part * size;
    const [low, high] = [Math.ceil(even - LOOSE * size), Math.floor(even + LOOSE * size)];
    let best = Math.round(even);
    for (let at = Math.max(low, cuts[cuts.length - 1] + 1); at <= high; at++) {
      const nearer = Math.abs(at - even) < Math.abs(best - even);
      if (crossing[at] < crossing[best] || (crossing[at] === crossing[best] && nearer)) {
        best = at;
      }
    }
    cuts.push(best);
  }
  return cuts.map((start, i) => {
    const end = cuts[i + 1] ?? to;
    return { from: start, to: end, parts: partsOf(start, end, crossing) };
  });
}
