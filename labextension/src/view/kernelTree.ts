/**
 * The optimized program folded by its kernels: the same graph once more, without an outline, so that what it is folded
 * by are its own fusions and loops.
 */
import type { Document, Graph } from '../document/graph.ts';

/** The document with that graph at its end, linked to all that the optimized program is linked to, and to itself. */
export function withKernelTree(document: Document): Document {
  const at = document.programs[0]?.stages.find(({ kind }) => kind === 'hlo')?.graph;
  if (at === undefined || !document.outlines.some(({ graph }) => graph === at)) {
    return document;
  }
  const [hlo, again] = [document.graphs[at], document.graphs.length];
  const each = Int32Array.from({ length: hlo.nodeCount }, (_, node) => node);
  const same = { from: at, to: again, source: each, target: each, kind: new Uint8Array(each.length), shares: {} };
  const tree = { ...hlo };
  const made = {
    ...document,
    graphs: [...document.graphs, tree],
    links: [
      ...document.links,
      ...document.links.filter(({ to }) => to === at).map(links => ({ ...links, to: again })),
      same
    ]
  };
  trees.set(made, tree);
  return made;
}

const trees = new WeakMap<Document, Graph>();

/** The graph by kernels of a document that has one, or undefined. */
export function kernelTreeOf(document: Document): Graph | undefined {
  return trees.get(document);
}
