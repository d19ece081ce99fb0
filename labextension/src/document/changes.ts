/** What a pass of the compiler did, and what became of one instruction over all of them. */
import { NodeKind, type Document, type Graph, type Passes } from './graph.ts';
import { recordsOf, stateOf, type State } from './series.ts';
import { getOrMake } from '../maps';

export type ChangeKind = 'added' | 'removed' | 'changed' | 'fused' | 'moved';

/** In the order in which they are told. */
export const CHANGE_KINDS: readonly ChangeKind[] = ['added', 'removed', 'changed', 'fused', 'moved'];

/** Nodes by what happened to them. Those that were removed are nodes of the state before. */
export type Changes = Readonly<Record<ChangeKind, readonly number[]>>;

const known = new WeakMap<Passes, Map<number, Changes>>();

/** What the pass that led to a state did; nothing for the first state. */
export function changesOf(document: Document, passes: Passes, number: number): Changes {
  const all = getOrMake(known, passes, () => new Map<number, Changes>());
  return getOrMake(all, number, () => (number === 0 ? nothing() : compare(document, passes, number)));
}

const nothing = (): Record<ChangeKind, number[]> => ({ added: [], removed: [], changed: [], fused: [], moved: [] });

function compare(document: Document, passes: Passes, number: number): Changes {
  const [before, after] = [stateOf(passes, number - 1), stateOf(passes, number)];
  const [old, now] = [recordsOf(passes, number - 1), recordsOf(passes, number)];
  const found = nothing();
  before.lineage.forEach((lineage, node) => {
    if (!after.nodeOf.has(lineage) && isInstruction(before.graph, node)) {
      found.removed.push(node);
    }
  });
  after.lineage.forEach((lineage, node) => {
    if (isInstruction(after.graph, node)) {
      const kind = happened(document, passes, before, after, node, old.get(lineage), now.get(lineage) as number);
      if (kind) {
        found[kind].push(node);
      }
    }
  });
  return found;
}

/** Arguments and results of bodies come and go with what they belong to. */
function isInstruction(graph: Graph, node: number): boolean {
  return graph.kind[node] === NodeKind.operation || graph.kind[node] === NodeKind.constant;
}

function happened(
  { strings }: Document,
  passes: Passes,
  before: State,
  after: State,
  node: number,
  old: number | undefined,
  now: number
): ChangeKind | undefined {
  const was = before.nodeOf.get(after.lineage[node]);
  if (was === undefined || old === undefined) {
    return 'added';
  }
  if (holder(before, was) !== holder(after, node)) {
    return strings[after.graph.regionKind[after.graph.region[node]]] === 'fusion' ? 'fused' : 'moved';
  }
  return old !== now && content(passes, old) !== content(passes, now) ? 'changed' : undefined;
}

/** The lineage of what holds a node, -1 for the program. */
function holder({ graph, lineage }: State, node: number): number {
  const owner = graph.regionOwner[graph.region[node]];
  return owner < 0 ? -1 : lineage[owner];
}

/** What a record is, makes, reads and says, whatever it is called and wherever it comes from. */
function content(passes: Passes, record: number): string {
  const { nodes, outputs, operands, attributes } = passes;
  const first = firstOf(passes);
  const slice = (column: readonly number[], list: 'outputs' | 'operands' | 'attributes'): readonly number[] =>
    column.slice(first[list][record], first[list][record] + nodes[list][record]);
  return [
    [nodes.kind[record], nodes.op[record]],
    slice(outputs.type, 'outputs'),
    slice(operands.lineage, 'operands'),
    slice(operands.output, 'operands'),
    slice(attributes.key, 'attributes'),
    slice(attributes.value, 'attributes')
  ].join(';');
}

type First = Readonly<Record<'outputs' | 'operands' | 'attributes', Int32Array>>;

const knownFirst = new WeakMap<Passes, First>();

function firstOf(passes: Passes): First {
  return getOrMake(knownFirst, passes, () => {
    const { outputs, operands, attributes } = passes.nodes;
    return { outputs: offsets(outputs), operands: offsets(operands), attributes: offsets(attributes) };
  });
}

