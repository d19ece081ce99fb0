/**
 * Parts: a long row of things that stand beside one another, cut where what they are of changes, else where the fewest
 * values cross, and each part again, until a person can take in what is at one level.
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
  /** The level of what the things are of that tells this part from those beside it. */
  readonly level: number;
}

/** What comes back after such a share of a row, and after no more than so many things, was not gone. */
const STRAY = 0.02;
const MOST_STRAY = 64;

/**
 * `crossing[i]` is how many values cross the border before thing i; `paths[i]` is what thing i is of, the outermost
 * first.
 */
export function partsOf(crossing: Float64Array, paths: readonly (readonly string[])[]): readonly Part[] {
  return cut(0, paths.length, 0);

  function cut(from: number, to: number, least: number): readonly Part[] {
    if (to - from <= MOST_BESIDE) {
      return [];
    }
    const { borders, level } = bordersOf(paths, from, to, least);
    const few = borders.length > 0 && borders.length < MOST_BESIDE;
    const cuts = few ? [from, ...borders] : evenCuts(from, to, crossing, new Set(borders));
    return cuts.map((start, i) => {
      const end = cuts[i + 1] ?? to;
      return { from: start, to: end, parts: cut(start, end, few ? level + 1 : level), level };
    });
  }
}

/**
 * Where what the things are of changes, at the outermost level at which it does; none where it never does. What is of
 * something else for a moment changes nothing.
 */
function bordersOf(
  paths: readonly (readonly string[])[],
  from: number,
  to: number,
  least: number
): { readonly borders: readonly number[]; readonly level: number } {
  const stray = Math.min(STRAY * (to - from), MOST_STRAY);
  let deepest = 0;
  for (let at = from; at < to; at++) {
    deepest = Math.max(deepest, paths[at].length);
  }
  for (let level = least; level < deepest; level++) {
    const borders: number[] = [];
    let of: string | undefined = paths[from][level];
    const comesBack = (at: number): boolean => {
      for (let next = at + 1; next < Math.min(at + stray, to); next++) {
        if (paths[next][level] === of) {
          return true;
        }
      }
      return false;
    };
    for (let at = from + 1; at < to; at++) {
      if (paths[at][level] !== of && !comesBack(at)) {
        borders.push(at);
        of = paths[at][level];
      }
    }
    if (borders.length) {
      return { borders, level };
    }
  }
  return { borders: [], level: least };
}

/** Cuts that make parts of about one size, on one of the borders where there is one near, and where little crosses. */
function evenCuts(from: number, to: number, crossing: Float64Array, borders: ReadonlySet<number>): readonly number[] {
  const many = Math.min(MOST_PARTS, Math.ceil((to - from) / MOST_BESIDE));
  const size = (to - from) / many;
  const cuts = [from];
  for (let part = 1; part < many; part++) {
    const even = from + part * size;
    const isBetter = (at: number, than: number): boolean => {
      if (borders.has(at) !== borders.has(than)) {
        return borders.has(at);
      }
      const fewer = crossing[than] - crossing[at];
      return fewer > 0 || (fewer === 0 && Math.abs(at - even) < Math.abs(than - even));
    };
    const [low, high] = [Math.ceil(even - LOOSE * size), Math.floor(even + LOOSE * size)];
    let best = Math.round(even);
    for (let at = Math.max(low, cuts[cuts.length - 1] + 1); at <= high; at++) {
      best = isBetter(at, best) ? at : best;
    }
    cuts.push(best);
  }
  return cuts;
}
