/** Which values a way back has kept for it: what goes across may also be a number, or an argument in another shape. */
import type { Document, Graph } from '../document/graph.ts';

/**
 * Whether a value is kept, as the document says it of its makers; true of all where it does not say it, and of what a
 * call gives, whose maker is inside.
 */
export function keptIn({ graphs, residuals }: Document, graph: Graph): (value: number) => boolean {
  const said = residuals.find(one => graphs[one.graph] === graph);
  if (!said) {
    return () => true;
  }
  const makers = new Set(said.node);
  const isCall = (node: number): boolean => graph.firstRegion[node] < graph.firstRegion[node + 1];
  return value => makers.has(graph.valueNode[value]) || isCall(graph.valueNode[value]);
}
