/** How far back nodes read: what closed boxes hold reads little beyond them, and the rest need not be followed. */
import { BindingKind, NodeKind, NodeRole, type Graph } from '../document/graph.ts';
import type { Borders } from './borders.ts';
import { getOrMake } from '../maps';

const known = new WeakMap<Graph, Int32Array>();

/**
 * For each node the first of those that make what it reads, or itself: what stands between it and that one, seen as the
 * same item, reads nothing of others there. -1 where a region is given a constant, which is told where it is read.
 */
export function reachIn(graph: Graph, borders: Borders, role: ArrayLike<number>): Int32Array {
  return getOrMake(known, graph, () => {
    const { firstOperand, operandSource, bindingFrom, bindingKind } = graph;
    const makers = Int32Array.from(graph.valueNode, (_, value) => makerOf(graph, borders, role, value));
    const reached = (node: number, value: number): number =>
      value < 0 ? node : makers[value] <= node ? makers[value] : -1;
    const begun = (node: number, value: number): number =>
      value >= 0 && role[graph.valueNode[value]] === NodeRole.chip ? -1 : reached(node, value);
    return Int32Array.from(graph.kind, (_, node) => {
      const into = graph.kind[node] === NodeKind.argument ? borders.into[node] : -1;
      let first = into >= 0 && bindingKind[into] !== BindingKind.enter ? begun(node, bindingFrom[into]) : node;
      for (let i = firstOperand[node]; i < firstOperand[node + 1]; i++) {
        first = Math.min(first, reached(node, operandSource[i]));
      }
      return first;
    });
  });
}

/** What makes a value that is handed into regions, or is given to a loop that changes it. */
function makerOf(graph: Graph, borders: Borders, role: ArrayLike<number>, value: number): number {
  let maker = graph.valueNode[value];
  if (graph.kind[maker] === NodeKind.operation) {
    return maker;
  }
  while (graph.kind[maker] === NodeKind.argument && borders.passes(maker)) {
    const given = graph.bindingFrom[borders.into[maker]];
    maker = given < 0 ? -1 : graph.valueNode[given];
  }
  return maker < 0 || role[maker] === NodeRole.chip || graph.kind[maker] === NodeKind.constant ? -1 : maker;
}
