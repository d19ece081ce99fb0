/** Kernels: what of the optimized program runs by itself, and which operations of any stage are in which of them. */
import { follow } from '../document/follow.ts';
import { NodeKind, type Document, type Graph } from '../document/graph.ts';

/** Regions whose operations run one by one; those of others (fusions, reducers) run as part of their owner. */
const RUNS = new Set(['while cond', 'while body', 'branch', 'call']);
const IDLE = new Set([
  'bitcast',
  'tuple',
  'get-tuple-element',
  'parameter',
  'while',
  'conditional',
  'call',
  'constant'
]);

/** Operations that run by themselves: those in no fusion, without those that hold others or only name a value. */
export function kernelCount(document: Document, graph: Graph): number {
  return kernelsOfHlo(document, graph).reduce((sum, kernel, node) => sum + (kernel === node ? 1 : 0), 0);
}

/** The optimized program, or undefined. */
export function hloOf(document: Document): Graph | undefined {
  const stage = document.programs[0]?.stages.find(({ kind }) => kind === 'hlo');
  return stage && document.graphs[stage.graph];
}

/** For each node of the optimized program the operation that it runs in: itself, the fusion around it, or -1. */
export function kernelsOfHlo({ strings }: Document, graph: Graph): Int32Array {
  const around = new Int32Array(graph.regionCount).fill(-1);
  for (let region = 1; region < graph.regionCount; region++) {
    const owner = graph.regionOwner[region];
    const outer = around[graph.region[owner]];
    around[region] = outer >= 0 ? outer : RUNS.has(strings[graph.regionKind[region]]) ? -1 : owner;
  }
  return Int32Array.from(graph.kind, (kind, node) => {
    const outer = around[graph.region[node]];
    const runs = kind === NodeKind.operation && !IDLE.has(strings[graph.op[node]]);
    return outer >= 0 ? outer : runs ? node : -1;
  });
}

/** For each node of any stage the kernel that it runs in, -1 where there is none or more than one. */
export function kernelsOf(document: Document, graph: Graph): Int32Array {
  const hlo = hloOf(document);
  if (!hlo) {
    return new Int32Array(graph.nodeCount).fill(-1);
  }
  const kernels = kernelsOfHlo(document, hlo);
  const [from, to] = [document.graphs.indexOf(graph), document.graphs.indexOf(hlo)];
  return Int32Array.from({ length: graph.nodeCount }, (_, node) => {
    const found = new Set<number>();
    for (const { node: made } of follow(document, from, node, to)) {
      if (kernels[made] >= 0) {
        found.add(kernels[made]);
      }
    }
    return found.size === 1 ? ([...found][0] as number) : -1;
  });
}
