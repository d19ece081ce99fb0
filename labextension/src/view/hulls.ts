/** Hulls: boxes that run in one kernel, whatever rows of the outline they stand in. */
import { NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { kernelsThrough, optimizedOf } from './kernels.ts';
import { nodeLabel } from './label.ts';
import { rowsOf, type Rows } from './outline.ts';
import { trafficOf } from './traffic.ts';
import { Shape, type VisibleGraph } from './visible.ts';
import { bytesText } from './words.ts';

export interface Hull {
  /** Name of the kernel. */
  readonly label: string;
  /** The bytes that it reads and writes. */
  readonly note: string;
  readonly boxes: readonly number[];
  /** Edges between these boxes. */
  readonly edges: readonly number[];
}

const known = new WeakMap<Graph, Int32Array>();

/** The hulls of all kernels that two boxes or more run in, in the order of their first boxes. */
export function hullsOf(document: Document, visible: VisibleGraph): Hull[] {
  const { graph } = visible;
  const optimized = optimizedOf(document, graph);
  const hlo = document.graphs[optimized];
  // In the optimized program a kernel is a box, or the frame around all of it.
  if (optimized < 0 || graph.kind === hlo.kind) {
    return [];
  }
  const kernels = known.get(graph) ?? onlyKernels(document, graph, optimized);
  known.set(graph, kernels);
  const rows = rowsOf(document, graph);
  const ofBox = Int32Array.from({ length: visible.count }, (_, box) =>
    visible.shape[box] === Shape.box ? kernelOfItem(graph, rows, kernels, visible.item[box]) : -1
  );
  const boxes = new Map<number, number[]>();
  ofBox.forEach((kernel, box) => {
    if (kernel >= 0) {
      boxes.set(kernel, [...(boxes.get(kernel) ?? []), box]);
    }
  });
  const edges = new Map<number, number[]>();
  visible.source.forEach((source, edge) => {
    const kernel = ofBox[source];
    if (kernel >= 0 && kernel === ofBox[visible.target[edge]]) {
      edges.set(kernel, [...(edges.get(kernel) ?? []), edge]);
    }
  });
  return [...boxes]
    .filter(([, members]) => members.length > 1)
    .map(([kernel, members]) => ({
      label: nodeLabel(document, hlo, kernel),
      note: noteOf(document, hlo, kernel),
      boxes: members,
      edges: edges.get(kernel) ?? []
    }));
}

function noteOf(document: Document, hlo: Graph, kernel: number): string {
  const traffic = trafficOf(document, hlo).get(kernel);
  return traffic ? `${bytesText(traffic.read)} → ${bytesText(traffic.written)}` : '';
}

/** For each node the kernel that it runs in, -1 where there is none or more than one. */
function onlyKernels(document: Document, graph: Graph, optimized: number): Int32Array {
  const kernels = kernelsThrough(document, graph, optimized);
  return Int32Array.from({ length: graph.nodeCount }, (_, node) => {
    const found = kernels(node);
    return found.length === 1 ? found[0] : -1;
  });
}

/** The kernel that all of an item runs in, as far as its operations run anywhere; else -1. */
function kernelOfItem(graph: Graph, { outline }: Rows, kernels: Int32Array, item: number): number {
  if (item < 0) {
    return kernels[-1 - item];
  }
  // Of a stack, each copy has kernels of its own.
  if (outline.count[item] > 1) {
    return -1;
  }
  let found = -1;
  for (let node = outline.first[item]; node < outline.end[item]; node++) {
    const kernel = kernels[node];
    const works = graph.kind[node] === NodeKind.operation && outline.role[node] === NodeRole.box;
    if (works && kernel >= 0) {
      if (found >= 0 && found !== kernel) {
        return -1;
      }
      found = kernel;
    }
  }
  return found;
}
