/**
 * Long names that begin alike are cut so that each still says which one it is: `encode…block` and `encode…_norm`; and
 * statements, `x = params["q…` and `x = params["k…`, where they begin to differ.
 */

/** A name, and not a statement: of that, what it ends in says less than how it begins. */
const NAME = /^[\p{L}_][\p{L}\p{N}_.]*$/u;
/** What names that are cut end in. */
const CUT = '…';
/** So many letters of the beginning stay. */
const LEAST_BEGINNING = 3;

/** The `labels` of `names`, where those that were cut to the same letters say what only one of the names has. */
export function cutApart(names: readonly string[], labels: readonly string[]): string[] {
  const alike = new Map<string, Set<string>>();
  labels.forEach((label, at) => {
    if (label.endsWith(CUT) && label !== names[at]) {
      alike.set(label, (alike.get(label) ?? new Set()).add(names[at]));
    }
  });
  return labels.map((label, at) => {
    const others = alike.get(label);
    return others?.has(names[at]) && others.size > 1 ? withOwnEnd(names[at], others, Array.from(label).length) : label;
  });
}

/** A name by its beginning and by what none of the others has; a letter may be two units of a string. */
function withOwnEnd(name: string, others: ReadonlySet<string>, most: number): string {
  const letters = Array.from(name);
  const rest = [...others].filter(other => other !== name).map(other => Array.from(other));
  const own = letters.slice(Math.max(...rest.map(other => sharedLength(letters, other))));
  const least = NAME.test(name) ? LEAST_BEGINNING : Math.ceil(most / 2) - CUT.length;
  const room = most - CUT.length - least;
  const end = own.length > room ? [...own.slice(0, room - CUT.length), CUT] : own;
  return [...letters.slice(0, most - CUT.length - end.length), CUT, ...end].join('');
}

/** How many letters two names begin with in common. */
function sharedLength(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((letter, at) => letter !== other[at]);
  return end < 0 ? one.length : end;
}
