/**
 * The outline by which a graph is folded: that of the document, or, for a graph without one, the tree of its regions.
 * Everything that is asked of it while drawing is worked out once.
 */
import { NodeKind, NodeRole, RowKind, type Document, type Graph, type Outline } from '../document/graph.ts';
import { CONDITIONS, LOOPS } from './control.ts';
import { workOf } from './work.ts';
import { programOfTree } from './kernelTree.ts';
import { nodeLabel, sayNothing } from './label.ts';
import { regionTree } from './regionTree.ts';
import { getOrMake } from '../maps';

/** An outline with what follows from its columns. */
export interface Rows {
  readonly outline: Outline;
  /** Whether the outline is that of the person's program, not that of the graph's own regions. */
  readonly ofProgram: boolean;
  readonly count: number;
  readonly name: readonly string[];
  readonly detail: readonly string[];
  /** Rows right inside row r: `children[firstChild[r]]` to `children[firstChild[r + 1]]`. */
  readonly firstChild: Int32Array;
  readonly children: Int32Array;
  /** How many operations a row holds: all but those that are looked through, and those that are drawn as boxes. */
  readonly operations: Int32Array;
  readonly boxes: Int32Array;
  /** How much its operations do. */
  readonly work: Float64Array;
  /** The innermost row of each node. */
  readonly leaf: Int32Array;
  /** Nodes of which row r is the innermost: `own[firstOwn[r]]` to `own[firstOwn[r + 1]]`. */
  readonly firstOwn: Int32Array;
  readonly own: Int32Array;
  /** The row of a phase that a row stands in, or -1. */
  readonly phase: Int32Array;
}

const known = new WeakMap<Graph, Rows>();

export function rowsOf(document: Document, graph: Graph): Rows {
  return getOrMake(known, graph, () => {
    const given = document.outlines.find(outline => document.graphs[outline.graph] === graph);
    return given
      ? complete(
          document,
          graph,
          given,
          true,
          Array.from(given.name, name => document.strings[name]),
          Array.from(given.detail, detail => document.strings[detail])
        )
      : fromRegions(document, graph, programRows(document, graph));
  });
}

/** True for a row that opens and closes: it holds something that is drawn by itself. */
export function rowOpens(rows: Rows, row: number): boolean {
  const { kind } = rows.outline;
  // A branch may only hand values on.
  const isBranch = kind[row] === RowKind.body && rows.operations[row] > 0;
  return rows.boxes[row] > 1 || kind[row] === RowKind.loop || kind[row] === RowKind.cond || isBranch;
}

/** The rows inside `row`, one level down. */
export function childrenOf(rows: Rows, row: number): Int32Array {
  return rows.children.subarray(rows.firstChild[row], rows.firstChild[row + 1]);
}

/** The nodes that stand in `row` and in none of the rows inside it. */
export function ownNodes(rows: Rows, row: number): Int32Array {
  return rows.own.subarray(rows.firstOwn[row], rows.firstOwn[row + 1]);
}

/**
 * True for a row that would only be a frame around one box when it is open, which stays closed: both say the same. Where
 * its twin shows more, it is open beside that.
 */
export function framesOne(rows: Rows, row: number): boolean {
  const twin = rows.outline.twin[row];
  return holdsOne(rows, row) && (twin < 0 || holdsOne(rows, twin));
}

function holdsOne(rows: Rows, row: number): boolean {
  const { kind, count, closed } = rows.outline;
  if (CONTAINERS.has(kind[row])) {
    return false;
  }
  const inner = count[row] > 1 ? childrenOf(rows, row)[0] : row;
  const drawn = childrenOf(rows, inner).filter(child => rows.boxes[child]);
  const own = drawn.reduce((left, child) => left - rows.boxes[child], rows.boxes[inner]);
  return drawn.length === 1 ? own === 0 && closed[drawn[0]] === 1 : drawn.length === 0 && own === 1;
}

/** What is round one box, too, tells how that runs. */
const CONTAINERS: ReadonlySet<number> = new Set([RowKind.loop, RowKind.cond, RowKind.body, RowKind.phase]);

/**
 * True for a call that holds nothing but repeats, of which a library wrote more than the person did: its name says more
 * than what is in it.
 */
