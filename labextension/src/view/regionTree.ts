/** The outline of a graph that came without one: the tree of its regions. */
import { NodeRole, RowKind, type Document, type Graph, type Outline } from '../document/graph.ts';
import { CONDITIONS, LOOPS } from './control.ts';
import { nodeLabel, regionLabel } from './label.ts';
import { partStarts, type NamedPart } from './namedParts.ts';
import type { Rows } from './outline.ts';

/**
 * A row for each owner of regions and, where it owns several, one for each of these. What runs by kernels has long lists
 * of them: these are cut into parts, which have the names that the rows of the program give.
 */
export function regionTree(
  document: Document,
  graph: Graph,
  program: Rows | undefined
): { readonly outline: Outline; readonly name: readonly string[] } {
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
  const starts = program ? partStarts(document, graph, program) : new Map<number, readonly NamedPart[]>();
  /** Of a region that is in parts, the row that is around all of them. */
  const rowsBefore = new Map<number, number>();
  const rowOfPart = new Map<NamedPart, number>();
  for (let node = 0; node < graph.nodeCount; node++) {
    for (const part of starts.get(node) ?? []) {
      const region = graph.region[node];
      const around = part.within ? rowOfPart.get(part.within) : rowsBefore.get(region);
      rowsBefore.set(region, rowsBefore.get(region) ?? rowOfRegion[region]);
      const row = add(around ?? rowOfRegion[region], RowKind.part, node, part.end, -1, part.name);
      rowOfPart.set(part, row);
      rowOfRegion[region] = row;
    }
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
  return { outline, name };
}
