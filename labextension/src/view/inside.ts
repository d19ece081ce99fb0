/** What a node holds: whether it opens, and how many operations stand inside. */
import { NodeKind, type Graph } from '../document/graph.ts';

/** True for a node that opens and closes: it owns a region. */
export function canOpen(graph: Graph, node: number): boolean {
  return graph.firstRegion[node + 1] > graph.firstRegion[node];
}

/** Number of operations in the regions of a node, at every depth; 0 for a node without regions. */
export function operationsInside(graph: Graph, node: number): number {
  const first = graph.firstRegion[node];
  const end = graph.firstRegion[node + 1];
  if (first === end) {
    return 0;
  }
  const before = operationsBefore(graph);
  return before[graph.regionEnd[graph.ownedRegions[end - 1]]] - before[graph.regionStart[graph.ownedRegions[first]]];
}

const counted = new WeakMap<Graph, Int32Array>();

/** For each place in the program order, the number of operations before it. */
function operationsBefore(graph: Graph): Int32Array {
  let before = counted.get(graph);
  if (!before) {
    before = new Int32Array(graph.nodeCount + 1);
    for (let node = 0; node < graph.nodeCount; node++) {
      before[node + 1] = before[node] + (graph.kind[node] === NodeKind.operation ? 1 : 0);
    }
    counted.set(graph, before);
  }
  return before;
}
