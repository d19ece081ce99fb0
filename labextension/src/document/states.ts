/**
 * States of the compiler as stages of a document. A state becomes a graph of the document, with its outline and links,
 * when it is first looked at: the lists of the document grow then, and an index stays good.
 */
import { checkGraph, checkOutline } from './check.ts';
import type { Document, Graph, Links, Outline, Passes } from './graph.ts';
import { stateOf } from './series.ts';
import { getOrMake } from '../maps';

/** Which state a graph of the document is. */
export interface Place {
  readonly passes: Passes;
  readonly number: number;
}

interface Opened {
  readonly graphOf: Map<Passes, Map<number, number>>;
  readonly placeOf: Map<number, Place>;
}

const known = new WeakMap<Document, Opened>();

function openedIn(document: Document): Opened {
  return getOrMake(known, document, () => ({ graphOf: new Map(), placeOf: new Map() }));
}

/** The number of the graph of a state; `RangeError` where the document is damaged there. */
export function openState(document: Document, passes: Passes, number: number): number {
  const { graphOf, placeOf } = openedIn(document);
  const graphs = getOrMake(graphOf, passes, () => new Map<number, number>());
  const there = graphs.get(number);
  if (there !== undefined) {
    return there;
  }
  const { graph, outline, links } = stateOf(passes, number);
  const index = document.graphs.length;
  const path = `passes/states/${number}`;
  checkGraph(document, graph, path);
  checkOutline(document, graph, outline, path);
  (document.graphs as Graph[]).push(graph);
  (document.outlines as Outline[]).push({ ...outline, graph: index });
  // From the jaxpr to this graph: rows in the order of the target, as they are.
  const { source, target, kind } = links;
  (document.links as Links[]).push({ from: passes.graph, to: index, source, target, kind, shares: {} });
  graphs.set(number, index);
  placeOf.set(index, { passes, number });
  return index;
}

/** The state that a graph is; undefined for the stages of the program. */
export function placeOf(document: Document, graph: number): Place | undefined {
  return known.get(document)?.placeOf.get(graph);
}

/**
 * The same instruction in another state, or in optimized HLO: by its lineage, else by its name. Undefined where one of
 * the graphs is neither, or it is not there.
 */
export function sameInstruction(document: Document, from: number, node: number, to: number): number | undefined {
  const [here, there] = [placeOf(document, from), placeOf(document, to)];
  if (here && there && here.passes === there.passes) {
    return stateOf(there.passes, there.number).nodeOf.get(stateOf(here.passes, here.number).lineage[node]);
  }
  return here || there ? namedLike(document, document.graphs[from], node, document.graphs[to]) : undefined;
}

const names = new WeakMap<Graph, ReadonlyMap<number, number>>();

/** The node of another graph with this name and operation. Names are strings of the document, empty for most equations. */
function namedLike({ strings }: Document, from: Graph, node: number, to: Graph): number | undefined {
  let byName = names.get(to);
  if (!byName) {
    byName = new Map(Array.from(to.name, (name, one) => [name, one]));
    names.set(to, byName);
  }
  const other = strings[from.name[node]] ? byName.get(from.name[node]) : undefined;
  return other !== undefined && to.op[other] === from.op[node] ? other : undefined;
}