export function isMachinery(rows: Rows, row: number): boolean {
  const { kind, first, end } = rows.outline;
  const inside = childrenOf(rows, row);
  if (kind[row] !== RowKind.call || !inside.length || inside.some(child => kind[child] !== RowKind.stack)) {
    return false;
  }
  let all = 0;
  let unnamed = 0;
  for (const stack of inside) {
    const [copy = stack] = childrenOf(rows, stack);
    for (let node = first[copy]; node < end[copy]; node++) {
      const leaf = kind[rows.leaf[node]];
      all++;
      unnamed += Number(leaf === RowKind.copy || leaf === RowKind.stack);
    }
  }
  return unnamed > all / 2;
}

/**
 * True for an operation that is no more than what is drawn inside of it: no loop or condition, and without constants,
 * which are seen inside.
 */
function isKernel({ strings }: Document, graph: Graph, { role }: Outline, node: number): boolean {
  const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
  const op = strings[graph.op[node]];
  if (first === end || role[node + 1] === NodeRole.detail || LOOPS.has(op) || CONDITIONS.has(op)) {
    return false;
  }
  const inside = [graph.regionStart[graph.ownedRegions[first]], graph.regionEnd[graph.ownedRegions[end - 1]]];
  return !graph.kind.subarray(inside[0], inside[1]).includes(NodeKind.constant);
}

function complete(
  document: Document,
  graph: Graph,
  outline: Outline,
  ofProgram: boolean,
  name: readonly string[],
  detail: readonly string[]
): Rows {
  const count = outline.parent.length;
  const [firstChild, children] = grouped(outline.parent, count, 1);
  const countUpTo = (mostRole: number, isLeft: (node: number) => boolean = () => false): Int32Array => {
    const before = new Int32Array(graph.nodeCount + 1);
    for (let node = 0; node < graph.nodeCount; node++) {
      const counts = graph.kind[node] === NodeKind.operation && outline.role[node] <= mostRole && !isLeft(node);
      before[node + 1] = before[node] + (counts ? 1 : 0);
    }
    return Int32Array.from(outline.first, (first, row) => before[outline.end[row]] - before[first]);
  };
  const leaf = new Int32Array(graph.nodeCount);
  const phase = new Int32Array(count).fill(-1);
  for (let row = 0; row < count; row++) {
    leaf.fill(row, outline.first[row], outline.end[row]);
    phase[row] = outline.kind[row] === RowKind.phase ? row : row > 0 ? phase[outline.parent[row]] : -1;
  }
  const [firstOwn, own] = grouped(leaf, count);
  const operations = countUpTo(NodeRole.counter);
  return {
    outline,
    ofProgram,
    count,
    name,
    detail,
    firstChild,
    children,
    operations,
    boxes: countUpTo(NodeRole.box, node => isKernel(document, graph, outline, node)),
    work: workIn(document, graph, outline),
    leaf,
    firstOwn,
    own,
    phase
  };
}

/** How much the operations of each row do, but for those that are looked through. */
function workIn(document: Document, graph: Graph, { first, end, role }: Outline): Float64Array {
  const before = new Float64Array(graph.nodeCount + 1);
  workOf(document, graph).forEach((work, node) => {
    before[node + 1] = before[node] + (role[node] <= NodeRole.counter ? work : 0);
  });
  return Float64Array.from(first, (from, row) => before[end[row]] - before[from]);
}

/** Things from `from` on by what each is in, and where each of these begins among them. */
function grouped(within: Int32Array, groups: number, from = 0): [Int32Array, Int32Array] {
  const first = new Int32Array(groups + 1);
  for (let thing = from; thing < within.length; thing++) {
    first[within[thing] + 1]++;
  }
  for (let group = 0; group < groups; group++) {
    first[group + 1] += first[group];
  }
  const next = first.slice();
  const things = new Int32Array(Math.max(0, within.length - from));
  for (let thing = from; thing < within.length; thing++) {
    things[next[within[thing]]++] = thing;
  }
  return [first, things];
}

/** For a graph folded by its kernels, the rows of the program itself: parts of a long list are named by them. */
function programRows(document: Document, graph: Graph): Rows | undefined {
  const program = programOfTree(document, document.graphs.indexOf(graph));
  return program === undefined ? undefined : rowsOf(document, document.graphs[program]);
}

