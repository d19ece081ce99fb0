/** Bodies that a graph has for each of their calls, and that a text has once. */
import type { Graph } from '../document/graph.ts';

/**
 * Notes of each node of a region that stands for the same as another one by which node it is written. They correspond
 * from node to node, up to where the graph has one of them no further.
 */
export function writeAsFirst(graph: Graph, first: number, other: number, writtenAs: Map<number, number>): void {
  const { regionStart, regionEnd, kind, op } = graph;
  const count = Math.min(regionEnd[first] - regionStart[first], regionEnd[other] - regionStart[other]);
  for (let i = 0; i < count; i++) {
    const [from, to] = [regionStart[other] + i, regionStart[first] + i];
    if (kind[from] !== kind[to] || op[from] !== op[to]) {
      return;
    }
    writtenAs.set(from, writtenAs.get(to) ?? to);
  }
}
