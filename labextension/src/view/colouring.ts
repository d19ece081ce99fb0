/**
 * What the colours of the boxes can say: one entry for each way. An entry puts the nodes of a graph into groups; a box
 * takes the group that most of what it holds is in.
 */
import { FateKind, NodeKind, NodeRole, RowKind, type Document, type Fates, type Graph } from '../document/graph.ts';
import type { Figure } from '../document/measured.ts';
import { attribute, nodeLabel } from './label.ts';
import { families } from './family.ts';
import { fatesOf } from './ghosts.ts';
import { kernelsThrough, optimizedOf } from './kernels.ts';
import { figuredOf, ofItem, wholeOf, type Figured } from './measures.ts';
import { rowsOf, type Rows } from './outline.ts';
import { aliveAtPeak } from './peak.ts';
import { madeBytes } from './search.ts';
import { Shape, type VisibleGraph } from './visible.ts';
import { bytesText } from './words.ts';

export interface Colouring {
  readonly key: string;
  /** For the menu, and in full for the legend. */
  readonly label: string;
  readonly title: string;
  /** True where the groups are steps from little to much. */
  readonly amount?: boolean;
  /** What is said of boxes that are in no group. */
  readonly rest?: string;
  /** The figure of a run that it tells. */
  readonly figure?: Figure;
  /** The groups of a graph; null where there is nothing of the kind. */
  groups(document: Document, graph: Graph): Groups | null;
}

export interface Groups {
  /** In the order of the legend; the first have colours of their own. */
  readonly names: readonly string[];
  /** Of each node, an index into `names`, or -1. */
  readonly of: Int32Array;
  /** Of each row of the outline that is such a group itself, likewise. */
  readonly ofRow?: Int32Array;
  /** The group of a region as one, where nothing in it has a part of its own: its item, as `VisibleGraph.item` has it. */
  ofFrame?(item: number): number;
}

export const colourings: readonly Colouring[] = [
  {
    key: 'kind',
    label: 'kind',
    title: 'kind of operation',
    groups: () => ({ names: families.map(one => one.label), of: NOBODY })
  },
  { key: 'fate', label: 'fate', title: 'fate', groups: byFate },
  { key: 'kernel', label: 'kernel', title: 'kernel', rest: 'no kernel of its own', groups: byKernel },
  { key: 'phase', label: 'phase', title: 'phase', rest: 'outside of these', groups: byPhase },
  { key: 'module', label: 'module', title: 'module', rest: 'in no module', groups: byModule },
  { key: 'type', label: 'type', title: 'type of number', groups: byType },
  { key: 'size', label: 'size', title: 'largest value', amount: true, groups: bySize },
  { key: 'time', label: 'time', title: 'share of the time of a run', rest: 'not timed apart', ...byShare('seconds') },
  { key: 'flops', label: 'FLOPs', title: 'share of the FLOPs', rest: 'not counted apart', ...byShare('flops') },
  {
    key: 'bytes',
    label: 'bytes',
    title: 'share of the bytes read and written',
    rest: 'not counted apart',
    ...byShare('bytes')
  },
  {
    key: 'alive',
    label: 'alive at the peak',
    title: 'alive when most is in memory',
    amount: true,
    rest: 'not alive then',
    groups: byAlive
  },
  { key: 'sharding', label: 'sharding', title: 'sharding', groups: bySharding }
];

const NOBODY = new Int32Array(0);

/** The group of each box, -1 for none; by kind of operation each box has its own already. */
export function groupsOfBoxes(
  document: Document,
  visible: VisibleGraph,
  colouring: Colouring,
  groups: Groups
): Int32Array {
  if (groups.of === NOBODY) {
    return Int32Array.from(visible.family);
  }
  const rows = rowsOf(document, visible.graph);
  const pick = colouring.amount ? largest : commonest;
  const ofFrame = groupsOfFrames(visible, groups);
  return Int32Array.from({ length: visible.count }, (_, box) => {
    const item = visible.item[box];
    if (visible.shape[box] !== Shape.box) {
      return ofFrame.get(box) ?? -1;
    }
    if (item >= 0 && groups.ofRow && groups.ofRow[item] >= 0) {
      return groups.ofRow[item];
    }
    return item < 0
      ? groups.of[-1 - item]
      : pick(operationsIn(visible.graph, rows, item, groups.of), groups.names.length);
  });
}

/** The groups of frames that are told of as one; of one inside another, as a kernel in its call, that is the inner one. */
function groupsOfFrames(
  { count, shape, item, parent }: VisibleGraph,
  { ofFrame }: Groups
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (let box = 0; ofFrame && box < count; box++) {
    const group = shape[box] === Shape.frame ? ofFrame(item[box]) : -1;
    if (group >= 0) {
      found.set(box, group);
    }
  }
  [...found.keys()].forEach(box => found.delete(parent[box]));
  return found;
}

