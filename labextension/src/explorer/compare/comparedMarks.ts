/** Which boxes of a picture differ from the picture beside it, and what is written on them. */
import type { Mark, MarkKind } from '../../draw/marks.ts';
import { Standing, type Compared } from '../../view/compared.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import type { Document } from '../../document/graph.ts';
import { Tally } from '../picture/tally.ts';
import { toldInWords } from '../picture/toldInWords.ts';
import type { LineMark } from '../source/touched.ts';
import { getOrMake } from '../../maps';

export type Difference = 'only' | 'changed' | 'folded';

export const DIFFERENCES: readonly Difference[] = ['only', 'changed', 'folded'];

/** As the marks and the counts write it; in full for the title of a count. */
export const DIFFERENCE_WORDS: Readonly<Record<Difference, string>> = {
  only: 'only here',
  changed: 'changed',
  folded: 'folded'
};
export const DIFFERENCE_TITLES: Readonly<Record<Difference, string>> = {
  only: 'without a counterpart on the other side',
  changed: 'with a counterpart that does something else: another type, parameter or operand',
  folded: 'of which several are one on the other side: copies of an unrolled loop, and the body of the loop'
};

/** The look of a difference, at the left and at the right: what only the right has is new. */
export function markKind(difference: Difference, left: boolean): MarkKind {
  return difference === 'changed' ? 'changed' : difference === 'folded' ? 'fused' : left ? 'removed' : 'added';
}

const OF: Readonly<Record<number, Difference>> = {
  [Standing.only]: 'only',
  [Standing.changed]: 'changed',
  [Standing.folded]: 'folded'
};

const told = [
  new WeakMap<Compared, ReadonlyMap<number, LineMark>>(),
  new WeakMap<Compared, ReadonlyMap<number, LineMark>>()
];

/** By node, what the lines of a text tell of what differs. */
export function comparedLines(compared: Compared, left: boolean): ReadonlyMap<number, LineMark> {
  return getOrMake(told[Number(left)], compared, () => {
    const lines = new Map<number, LineMark>();
    compared.of.forEach((standing, node) => {
      const difference = OF[standing];
      if (difference) {
        lines.set(node, { kind: markKind(difference, left), word: DIFFERENCE_WORDS[difference] });
      }
    });
    return lines;
  });
}

/** The marks of what differs; `left` for the picture at the left. */
export function comparedMarks(document: Document, visible: VisibleGraph, compared: Compared, left: boolean): Mark[] {
  const tally = new Tally<Difference>(document, visible);
  compared.of.forEach((standing, node) => {
    const difference = OF[standing];
    if (difference) {
      tally.add(node, difference);
    }
  });
  return [...tally.boxes()].map(([box, here]) => {
    const count = (kind: Difference): number => here[kind] ?? 0;
    const kinds = DIFFERENCES.filter(count).sort((a, b) => count(b) - count(a));
    const more = kinds.slice(1).reduce((sum, kind) => sum + count(kind), 0);
    const [most] = kinds;
    const words = toldInWords(count(most), DIFFERENCE_WORDS[most], more, count(most) > 1);
    return { box, kind: markKind(most, left), ...words };
  });
}
