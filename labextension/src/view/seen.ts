/** Where nodes and rows are seen: in which box, whatever is open. */
import type { Graph } from '../document/graph.ts';
import { itemOfNode } from './folds.ts';
import type { Rows } from './outline.ts';
import type { VisibleGraph } from './visible.ts';
import { getOrMake } from '../maps';

/** The box that a node is seen in: its own, or that of the closed row that hides it; -1 where it is not seen. */
export function boxOfNode(rows: Rows, visible: VisibleGraph, node: number): number {
  const own = node < 0 ? undefined : boxesOf(visible).get(itemOfNode(node));
  return node < 0 ? -1 : (own ?? boxOfRow(rows, visible, rows.leaf[node]));
}

/** The box of an item, or of the closed row that hides it; -1 where it is not seen. */
export function boxOfItem(rows: Rows, visible: VisibleGraph, item: number): number {
  return item >= 0 ? boxOfRow(rows, visible, item) : boxOfNode(rows, visible, -1 - item);
}

/** The boxes that read what a node makes: where it has no box of its own, its chips stand there. */
export function boxesReading(graph: Graph, rows: Rows, visible: VisibleGraph, node: number): number[] {
  return [...(boxesReadingEach(graph, rows, visible, new Set([node])).get(node) ?? [])];
}

/** The same of several nodes; none for a node that nothing on the screen reads. */
export function boxesReadingEach(
  graph: Graph,
  rows: Rows,
  visible: VisibleGraph,
  nodes: ReadonlySet<number>
): ReadonlyMap<number, ReadonlySet<number>> {
  const boxes = new Map<number, Set<number>>();
  for (let reader = 0; reader < graph.nodeCount; reader++) {
    for (let i = graph.firstOperand[reader]; i < graph.firstOperand[reader + 1]; i++) {
      const node = graph.operandSource[i] >= 0 ? graph.valueNode[graph.operandSource[i]] : -1;
      const box = nodes.has(node) ? boxOfNode(rows, visible, reader) : -1;
      if (box >= 0) {
        boxes.set(node, (boxes.get(node) ?? new Set<number>()).add(box));
      }
    }
  }
  return boxes;
}

function boxOfRow({ outline }: Rows, visible: VisibleGraph, from: number): number {
  const boxes = boxesOf(visible);
  for (let row = from; row > 0; row = outline.parent[row]) {
    // A copy that is folded away is seen in the first.
    const box = boxes.get(row) ?? (outline.like[row] >= 0 ? boxes.get(outline.like[row]) : undefined);
    if (box !== undefined) {
      return box;
    }
  }
  return -1;
}

const known = new WeakMap<VisibleGraph, ReadonlyMap<number, number>>();

/** Boxes by their items. */
function boxesOf(visible: VisibleGraph): ReadonlyMap<number, number> {
  return getOrMake(known, visible, () => {
    const others = [...visible.others].flatMap(([box, nodes]) => nodes.map(node => [itemOfNode(node), box] as const));
    return new Map([...Array.from(visible.item, (item, box) => [item, box] as const), ...others]);
  });
}
