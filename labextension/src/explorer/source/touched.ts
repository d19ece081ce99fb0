/** What a pass of the compiler did to the lines of the state that it led to. */
import { CHANGE_KINDS, changesOf, type ChangeKind } from '../../document/changes.ts';
import type { Document, Graph } from '../../document/graph.ts';
import { placeOf } from '../../document/states.ts';

/** Of each node that the pass touched, in which way; nothing for a graph that is no state of the compiler. */
export function touchedBy(document: Document, graph: Graph): ReadonlyMap<number, ChangeKind> {
  const touched = new Map<number, ChangeKind>();
  const place = placeOf(document, document.graphs.indexOf(graph));
  const changes = place && changesOf(document, place.passes, place.number);
  for (const kind of changes ? CHANGE_KINDS : []) {
    // What was removed is a node of the state before.
    if (kind !== 'removed') {
      changes?.[kind].forEach(node => touched.has(node) || touched.set(node, kind));
    }
  }
  return touched;
}