/**
 * Groups in the order in which they get colours: where there are more than `most`, those of most boxes first, as a colour
 * is of no use that nothing on the screen has.
 */
export function ranked(of: Int32Array, groups: Groups, most: number): Int32Array {
  const { length } = groups.names;
  const rank = Int32Array.from({ length }, (_, group) => group);
  if (length > most) {
    const boxes = new Int32Array(length);
    of.forEach(group => group >= 0 && boxes[group]++);
    const order = rank.slice().sort((a, b) => boxes[b] - boxes[a] || a - b);
    order.forEach((group, at) => (rank[group] = at));
  }
  return rank;
}

function* operationsIn(graph: Graph, { outline }: Rows, row: number, of: Int32Array): Iterable<number> {
  for (let node = outline.first[row]; node < outline.end[row]; node++) {
    if (graph.kind[node] === NodeKind.operation && outline.role[node] <= NodeRole.counter && of[node] >= 0) {
      yield of[node];
    }
  }
}

function commonest(found: Iterable<number>, groups: number): number {
  const counts = new Int32Array(groups);
  let best = -1;
  for (const group of found) {
    counts[group]++;
  }
  for (let group = 0; group < groups; group++) {
    if (counts[group] > (best < 0 ? 0 : counts[best])) {
      best = group;
    }
  }
  return best;
}

function largest(found: Iterable<number>): number {
  let most = -1;
  for (const group of found) {
    most = Math.max(most, group);
  }
  return most;
}

