/** What a pass of the compiler did to the lines of the state that it led to. */
import { CHANGE_KINDS, changesOf } from '../../document/changes.ts';
import type { Document, Graph } from '../../document/graph.ts';
import { placeOf } from '../../document/states.ts';
import type { MarkKind } from '../../draw/marks.ts';
import { CHANGE_WORDS } from '../picture/marks.ts';

/** What is told at the end of a line. */
export interface LineMark {
  readonly kind: MarkKind;
  readonly word: string;
}

/** Of each node that the pass touched, in which way; nothing for a graph that is no state of the compiler. */
export function touchedBy(document: Document, graph: Graph): ReadonlyMap<number, LineMark> {
  const touched = new Map<number, LineMark>();
  const place = placeOf(document, document.graphs.indexOf(graph));
  const changes = place && changesOf(document, place.passes, place.number);
  for (const kind of changes ? CHANGE_KINDS : []) {
    // What was removed is a node of the state before.
    if (kind !== 'removed') {
      changes?.[kind].forEach(node => touched.has(node) || touched.set(node, { kind, word: CHANGE_WORDS[kind] }));
    }
  }
  return touched;
}
