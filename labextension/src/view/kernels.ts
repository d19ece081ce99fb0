/** Kernels of optimized HLO: what runs as one piece, and which instructions and equations are in it. */
import { follow } from '../document/follow.ts';
import { programOf } from '../document/programs.ts';
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { getOrMake } from '../maps';

/** Regions whose operations run one by one; those of others (fusions, reducers) run as part of their owner. */
const RUNS = new Set(['while cond', 'while body', 'branch', 'call']);
/** Operations that hold others or only name a value: nothing runs for them. */
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

const known = new WeakMap<Graph, Int32Array>();

/** Of each instruction of a graph of optimized HLO, the instruction that it runs as: a fusion or itself; -1 for none. */
export function kernelsOf(document: Document, graph: Graph): Int32Array {
  return getOrMake(known, graph, () => findKernels(document, graph));
}

function findKernels({ strings }: Document, graph: Graph): Int32Array {
  /** The instruction that a region runs as part of, -1 where its instructions run one by one. */
  const within = new Int32Array(graph.regionCount).fill(-1);
  for (let region = 1; region < graph.regionCount; region++) {
    const owner = graph.regionOwner[region];
    const around = within[graph.region[owner]];
    within[region] = around >= 0 || RUNS.has(strings[graph.regionKind[region]]) ? around : owner;
  }
  return Int32Array.from({ length: graph.nodeCount }, (_, node) => {
    if (graph.kind[node] !== NodeKind.operation) {
      return -1;
    }
    const kernel = within[graph.region[node]];
    return kernel >= 0 ? kernel : IDLE.has(strings[graph.op[node]]) ? -1 : node;
  });
}

/** How many kernels a graph of optimized HLO has. */
export function kernelCount(document: Document, graph: Graph): number {
  return kernelsOf(document, graph).reduce((sum, kernel, node) => sum + (kernel === node ? 1 : 0), 0);
}

/** The graph of optimized HLO of the program that a graph belongs to, or -1. */
export function optimizedOf(document: Document, graph: Graph): number {
  const program = document.programs[programOf(document, document.graphs.indexOf(graph))];
  return program?.stages.find(({ kind }) => kind === 'hlo')?.graph ?? -1;
}

/** Of each node of any stage, the kernels that its work is in, as instructions of the graph `optimized`. */
export function kernelsThrough(document: Document, graph: Graph, optimized: number): (node: number) => number[] {
  const from = document.graphs.indexOf(graph);
  const kernels = kernelsOf(document, document.graphs[optimized]);
  return node => {
    const found = new Set<number>();
    for (const { node: instruction } of follow(document, from, node, optimized)) {
      if (kernels[instruction] >= 0) {
        found.add(kernels[instruction]);
      }
    }
    return [...found];
  };
}