/** Groups by a name for each node; those of most operations first, or in the order of `known` names. */
function byName(graph: Graph, nameOf: (node: number) => string, known?: readonly string[]): Groups | null {
  const counts = new Map<string, number>();
  const names = Array.from({ length: graph.nodeCount }, (_, node) => {
    const name = graph.kind[node] === NodeKind.operation ? nameOf(node) : '';
    if (name) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return name;
  });
  const order = known ?? [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const index = new Map(order.map((name, at) => [name, at]));
  return counts.size ? { names: order, of: Int32Array.from(names, name => index.get(name) ?? -1) } : null;
}

const FATES = [
  'its own operation',
  'fused',
  'dead',
  'simplified away',
  'folded',
  'merged',
  'nothing to compute'
] as const;

/** What is in a loop or a function that was kept has no fate of its own worth a colour. */
const FATE_NAMES: Readonly<Record<number, (typeof FATES)[number]>> = {
  [FateKind.alone]: FATES[0],
  [FateKind.fused]: FATES[1],
  [FateKind.both]: FATES[1],
  [FateKind.dead]: FATES[2],
  [FateKind.simplified]: FATES[3],
  [FateKind.consequence]: FATES[3],
  [FateKind.folded]: FATES[4],
  [FateKind.merged]: FATES[5],
  [FateKind.unlowered]: FATES[6],
  [FateKind.imported]: FATES[6],
  [FateKind.moved]: FATES[6]
};

/** What became of an equation, in the words of the legend; empty where that is not told. */
export function fateWord(fates: Fates | undefined, node: number): string {
  return fates ? (FATE_NAMES[fates.kind[node]] ?? '') : '';
}

function byFate(document: Document, graph: Graph): Groups | null {
  const fates = fatesOf(document, graph);
  return fates ? byName(graph, node => fateWord(fates, node), FATES) : null;
}

function byKernel(document: Document, graph: Graph): Groups | null {
  const optimized = optimizedOf(document, graph);
  if (optimized < 0) {
    return null;
  }
  const kernels = kernelsThrough(document, graph, optimized);
  const names = new Map<number, string>();
  const other = document.graphs[optimized];
  return byName(graph, node => {
    const [kernel = -1] = kernels(node);
    const name = kernel < 0 ? '' : (names.get(kernel) ?? kernelName(document, other, kernel));
    names.set(kernel, name);
    return name;
  });
}

function kernelName(document: Document, graph: Graph, kernel: number): string {
  return document.strings[graph.name[kernel]] || nodeLabel(document, graph, kernel);
}

/** In the order in which they run. */
function byPhase(document: Document, graph: Graph): Groups | null {
  const { outline, name } = rowsOf(document, graph);
  const phases = new Set(name.filter((_, row) => outline.kind[row] === RowKind.phase));
  return byRow(document, graph, RowKind.phase, one => one, [...phases]);
}

/** Modules of one kind that are numbered, such as `Dense_0` and `Dense_1`, are one group. */
function byModule(document: Document, graph: Graph): Groups | null {
  return byRow(document, graph, RowKind.module, name => name.replace(/_\d+$/, ''));
}

/** By the innermost row of a kind around each node. */
function byRow(
  document: Document,
  graph: Graph,
  kind: number,
  groupOf: (name: string) => string,
  known?: readonly string[]
): Groups | null {
  const { outline, name, leaf, count } = rowsOf(document, graph);
  const around = new Int32Array(count).fill(-1);
  for (let row = 1; row < count; row++) {
    around[row] = outline.kind[row] === kind ? row : around[outline.parent[row]];
  }
  const groups = byName(graph, node => (around[leaf[node]] >= 0 ? groupOf(name[around[leaf[node]]]) : ''), known);
  const index = new Map(groups?.names.map((one, at) => [one, at]));
  return (
    groups && {
      ...groups,
      ofRow: Int32Array.from(around, at => (at < 0 ? -1 : (index.get(groupOf(name[at])) ?? -1)))
    }
  );
}

function byType({ strings, types }: Document, graph: Graph): Groups | null {
  return byName(graph, node => {
    const value = graph.firstValue[node];
    return value < graph.firstValue[node + 1] ? strings[types.dtype[graph.valueType[value]]] : '';
  });
}

/** Steps of ten, the largest that is there last. */
const STEPS = 5;

function bySize(document: Document, graph: Graph): Groups | null {
  return byBytes(
    Float64Array.from({ length: graph.nodeCount }, (_, node) =>
      graph.kind[node] === NodeKind.operation ? madeBytes(document, graph, node) : 0
    )
  );
}

function byAlive(document: Document, graph: Graph): Groups | null {
  const alive = aliveAtPeak(document, graph);
  return alive && byBytes(alive);
}

/** By steps of ten. */
function byBytes(bytes: Float64Array): Groups | null {
  const most = bytes.reduce((sum, one) => Math.max(sum, one), 0);
  if (most === 0) {
    return null;
  }
  const top = Math.max(STEPS - 1, Math.floor(Math.log10(most)));
  const start = top - STEPS + 1;
  const names = Array.from({ length: STEPS }, (_, step) => {
    const [from, to] = [bytesText(10 ** (start + step)), bytesText(10 ** (start + step + 1))];
    return step === 0 ? `under ${to}` : step === STEPS - 1 ? `${from} and more` : `${from} to ${to}`;
  });
  return {
    names,
    of: Int32Array.from(bytes, size =>
      size > 0 ? Math.min(STEPS - 1, Math.max(0, Math.floor(Math.log10(size) + 1e-9) - start)) : -1
    )
  };
}

/** Of all that a run took, the least of each step. */
const SHARES = [
  [0, 'under 1 %'],
  [0.01, '1 to 5 %'],
  [0.05, '5 to 15 %'],
  [0.15, '15 to 40 %'],
  [0.4, '40 % and more']
] as const;

/** By the share of the whole that a box has with all that it holds. */
function byShare(figure: Figure): Pick<Colouring, 'amount' | 'figure' | 'groups'> {
  return { amount: true, figure, groups: (document, graph) => sharesOf(document, graph, figure) };
}

function sharesOf(document: Document, graph: Graph, figure: Figure): Groups | null {
  const measured = figuredOf(document, graph, figure);
  const whole = measured ? wholeOf(measured, figure) : 0;
  if (!measured || whole <= 0) {
    return null;
  }
  const step = (item: number): number => {
    const share = ofItem(document, measured, graph, figure, item) / whole;
    return share > 0 ? SHARES.filter(([least]) => share >= least).length - 1 : -1;
  };
  return {
    names: SHARES.map(([, name]) => name),
    of: Int32Array.from({ length: graph.nodeCount }, (_, node) =>
      graph.kind[node] === NodeKind.operation ? step(-1 - node) : -1
    ),
    ofRow: Int32Array.from({ length: rowsOf(document, graph).count }, (_, row) => step(row)),
    ofFrame: item => (isMeasuredAsOne(document, measured, graph, figure, item) ? step(item) : -1)
  };
}

/** True for a region of which only the operation that it is the inside of was measured, as a kernel is. */
function isMeasuredAsOne(document: Document, measured: Figured, graph: Graph, figure: Figure, item: number): boolean {
  const { outline } = rowsOf(document, graph);
  const owner = item < 0 ? -1 - item : outline.first[item];
  const own = measured.own[figure][owner];
  const owns = graph.firstRegion[owner] < graph.firstRegion[owner + 1];
  return owns && own > 0 && ofItem(document, measured, graph, figure, item) - own <= 1e-9 * own;
}

function bySharding(document: Document, graph: Graph): Groups | null {
  return byName(graph, node => attribute(document, graph, node, 'sharding') ?? '');
}
