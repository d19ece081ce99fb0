/** What is kept for a way back: that a document says it of nodes that are there. */
import type { Document } from './graph.ts';

export function checkResiduals(document: Document): void {
  document.residuals.forEach(({ graph, node, size, order, policies }, index) => {
    const path = `residuals/${index}`;
    const nodes = document.graphs[graph]?.nodeCount;
    if (nodes === undefined) {
      throw new RangeError(`${path}/graph is ${graph}, which is not there`);
    }
    if (size.length !== node.length || order.length !== node.length) {
      throw new RangeError(`${path} should have columns of one length`);
    }
    const runs = policies.every(
      ({ first, count }) => first.length === count.length && first.every((start, run) => start + count[run] <= nodes)
    );
    if (!runs || [node, ...policies.map(({ saved }) => saved)].some(column => column.some(one => one >= nodes))) {
      throw new RangeError(`${path} names a node that is not there`);
    }
  });
}
