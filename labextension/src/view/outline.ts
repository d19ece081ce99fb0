/**
 * The outline by which a graph is folded: that of the document, or, for a graph without one, the tree of its regions.
 * Everything that is asked of it while drawing is worked out once.
 */
import { NodeKind, NodeRole, RowKind, type Document, type Graph, type Outline } from '../document/graph.ts';
import { nodeLabel, regionLabel, sayNothing } from './label.ts';

/** An outline with what follows from its columns. */
export interface Rows {
  readonly outline: Outline;
  readonly count: number;
  readonly name: readonly string[];
  readonly detail: readonly string[];
  /** Rows right inside row r: `children[firstChild[r]]` to `children[firstChild[r + 1]]`. */
  readonly firstChild: Int32Array;
  readonly children: Int32Array;
  /** How many operations a row holds: all but those that are looked through, and those that are drawn as boxes. */
  readonly operations: Int32Array;
  readonly boxes: Int32Array;
  /** The innermost row of each node. */
  readonly leaf: Int32Array;
  /** The row of a phase that a row stands in, or -1. */
  readonly phase: Int32Array;
}

const known = new WeakMap<Graph, Rows>();

export function rowsOf(document: Document, graph: Graph): Rows {
  let rows = known.get(graph);
  if (!rows) {
    const given = document.outlines.find(outline => document.graphs[outline.graph] === graph);
    rows = given
      ? complete(
          graph,
          given,
          Array.from(given.name, name => document.strings[name]),
          Array.from(given.detail, detail => document.strings[detail])
        )
      : fromRegions(document, graph);
    known.set(graph, rows);
  }
  return rows;
}

/** True for a row that opens and closes: it holds something that is drawn by itself. */
export function rowOpens(rows: Rows, row: number): boolean {
  const { kind } = rows.outline;
  return rows.boxes[row] > 1 || kind[row] === RowKind.loop || kind[row] === RowKind.cond || kind[row] === RowKind.body;
}

/** The rows inside `row`, one level down. */
export function childrenOf(rows: Rows, row: number): Int32Array {
  return rows.children.subarray(rows.firstChild[row], rows.firstChild[row + 1]);
}

function complete(graph: Graph, outline: Outline, name: readonly string[], detail: readonly string[]): Rows {
  const count = outline.parent.length;
  const firstChild = new Int32Array(count + 1);
  for (let row = 1; row < count; row++) {
    firstChild[outline.parent[row] + 1]++;
  }
  for (let row = 0; row < count; row++) {
    firstChild[row + 1] += firstChild[row];
  }
  const next = firstChild.slice();
  const children = new Int32Array(Math.max(0, count - 1));
  for (let row = 1; row < count; row++) {
    children[next[outline.parent[row]]++] = row;
  }
  const countUpTo = (mostRole: number): Int32Array => {
    const before = new Int32Array(graph.nodeCount + 1);
    for (let node = 0; node < graph.nodeCount; node++) {
      const counts = graph.kind[node] === NodeKind.operation && outline.role[node] <= mostRole;
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
  return {
    outline,
    count,
    name,
    detail,
    firstChild,
    children,
    operations: countUpTo(NodeRole.counter),
    boxes: countUpTo(NodeRole.box),
    leaf,
    phase
  };
}

const LOOPS = new Set(['scan', 'while']);
const CONDITIONS = new Set(['cond', 'conditional', 'case', 'if']);

/** A row for each owner of regions and, where it owns several, one for each of these. */
function fromRegions(document: Document, graph: Graph): Rows {
  const { strings } = document;
  const columns = { parent: [-1], kind: [RowKind.program as number], first: [0], end: [graph.nodeCount], region: [-1] };
  const name = [strings[graph.regionName[0]]];
  const role = new Uint8Array(graph.nodeCount);
  const rowOfRegion = new Int32Array(graph.regionCount);
  const add = (parent: number, kind: number, first: number, end: number, region: number, text: string): number => {
    columns.parent.push(parent);
    columns.kind.push(kind);
    columns.first.push(first);
    columns.end.push(end);
    columns.region.push(region);
    return name.push(text) - 1;
  };
  for (let node = 0; node < graph.nodeCount; node++) {
    const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
    if (first === end) {
      continue;
    }
    const op = strings[graph.op[node]];
    const kind = LOOPS.has(op) ? RowKind.loop : CONDITIONS.has(op) ? RowKind.cond : RowKind.call;
    const around = rowOfRegion[graph.region[node]];
    const last = graph.regionEnd[graph.ownedRegions[end - 1]];
    const only = end === first + 1 ? graph.ownedRegions[first] : -1;
    const row = add(around, kind, node, last, only, nodeLabel(document, graph, node));
    for (let i = first; i < end; i++) {
      const region = graph.ownedRegions[i];
      const [from, to] = [graph.regionStart[region], graph.regionEnd[region]];
      rowOfRegion[region] =
        only >= 0 ? row : add(row, RowKind.body, from, to, region, regionLabel(document, graph, region));
    }
    // Owners hand values on; what they hold is drawn.
    role[node] = NodeRole.through;
  }
  const rows = columns.parent.length;
  const none = (): Int32Array => new Int32Array(rows).fill(-1);
  const zero = new Int32Array(rows);
  const outline: Outline = {
    graph: document.graphs.indexOf(graph),
    parent: Int32Array.from(columns.parent),
    kind: Uint8Array.from(columns.kind),
    name: zero,
    detail: zero,
    variable: zero,
    first: Int32Array.from(columns.first),
    end: Int32Array.from(columns.end),
    closed: new Uint8Array(rows),
    count: new Int32Array(rows).fill(1),
    copy: none(),
    like: none(),
    twin: none(),
    region: Int32Array.from(columns.region),
    role
  };
  return complete(graph, outline, name, new Array<string>(rows).fill(''));
}

/** The row of a loop or condition says its operation where its own name is something else. */
export function rowOperation(document: Document, graph: Graph, { outline, name }: Rows, row: number): string {
  const kind = outline.kind[row];
  if (kind !== RowKind.loop && kind !== RowKind.cond && kind !== RowKind.call) {
    return '';
  }
  const node = outline.first[row];
  const op = document.strings[graph.op[node]];
  const plain = kind === RowKind.call && (op === 'jit' || op === 'pjit' || op === 'call');
  return plain || name[row].startsWith(op) || graph.firstRegion[node] === graph.firstRegion[node + 1] ? '' : op;
}

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
      return nodeLabel(document, graph, node);
    }
  }
  return rows.detail[row] || 'operations';
}
