/** The call stacks that a node came from: of what was made of several equations, those of all of them. */
import { programOf } from '../document/programs.ts';
import { LinkKind, type Document, type Graph } from '../document/graph.ts';

const known = new WeakMap<Graph, ReadonlyMap<number, readonly number[]>>();

/** As `stacksOf`, but of what has bodies its own alone: what stands in these comes from the others. */
export function ownStacks(document: Document, graph: Graph, node: number): readonly number[] {
  const holds = graph.firstRegion[node] < graph.firstRegion[node + 1];
  return holds ? [graph.stack[node]] : stacksOf(document, graph, node);
}

/** The node's own stack first, then those of further equations that are surely in it. */
export function stacksOf(document: Document, graph: Graph, node: number): readonly number[] {
  let others = known.get(graph);
  if (!others) {
    others = furtherStacks(document, graph);
    known.set(graph, others);
  }
  const further = others.get(node);
  return further ? [graph.stack[node], ...further] : [graph.stack[node]];
}

function furtherStacks(document: Document, graph: Graph): Map<number, number[]> {
  const found = new Map<number, number[]>();
  // The same graph in another fold has the same columns.
  const end = document.graphs.findIndex(one => one.kind === graph.kind);
  for (const { from, to, source, target, kind } of document.links) {
    // Between two programs, what is like another is not made of it.
    if (to !== end || programOf(document, from) !== programOf(document, end)) {
      continue;
    }
    const start = document.graphs[from];
    for (let row = 0; row < target.length; row++) {
      const stack = start.stack[source[row]];
      const own = graph.stack[target[row]];
      if (stack < 0 || stack === own || kind[row] > LinkKind.merged) {
        continue;
      }
      const stacks = found.get(target[row]);
      if (!stacks) {
        found.set(target[row], [stack]);
      } else if (!stacks.includes(stack)) {
        stacks.push(stack);
      }
    }
  }
  return found;
}
