/** What goes into a program and comes out of it: the arguments and results that stand in none of its regions. */
import { NodeKind, type Graph } from '../document/graph.ts';
import { getOrMake } from '../maps';

const known = new WeakMap<Graph, Int32Array>();

/** The arguments and results of the program, in order. */
export function endsOf(graph: Graph): Int32Array {
  return getOrMake(known, graph, () => {
    const found: number[] = [];
    for (let node = 0; node < graph.nodeCount; node++) {
      const kind = graph.kind[node];
      if ((kind === NodeKind.argument || kind === NodeKind.result) && graph.region[node] === 0) {
        found.push(node);
      }
    }
    return Int32Array.from(found);
  });
}
