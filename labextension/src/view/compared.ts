/** How two graphs differ that are linked: stages of two programs, or two stages of one. */
import { follow } from '../document/follow.ts';
import { LinkKind, NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { programOf } from '../document/programs.ts';
import { CONDITIONS, LOOPS } from './control.ts';
import { influenceOf } from './influence.ts';
import { rowsOf } from './outline.ts';
import { getOrMake } from '../maps';

/** What a node is beside the other graph. */
export const Standing = { none: 0, same: 1, only: 2, changed: 3, folded: 4 } as const;

export interface Compared {
  /** Of each node one of `Standing`; none for what computes nothing. */
  readonly of: Uint8Array;
  /** The nodes of each standing that tells a difference. */
  readonly only: readonly number[];
  readonly changed: readonly number[];
  /** Copies that are one in the other graph. */
  readonly folded: readonly number[];
  readonly same: number;
  /** True for two programs; of two stages of one, what is linked may well be something else. */
  readonly programs: boolean;
}

/** Operations that hand values on: no difference of the programs. */
const IDLE = new Set(['constant', 'parameter', 'tuple', 'get-tuple-element', 'get_tuple_element', 'bitcast']);

/** Operations that are frames in the picture, and more than a call. */
const HOLDERS = new Set([...LOOPS, ...CONDITIONS]);

/** What hands on the value as it is: what reads it reads the same without it. */
const COPIES = new Set(['copy', 'copy_p']);

const known = new WeakMap<Graph, Map<Graph, Compared>>();

/** The nodes of the graph `from`, beside the graph `to`. */
export function compare(document: Document, from: number, to: number): Compared {
  const [graph, other] = [document.graphs[from], document.graphs[to]];
  const of = getOrMake(known, graph, () => new Map<Graph, Compared>());
  return getOrMake(of, other, () => stand(document, from, to));
}

function stand(document: Document, from: number, to: number): Compared {
  const graph = document.graphs[from];
  const { role } = rowsOf(document, graph).outline;
  const programs = programOf(document, from) !== programOf(document, to);
  const of = new Uint8Array(graph.nodeCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    if (counts(document, graph, role[node], node)) {
      const kinds = follow(document, from, node, to).map(({ kind }) => kind);
      of[node] = !kinds.length ? Standing.only : programs ? standingOf(kinds) : Standing.same;
    }
  }
  if (programs) {
    changeByUndrawn(document, from, to, of);
  }
  const found = (standing: number): number[] => [...of.keys()].filter(node => of[node] === standing);
  return {
    of,
    only: found(Standing.only),
    changed: found(Standing.changed),
    folded: found(Standing.folded),
    same: found(Standing.same).length,
    programs
  };
}

/**
 * What is no operation or has no box of its own is a difference of the operations that read it: an argument of another
 * type, a constant of another value, and what hands values on, as a broadcast, in another way or without a counterpart.
 */
function changeByUndrawn(document: Document, from: number, to: number, of: Uint8Array): void {
  const { role } = rowsOf(document, document.graphs[from]).outline;
  // Seen from either side the same operations have changed, whichever has the value.
  const there = readersOfOthers(document, to, from).flatMap(reader => follow(document, to, reader, from));
  const counterparts = there.map(({ node }) => node).filter(node => role[node] === NodeRole.box);
  for (const reader of [...readersOfOthers(document, from, to), ...counterparts]) {
    of[reader] = of[reader] === Standing.only ? Standing.only : Standing.changed;
  }
}

/** What reads a value without a box that differs; the value itself where nothing with a box reads it. */
function readersOfOthers(document: Document, from: number, to: number): number[] {
  const graph = document.graphs[from];
  const others = [...graph.kind.keys()].filter(node => isOther(document, from, node, to));
  return others.flatMap(node => {
    const readers = drawnReaders(document, graph, node);
    return readers.length ? readers : [node];
  });
}

/** True for an argument, a constant or what hands values on that differs. */
function isOther(document: Document, from: number, node: number, to: number): boolean {
  const graph = document.graphs[from];
  const { role } = rowsOf(document, graph).outline;
  const op = document.strings[graph.op[node]];
  const argument = graph.kind[node] === NodeKind.argument && graph.region[node] === 0;
  const given = argument || op === 'constant';
  const hands = role[node] === NodeRole.edge && counts(document, graph, NodeRole.box, node);
  if (!given && !hands) {
    return false;
  }
  const kinds = follow(document, from, node, to).map(({ kind }) => kind);
  return kinds.includes(LinkKind.changed) || (hands && !kinds.length && !COPIES.has(op));
}

/** The boxes of a graph that read a node, through what only hands it on. */
function drawnReaders(document: Document, graph: Graph, node: number): readonly number[] {
  const { role } = rowsOf(document, graph).outline;
  const { first, node: after } = influenceOf(graph, false).after;
  const found = new Set<number>();
  const seen = new Set([node]);
  for (const at of seen) {
    for (let i = first[at]; i < first[at + 1]; i++) {
      const reader = after[i];
      const drawn = role[reader] === NodeRole.box && counts(document, graph, role[reader], reader);
      (drawn ? found : seen).add(reader);
    }
  }
  return [...found];
}

function standingOf(kinds: readonly number[]): number {
  if (kinds.includes(LinkKind.changed)) {
    return Standing.changed;
  }
  return kinds.includes(LinkKind.merged) ? Standing.folded : Standing.same;
}

/** Operations that the picture draws, and loops and branches; what is looked through, as a call, has no standing. */
function counts(document: Document, graph: Graph, role: number, node: number): boolean {
  const op = document.strings[graph.op[node]];
  const drawn = role <= NodeRole.counter || HOLDERS.has(op);
  return graph.kind[node] === NodeKind.operation && drawn && !IDLE.has(op);
}

/** The graph to stand beside another: the same stage of another program, else the stage of its program furthest away. */
export function besideWhich(document: Document, graph: number): number | undefined {
  const own = programOf(document, graph);
  const { stages } = document.programs[own];
  const of = stages.find(stage => document.graphs[stage.graph].kind === document.graphs[graph].kind)?.kind;
  for (const { from, to } of document.links) {
    const other = from === graph ? to : to === graph ? from : -1;
    if (other >= 0 && programOf(document, other) !== own) {
      return other;
    }
  }
  for (const { stages: others } of document.programs.filter((_, number) => number !== own)) {
    const like = others.find(({ kind }) => kind === of);
    if (like && linked(document, graph, like.graph)) {
      return like.graph;
    }
  }
  const away = of === stages[0]?.kind ? stages[stages.length - 1] : stages[0];
  return away && away.graph !== graph && of !== away.kind ? away.graph : undefined;
}

/** True where anything of one graph is linked to the other, directly. */
function linked(document: Document, one: number, other: number): boolean {
  return document.links.some(({ from, to }) => (from === one && to === other) || (from === other && to === one));
}
