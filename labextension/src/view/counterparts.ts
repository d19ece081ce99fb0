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
  const ports = portsByName(before);
  const from = new Int32Array(after.count).fill(-1);
  const likes: { readonly box: number; readonly boxes: readonly number[] }[] = [];
  after.item.forEach((item, box) => {
    if (after.shape[box] === Shape.port) {
      from[box] = ports.get(nameOfPort(after, box)) ?? -1;
      return;
    }
    const same = item >= 0 ? linksByRow(document, after.graph, item, before.graph) : new Map<number, number>();
    const rows = mostFirst([...same].filter(([row]) => boxOf.has(row)));
    const boxes = rows.map(row => boxOf.get(row) as number);
    likes.push({ box, boxes: boxes.length ? boxes : boxesOfOrigins(document, before, after.graph, item) });
  });
  // What was moved between two boxes makes either like both: what is like one alone comes first, and no two boxes are
  // the same as long as there is another.
  const taken = new Set<number>();
  for (const { box, boxes } of likes.sort((a, b) => a.boxes.length - b.boxes.length || a.box - b.box)) {
    from[box] = boxes.find(one => !taken.has(one)) ?? boxes[0] ?? -1;
    taken.add(from[box]);
  }
  return from;
}

function portsByName(visible: VisibleGraph): Map<string, number> {
  const ports = [...visible.shape.keys()].filter(box => visible.shape[box] === Shape.port);
  return new Map(ports.map(box => [nameOfPort(visible, box), box]));
}

/** An argument and a result may have the same name. */
function nameOfPort({ graph, node, label }: VisibleGraph, box: number): string {
  return `${graph.kind[node[box]]} ${label[box]}`;
}

/** The boxes of `before` that the operations of an item are seen in, first that of most. */
function boxesOfOrigins(document: Document, before: VisibleGraph, graph: Graph, item: number): number[] {
  const rows = rowsOf(document, before.graph);
  const found = new Map<number, number>();
  for (const node of someNodes(graph, rowsOf(document, graph), item)) {
    for (const { node: old } of followed(document, graph, node, before.graph)) {
      const box = boxOfNode(rows, before, old);
      if (box >= 0) {
        found.set(box, (found.get(box) ?? 0) + 1);
      }
    }
  }
  return mostFirst([...found]);
}

/** Rows of the graph `to` that are the row `row` of the graph `from`: what holds its operations there, by the same name. */
export function rowsLike(document: Document, from: Graph, row: number, to: Graph): number[] {
  return [...linksByRow(document, from, row, to).keys()].sort((a, b) => a - b);
}

/** Of those rows that which holds most, as far as it opens; -1 where there is none. */
export function rowMostLike(document: Document, from: Graph, row: number, to: Graph): number {
  const rows = rowsOf(document, to);
  const found = [...linksByRow(document, from, row, to)].filter(([like]) => rowOpens(rows, like));
  return mostFirst(found)[0] ?? -1;
}

/** What is counted, most first. */
function mostFirst(counts: [number, number][]): number[] {
  return counts.sort(([one, held], [other, more]) => more - held || one - other).map(([counted]) => counted);
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
