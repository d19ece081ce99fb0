/**
 * The optimized program folded by its kernels: the same graph once more, without an outline, so that what it is folded
 * by are its own fusions and loops.
 */
import type { Document } from '../document/graph.ts';

/** The document with those graphs at its end, each linked to all that the optimized program is linked to, and to itself. */
export function withKernelTree(document: Document): Document {
  const trees = new Map<number, number>();
  const made = { ...document, graphs: [...document.graphs], links: [...document.links] };
  for (const { stages } of document.programs) {
    const at = stages.find(({ kind }) => kind === 'hlo')?.graph;
    if (at !== undefined && document.outlines.some(({ graph }) => graph === at)) {
      const again = made.graphs.push({ ...document.graphs[at] }) - 1;
      const each = Int32Array.from({ length: document.graphs[at].nodeCount }, (_, node) => node);
      const own = document.links.filter(({ to }) => to === at);
      const same = { from: at, to: again, source: each, target: each, kind: new Uint8Array(each.length), shares: {} };
      made.links.push(...own.map(links => ({ ...links, to: again })), same);
      trees.set(at, again);
    }
  }
  if (!trees.size) {
    return document;
  }
  known.set(made, trees);
  return made;
}

const known = new WeakMap<Document, ReadonlyMap<number, number>>();

/** The number of the graph by kernels for that of an optimized program, or undefined. */
export function kernelTreeOf(document: Document, optimized: number): number | undefined {
  return known.get(document)?.get(optimized);
}

/** True for a graph that is folded by its kernels. */
export function isKernelTree(document: Document, graph: number): boolean {
  return [...(known.get(document)?.values() ?? [])].includes(graph);
}

/** The optimized program that a graph folded by its kernels was made of, or undefined for any other graph. */
export function programOfTree(document: Document, graph: number): number | undefined {
  return [...(known.get(document) ?? [])].find(([, tree]) => tree === graph)?.[0];
}