/** The rows of a graph that has no outline: the tree of its regions. */
function fromRegions(document: Document, graph: Graph, program: Rows | undefined): Rows {
  const { outline, name } = regionTree(document, graph, program);
  return complete(document, graph, outline, false, name, new Array<string>(name.length).fill(''));
}

/** The operation that a loop or condition is, which others may prepare for; else the first of a row. */
export function ownerIn(document: Document, graph: Graph, { first, end, kind }: Outline, row: number): number {
  const wanted = kind[row] === RowKind.loop ? LOOPS : CONDITIONS;
  const looked = kind[row] === RowKind.loop || kind[row] === RowKind.cond ? end[row] : first[row];
  for (let node = first[row]; node < looked; node++) {
    if (wanted.has(document.strings[graph.op[node]])) {
      return node;
    }
  }
  return first[row];
}

/** Whether a row holds no operation but `node` and what is in its bodies. */
function isOnly(graph: Graph, { first, end }: Outline, row: number, node: number): boolean {
  const last = graph.ownedRegions[graph.firstRegion[node + 1] - 1];
  const rest = graph.kind.subarray(graph.regionEnd[last], end[row]);
  return node === first[row] && !rest.includes(NodeKind.operation);
}

/** The row of a loop or condition says its operation where its own name is something else; a branch, which it is. */
export function rowOperation(document: Document, graph: Graph, rows: Rows, row: number): string {
  const { outline, name } = rows;
  const kind = outline.kind[row];
  const region = graph.region[outline.first[row]];
  if (kind === RowKind.body && document.strings[graph.regionKind[region]] === 'branch') {
    const branch = document.strings[graph.regionName[region]];
    return name[row].startsWith(branch) ? '' : branch;
  }
  if (kind !== RowKind.loop && kind !== RowKind.cond && kind !== RowKind.call && !isWhole(graph, outline, row)) {
    return '';
  }
  const node = ownerIn(document, graph, outline, row);
  const op = document.strings[graph.op[node]];
  const plain = kind === RowKind.call && (op === 'jit' || op === 'pjit' || op === 'call');
  if (plain || name[row].startsWith(op) || graph.firstRegion[node] === graph.firstRegion[node + 1]) {
    return '';
  }
  // A call of several kernels is none of them; what is one kernel says which.
  if (kind === RowKind.call && !isOnly(graph, outline, row, node)) {
    return '';
  }
  const own = document.strings[graph.name[node]];
  return op === 'fusion' && own !== name[row] ? own : op;
}

/** True for a body that is all of its operation, as that of `shard_map`, unlike a branch. */
function isWhole(graph: Graph, { kind, region, first }: Rows['outline'], row: number): boolean {
  return kind[row] === RowKind.body && region[row] >= 0 && graph.regionOwner[region[row]] === first[row];
}

/**
 * What a node is called on a box or chip. In the outline of a program it has no number of those that the compiler adds
 * to the names of its instructions so that each is another; its whole name is told where it is looked at.
 */
export function boxLabel(document: Document, graph: Graph, rows: Rows, node: number): string {
  const label = nodeLabel(document, graph, node);
  return rows.ofProgram && graph.kind[node] === NodeKind.operation ? label.replace(NUMBERED, '') : label;
}

/** `copy.16`, `reduce.3.clone.1`. */
const NUMBERED = /(?<=.)(\.(\d+|clone|remat\d*))+$/;

/** The name of a row; where it has none that says anything, that of its stack if it is a copy, else of its operation. */
export function rowLabel(document: Document, graph: Graph, rows: Rows, row: number): string {
  const own = rows.name[row];
  if (!sayNothing.has(own)) {
    return own;
  }
  const { first, end, role, copy, parent } = rows.outline;
  if (copy[row] >= 0) {
    return rowLabel(document, graph, rows, parent[row]);
  }
  for (let node = first[row]; node < end[row]; node++) {
    if (graph.kind[node] === NodeKind.operation && role[node] === NodeRole.box) {
      return boxLabel(document, graph, rows, node);
    }
  }
  return rows.detail[row] || 'operations';
}
