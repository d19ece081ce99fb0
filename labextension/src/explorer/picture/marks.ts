/** Which boxes of the picture a pass of the compiler touched, and what is written on them. */
import { CHANGE_KINDS, changesOf, type ChangeKind } from '../../document/changes.ts';
import { follow } from '../../document/follow.ts';
import type { Document } from '../../document/graph.ts';
import { openState, placeOf } from '../../document/states.ts';
import type { Mark } from '../../draw/marks.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import { Tally, type Counts } from './tally.ts';
import { toldInWords } from './toldInWords.ts';

/** One word for each kind, as the line of the pass, the marks and the story of an instruction write it. */
export const CHANGE_WORDS: Readonly<Record<ChangeKind, string>> = {
  added: 'new',
  removed: 'gone',
  changed: 'changed',
  fused: 'fused',
  moved: 'moved'
};

/**
 * The marks of a state on what is visible of it; none for a graph that is no state. While it is shown for what the pass
 * `losing` removes of it, that alone is marked.
 */
export function marksOf(document: Document, visible: VisibleGraph, losing: number | null = null): Mark[] {
  const index = document.graphs.indexOf(visible.graph);
  const place = placeOf(document, index);
  if (place && losing === place.number + 1) {
    return lostMarks(document, visible, changesOf(document, place.passes, losing).removed);
  }
  if (!place || place.number === 0) {
    return [];
  }
  const changes = changesOf(document, place.passes, place.number);
  const tally = new Tally<ChangeKind>(document, visible);
  for (const kind of CHANGE_KINDS) {
    if (kind !== 'removed') {
      changes[kind].forEach(node => tally.add(node, kind));
    }
  }
  if (changes.removed.length) {
    // What is gone is seen where its place was taken, or where the rest of its equation is.
    const before = openState(document, place.passes, place.number - 1);
    for (const node of changes.removed) {
      const [rest] = follow(document, before, node, index);
      if (rest) {
        tally.addAt(rest.node, 'removed');
      }
    }
  }
  return [...tally.boxes()].map(([box, here]) => ({ box, ...told(here, visible.item[box] < 0) }));
}

function lostMarks(document: Document, visible: VisibleGraph, lost: readonly number[]): Mark[] {
  const tally = new Tally<'removed'>(document, visible);
  lost.forEach(node => tally.add(node, 'removed'));
  return [...tally.boxes()].map(([box, { removed = 0 }]) => ({
    box,
    kind: 'removed',
    ...toldInWords(removed, CHANGE_WORDS.removed, 0, visible.item[box] >= 0)
  }));
}

/** Why nothing is marked on a state; nothing for a graph that is no state. */
export function whyUnmarked(document: Document, graph: number): string | undefined {
  const place = placeOf(document, graph);
  if (!place) {
    return undefined;
  }
  if (place.number === 0) {
    return 'no pass has changed anything yet';
  }
  const changes = changesOf(document, place.passes, place.number);
  const counts = CHANGE_KINDS.filter(kind => changes[kind].length);
  const words = counts.map(kind => `${changes[kind].length} ${CHANGE_WORDS[kind]}`).join(', ');
  return `what this pass did has no box: ${words}, shown by a click on it above`;
}

/** The kind that tells most, with its number, and how many more there are. */
function told(counts: Counts<ChangeKind>, single: boolean): Omit<Mark, 'box'> {
  const kinds = CHANGE_KINDS.filter(kind => counts[kind]).sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
  const [kind, ...others] = kinds;
  const more = others.reduce((sum, other) => sum + (counts[other] ?? 0), 0);
  const alone = single && kind !== 'removed' && !more;
  return { kind, ...toldInWords(counts[kind] ?? 0, CHANGE_WORDS[kind], more, !alone) };
}
