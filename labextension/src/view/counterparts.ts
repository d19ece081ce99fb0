/**
 * Which box of the picture before a box was: the same item, or, in another stage, what its operations come from or
 * became. Then a new picture can begin where the old one stood.
 */
import { follow } from '../document/follow.ts';
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { rowOpens, rowsOf, type Rows } from './outline.ts';
import { boxOfNode } from './seen.ts';
import { Shape, type VisibleGraph } from './visible.ts';

/** Operations of a row that are asked where they come from; more rarely say anything else. */
const ASKED = 6;

/** For each box of `after` the box of `before` that it was, or -1. */
export function counterparts(document: Document, before: VisibleGraph, after: VisibleGraph): Int32Array {
  const boxOf = new Map(Array.from(before.item, (item, box) => [item, box]));
  if (before.graph === after.graph) {
    return after.item.map(item => boxOf.get(item) ?? -1);
  }
  const rows = rowsOf(document, after.graph);
  const ports = portsByName(before);
  return after.item.map((item, box) => {
    if (after.shape[box] === Shape.port) {
      return ports.get(nameOfPort(after, box)) ?? -1;
    }
    const like = item >= 0 ? rowsLike(document, after.graph, item, before.graph) : [];
    const same = like.find(row => boxOf.has(row));
    return same === undefined
      ? boxOfOrigins(document, before, after.graph, someNodes(after.graph, rows, item))
      : (boxOf.get(same) as number);
  });
}

function portsByName(visible: VisibleGraph): Map<string, number> {
  const ports = [...visible.shape.keys()].filter(box => visible.shape[box] === Shape.port);
  return new Map(ports.map(box => [nameOfPort(visible, box), box]));
}

/** An argument and a result may have the same name. */
function nameOfPort({ graph, node, label }: VisibleGraph, box: number): string {
  return `${graph.kind[node[box]]} ${label[box]}`;
}

/** The box of `before` that the first of these nodes with a link is seen in, or -1. */
function boxOfOrigins(document: Document, before: VisibleGraph, graph: Graph, nodes: readonly number[]): number {
  const rows = rowsOf(document, before.graph);
  for (const node of nodes) {
    for (const { node: old } of followed(document, graph, node, before.graph)) {
      const box = boxOfNode(rows, before, old);
      if (box >= 0) {
        return box;
      }
    }
  }
  return -1;
}

/** Rows of the graph `to` that are the row `row` of the graph `from`: what holds its operations there, by the same name. */
export function rowsLike(document: Document, from: Graph, row: number, to: Graph): number[] {
  return [...linksByRow(document, from, row, to).keys()].sort((a, b) => a - b);
}

/** Of those rows that which holds most, as far as it opens; -1 where there is none. */
export function rowMostLike(document: Document, from: Graph, row: number, to: Graph): number {
  const rows = rowsOf(document, to);
  const found = [...linksByRow(document, from, row, to)].filter(([like]) => rowOpens(rows, like));
  return found.sort(([one, held], [other, more]) => more - held || one - other)[0]?.[0] ?? -1;
}

/** How many links lead into each such row. */
function linksByRow(document: Document, from: Graph, row: number, to: Graph): Map<number, number> {
  const [here, there] = [rowsOf(document, from), rowsOf(document, to)];
  const { kind, parent } = there.outline;
  const found = new Map<number, number>();
  for (const node of someNodes(from, here, row)) {
    for (const { node: other } of followed(document, from, node, to)) {
      let at = there.leaf[other];
      while (at > 0 && !(kind[at] === here.outline.kind[row] && there.name[at] === here.name[row])) {
        at = parent[at];
      }
      if (at > 0) {
        found.set(at, (found.get(at) ?? 0) + 1);
      }
    }
  }
  return found;
}

function followed(document: Document, from: Graph, node: number, to: Graph): readonly { node: number }[] {
  return follow(document, document.graphs.indexOf(from), node, document.graphs.indexOf(to));
}

/** Some operations of an item, from its beginning to its end; of an argument or a result itself. */
function someNodes(graph: Graph, rows: Rows, item: number): number[] {
  if (item < 0) {
    return [-1 - item];
  }
  const { first, end } = rows.outline;
  const nodes: number[] = [];
  for (let node = first[item]; node < end[item]; node++) {
    if (graph.kind[node] === NodeKind.operation) {
      nodes.push(node);
    }
  }
  const step = Math.max(1, Math.floor(nodes.length / ASKED));
  return nodes.filter((_, i) => i % step === 0);
}