/** What the readers of a node that a pass removed read after it, at the same place; -1 where that cannot be said. */
export function replacementOf(passes: Passes, number: number, removed: number): number {
  const [before, after] = [stateOf(passes, number - 1), stateOf(passes, number)];
  const { graph } = before;
  const [first, end] = [graph.firstValue[removed], graph.firstValue[removed + 1]];
  for (let reader = 0; reader < graph.nodeCount; reader++) {
    const here = after.nodeOf.get(before.lineage[reader]);
    const [from, to] = [graph.firstOperand[reader], graph.firstOperand[reader + 1]];
    if (here === undefined || after.graph.firstOperand[here + 1] - after.graph.firstOperand[here] !== to - from) {
      continue;
    }
    for (let i = from; i < to; i++) {
      if (graph.operandSource[i] >= first && graph.operandSource[i] < end) {
        return after.graph.valueNode[after.graph.operandSource[after.graph.firstOperand[here] + i - from]];
      }
    }
  }
  return -1;
}

/** Where an instruction of one state goes on in a later one: in itself, or in what took its place; -1 for nowhere. */
export function successorOf(passes: Passes, from: number, node: number, to: number): number {
  let at = node;
  for (let number = from + 1; number <= to && at >= 0; number++) {
    const same = stateOf(passes, number).nodeOf.get(stateOf(passes, number - 1).lineage[at]);
    at = same ?? replacementOf(passes, number, at);
  }
  return at;
}

/** One thing that happened to an instruction. */
export interface Event {
  /** The state after it. */
  readonly number: number;
  readonly kind: ChangeKind | 'given';
  /** Where it is added: the instructions of the state before that it was made of, as nodes there. */
  readonly from: readonly number[];
  /** Where it is removed: what took its place, a node of the state after, or -1. */
  readonly by: number;
}

/** All that happened to the node `node` of a state, from the first state to the last. */
export function storyOf(document: Document, passes: Passes, number: number, node: number): Event[] {
  const lineage = stateOf(passes, number).lineage[node];
  const events: Event[] = [];
  for (let at = 0; at < passes.states.length; at++) {
    const here = stateOf(passes, at).nodeOf.get(lineage);
    const before = at > 0 ? stateOf(passes, at - 1).nodeOf.get(lineage) : undefined;
    if (here === undefined && before !== undefined) {
      const was = stateOf(passes, at - 1).nodeOf.get(lineage) as number;
      events.push({ number: at, kind: 'removed', from: [], by: replacementOf(passes, at, was) });
    } else if (here !== undefined && at === 0) {
      events.push({ number: 0, kind: 'given', from: [], by: -1 });
    } else if (here !== undefined) {
      const changes = changesOf(document, passes, at);
      const kind = CHANGE_KINDS.find(one => one !== 'removed' && changes[one].includes(here));
      if (kind) {
        const from = kind === 'added' ? madeOf(document, passes, at, here) : [];
        events.push({ number: at, kind, from, by: -1 });
      }
    }
  }
  return events;
}

/** What a new instruction was made of: of a fusion, what went into it; else what went with the same equations. */
function madeOf(document: Document, passes: Passes, number: number, node: number): number[] {
  const [before, after] = [stateOf(passes, number - 1), stateOf(passes, number)];
  const changes = changesOf(document, passes, number);
  const inside = (one: number): boolean => after.graph.regionOwner[after.graph.region[one]] === node;
  const held = [...changes.fused, ...changes.moved].filter(inside);
  if (held.length) {
    return held.map(one => before.nodeOf.get(after.lineage[one]) as number);
  }
  const equations = new Set(equationsOf(after, node));
  return changes.removed.filter(one => equationsOf(before, one).some(equation => equations.has(equation)));
}

function equationsOf({ links }: State, node: number): number[] {
  const found: number[] = [];
  links.target.forEach((target, row) => {
    if (target === node) {
      found.push(links.source[row]);
    }
  });
  return found;
}

function offsets(counts: readonly number[]): Int32Array {
  const first = new Int32Array(counts.length);
  for (let i = 1; i < counts.length; i++) {
    first[i] = first[i - 1] + counts[i - 1];
  }
  return first;
}
