/** What stands in a later copy of a stack, as what it corresponds to in the first. */
import type { Graph } from '../document/graph.ts';
import type { Rows } from './outline.ts';

/** Outer stacks come before inner ones, so what stands in a later copy is followed once for each stack around it. */
export function firstCopies(graph: Graph, rows: Rows): { node: Int32Array; row: Int32Array } {
  const { outline, count } = rows;
  const row = Int32Array.from({ length: count }, (_, at) => at);
  const node = Int32Array.from({ length: graph.nodeCount }, (_, at) => at);
  for (let at = 1; at < count; at++) {
    const like = likeOf(rows, at);
    if (like < 0) {
      continue;
    }
    row[at] = row[like];
    // Copies of another length have no node for each of the first.
    if (outline.end[at] - outline.first[at] === outline.end[like] - outline.first[like]) {
      for (let i = outline.first[at]; i < outline.end[at]; i++) {
        node[i] = node[i - outline.first[at] + outline.first[like]];
      }
    }
  }
  return { node, row };
}

/** What a row is in the first copy, or -1 where it stands in that one, or in none. */
function likeOf({ outline, children, firstChild }: Rows, row: number): number {
  const first = outline.copy[row] > 0 ? children[firstChild[outline.parent[row]]] : -1;
  return outline.like[row] >= 0 ? outline.like[row] : first;
}

/** The innermost stack that an item is or stands in, or -1. */
export function stackAround({ outline, leaf }: Rows, item: number): number {
  for (let row = item >= 0 ? item : leaf[-1 - item]; row > 0; row = outline.parent[row]) {
    if (outline.count[row] > 1) {
      return row;
    }
  }
  return -1;
}
