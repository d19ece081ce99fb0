/** Arguments and results that are parts of a tree, such as `params['Dense_0']['kernel']`, as that tree. */
import { NodeKind, type Document, type Graph } from '../../document/graph.ts';
import { typeText } from '../../view/label.ts';

/** Fewer parts of a tree than this are told one by one. */
export const LEAST_PARTS = 4;

export interface Leaf {
  /** How it is reached from what it is in: `[0]`, `['kernel']`, `.mu`; the whole name where it is in nothing. */
  readonly step: string;
  /** The whole path. */
  readonly path: string;
  readonly node: number;
  readonly type: string;
  readonly bytes: number;
}

export interface Branch {
  readonly step: string;
  readonly bytes: number;
  /** How many arrays are in it. */
  readonly count: number;
  readonly inside: readonly (Branch | Leaf)[];
}

export function isBranch(one: Branch | Leaf): one is Branch {
  return 'inside' in one;
}

/** The trees of the arguments or results among these nodes: of each name that holds enough of them, in their order. */
export function treesOf(document: Document, graph: Graph, nodes: Iterable<number>): Branch[] {
  const roots = new Map<string, Leaf[]>();
  for (const node of nodes) {
    const leaf = leafOf(document, graph, node);
    const root = leaf && stepsOf(leaf.path)[0];
    if (leaf && root !== undefined && root !== leaf.path) {
      roots.set(root, [...(roots.get(root) ?? []), leaf]);
    }
  }
  return [...roots]
    .filter(([, leaves]) => leaves.length >= LEAST_PARTS)
    .map(([root, leaves]) => branch(root, leaves, 1));
}

/** The whole tree that an argument or a result of the program is in; undefined for one that is in none. */
export function treeAround(document: Document, graph: Graph, node: number): Branch | undefined {
  const [root] = stepsOf(document.strings[graph.name[node]]);
  if (root === undefined || graph.kind[node] === NodeKind.operation) {
    return undefined;
  }
  const all = Array.from(graph.kind, (_, other) => other).filter(
    other => graph.kind[other] === graph.kind[node] && graph.region[other] === graph.region[node]
  );
  return treesOf(document, graph, all).find(({ step }) => stepsOf(step)[0] === root);
}

/** The nodes of the leaves of a tree. */
export function nodesIn(tree: Branch | Leaf): number[] {
  return isBranch(tree) ? tree.inside.flatMap(nodesIn) : [tree.node];
}

/** `params`, `['Dense_0']`, `.mu`: the steps of a path; none for what is no path. */
export function stepsOf(path: string): string[] {
  const [root] = /^[^[.\s]+/.exec(path) ?? [];
  if (root === undefined) {
    return [];
  }
  const rest = path.slice(root.length);
  const steps = rest.match(/\[(?:'[^']*'|"[^"]*"|[^\]]*)\]|\.[^[.\s]+/g) ?? [];
  return steps.join('') === rest ? [root, ...steps] : [];
}

function leafOf(document: Document, graph: Graph, node: number): Leaf | undefined {
  const kind = graph.kind[node];
  if ((kind !== NodeKind.argument && kind !== NodeKind.result) || graph.region[node] !== 0) {
    return undefined;
  }
  const path = document.strings[graph.name[node]];
  const value = kind === NodeKind.argument ? graph.firstValue[node] : graph.operandSource[graph.firstOperand[node]];
  if (value === undefined || value < 0 || !path) {
    return undefined;
  }
  const type = typeText(document, graph, value);
  return { step: path, path, node, type, bytes: document.types.bytes[graph.valueType[value]] };
}

/** Leaves that share their first `depth` steps; where all share more, these are one step. */
function branch(step: string, leaves: readonly Leaf[], depth: number): Branch {
  const groups = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const next = stepsOf(leaf.path)[depth] ?? '';
    groups.set(next, [...(groups.get(next) ?? []), leaf]);
  }
  const [only] = groups;
  if (groups.size === 1 && leaves.length > 1 && only[0]) {
    return branch(step + only[0], leaves, depth + 1);
  }
  const inside = [...groups].map(([next, own]) =>
    own.length === 1 ? { ...own[0], step: stepsOf(own[0].path).slice(depth).join('') } : branch(next, own, depth + 1)
  );
  return { step, bytes: leaves.reduce((sum, { bytes }) => sum + bytes, 0), count: leaves.length, inside };
}
