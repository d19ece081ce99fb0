/** Where a node is seen: in which box, and what must be open for it to have one. */
import type { Graph } from '../document/graph.ts';
import { itemOfNode } from '../view/folds.ts';
import { rowOpens, type Rows } from '../view/outline.ts';
import type { VisibleGraph } from '../view/visible.ts';
import { itemFor } from './row.ts';

/**
 * The open rows with those around `node` added, but for rows that are one expression: these are one thing. The same set
 * where nothing is missing.
 */
export function openAround(graph: Graph, rows: Rows, open: ReadonlySet<number>, node: number): ReadonlySet<number> {
  const { outline, leaf } = rows;
  const around: number[] = [];
  const own = node < 0 ? -1 : itemFor(graph, rows, node);
  for (let row = node < 0 ? 0 : own >= 0 ? outline.parent[own] : leaf[node]; row > 0; row = outline.parent[row]) {
    around.unshift(row);
  }
  const expression = around.findIndex(row => outline.closed[row]);
  const needed = (expression < 0 ? around : around.slice(0, expression)).filter(row => rowOpens(rows, row));
  return needed.every(row => open.has(row)) ? open : new Set([...open, ...needed]);
}

/** The box that a node is seen in: its own, or that of the closed row that hides it; -1 where it is not seen. */
export function boxOfNode({ outline, leaf }: Rows, { item }: VisibleGraph, node: number): number {
  if (node < 0) {
    return -1;
  }
  const own = item.indexOf(itemOfNode(node));
  if (own >= 0) {
    return own;
  }
  for (let row = leaf[node]; row > 0; row = outline.parent[row]) {
    // A copy that is folded away is seen in the first.
    const seen = outline.like[row] >= 0 && !item.includes(row) ? outline.like[row] : row;
    const box = item.indexOf(seen);
    if (box >= 0) {
      return box;
    }
  }
  return -1;
}
