/** What there is to say about a row of the outline, as data: the inspector shows it, tests read it. */
import { NodeKind, NodeRole, RowKind, type Document, type Graph } from '../../document/graph.ts';
import { itemOfNode } from '../../view/folds.ts';
import { boxLabel, rowLabel, rowsOf, type Rows } from '../../view/outline.ts';
import { bytesText } from '../../view/words.ts';
import { details, stageLinks, type Details, type Link } from './details.ts';
import { fateOfMany } from './fate.ts';
import { linksOutside } from './naming.ts';
import { trafficLines } from './trafficLines.ts';
import { measureLines } from './measured.ts';
import { treesOf } from './pathTree.ts';
import { valueLines } from './values.ts';

/** The operations that an item stands for. */
export function nodesOf(graph: Graph, rows: Rows, item: number): number[] {
  if (item < 0) {
    return [-1 - item];
  }
  const { first, end, role } = rows.outline;
  const found: number[] = [];
  for (let node = first[item]; node < end[item]; node++) {
    if (graph.kind[node] === NodeKind.operation && role[node] <= NodeRole.counter) {
      found.push(node);
    }
  }
  return found;
}

/** The item that a node is: the row of its bodies where it owns any, else the node itself. */
export function itemFor(graph: Graph, rows: Rows, node: number): number {
  const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
  if (first < end) {
    const last = graph.regionEnd[graph.ownedRegions[end - 1]];
    for (let row = rows.leaf[node]; row > 0; row = rows.outline.parent[row]) {
      if (rows.outline.first[row] === node && rows.outline.end[row] === last) {
        return row;
      }
    }
  }
  return itemOfNode(node);
}

export function itemLabel(document: Document, graph: Graph, rows: Rows, item: number): string {
  return item < 0 ? boxLabel(document, graph, rows, -1 - item) : rowLabel(document, graph, rows, item);
}

const KINDS: Readonly<Record<number, string>> = {
  [RowKind.phase]: 'phase',
  [RowKind.module]: 'module',
  [RowKind.call]: 'call',
  [RowKind.statement]: 'statement',
  [RowKind.function]: 'function',
  [RowKind.loop]: 'loop',
  [RowKind.cond]: 'condition',
  [RowKind.body]: 'body',
  [RowKind.recomputed]: 'recomputed in the backward pass',
  [RowKind.expression]: 'expression',
  [RowKind.part]: 'part of a long list'
};

export function rowDetails(document: Document, graph: Graph, row: number): Details {
  const rows = rowsOf(document, graph);
  const { outline } = rows;
  const nodes = nodesOf(graph, rows, row);
  const first = outline.first[row];
  // A loop or a call is told by itself, anything else by what it ends in.
  const owns = graph.firstRegion[first] < graph.firstRegion[first + 1];
  const main = owns ? first : (nodes[nodes.length - 1] ?? first);
  const inner = details(document, graph, main);
  const title = rowLabel(document, graph, rows, row);
  if (nodes.length === 1) {
    // A row of one operation is that operation, by another name.
    const op = document.strings[graph.op[main]];
    const measures = [
      ...measureLines(document, graph, row),
      ...trafficLines(document, graph, nodes),
      ...valueLines(document, graph, main)
    ];
    return {
      ...inner,
      measures,
      title,
      kind: op === title ? '' : op,
      code: rows.detail[row] === title ? '' : rows.detail[row]
    };
  }
  const inside = (node: number): boolean => node >= outline.first[row] && node < outline.end[row];
  const reads = new Set<number>();
  const readBy = new Set<number>();
  const values = new Map<number, Details['values'][number]>();
  const made = new Set<number>();
  for (let node = outline.first[row]; node < outline.end[row]; node++) {
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = graph.operandSource[i];
      if (source >= 0 && !inside(graph.valueNode[source])) {
        reads.add(graph.valueNode[source]);
      }
    }
  }
  for (let node = 0; node < graph.nodeCount; node++) {
    if (inside(node)) {
      continue;
    }
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = graph.operandSource[i];
      if (source >= 0 && inside(graph.valueNode[source])) {
        readBy.add(node);
        made.add(source);
      }
    }
  }
  for (const value of [...made].sort((a, b) => a - b).slice(0, MOST_VALUES)) {
    const type = graph.valueType[value];
    values.set(value, {
      type: document.strings[document.types.text[type]],
      size: bytesText(document.types.bytes[type])
    });
  }
  const times = outline.count[row] > 1 ? `${outline.count[row]} copies` : '';
  return {
    title,
    kind: [KINDS[outline.kind[row]], times].filter(Boolean).join(', '),
    values: [...values.values()],
    operations: rows.operations[row] - (owns && outline.role[first] === NodeRole.box ? 1 : 0),
    parameters: [],
    code: rows.detail[row] === title ? '' : rows.detail[row],
    origins: [],
    places: inner.places,
    otherPlaces: inner.otherPlaces,
    scope: '',
    fate: fateOfMany(document, graph, nodes),
    stages: stageLinks(document, graph, nodes),
    reads: linksOutside(document, graph, rows, row, reads),
    readTrees: treesOf(document, graph, [...reads]),
    readBy: linksOutside(document, graph, rows, row, readBy),
    inside: around(document, graph, rows, row),
    measures: [...measureLines(document, graph, row), ...trafficLines(document, graph, nodes)]
  };
}

const MOST_VALUES = 6;

/** The rows around a row as links. */
function around(document: Document, graph: Graph, rows: Rows, row: number): Link[] {
  const { parent, kind, first } = rows.outline;
  const found: Link[] = [];
  for (let at = parent[row]; at > 0; at = parent[at]) {
    if (kind[at] !== RowKind.statement && kind[at] !== RowKind.copy) {
      found.unshift({ node: first[at], row: at, text: rowLabel(document, graph, rows, at) });
    }
  }
  return found;
}
