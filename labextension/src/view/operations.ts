/**
 * The operations of a stage as rows of a table, each once and with its figures, so that a column adds up to the whole: of
 * the optimized program what runs as one piece, of other stages every operation.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { placeOf } from '../document/states.ts';
import { kernelsOf, optimizedOf } from './kernels.ts';
import { figuredOf, measuredOf, wholeOf } from './measures.ts';
import { madeBytes } from './search.ts';
import { turnsOf } from './turns.ts';
import { getOrMake } from '../maps';

export const AMOUNTS = ['seconds', 'flops', 'bytes', 'runs', 'makes'] as const;
export type Amount = (typeof AMOUNTS)[number];

export interface Operations {
  /** The node of each row, in the order of the program. */
  readonly node: Int32Array;
  /** The row of each node, with those that are inside of a kernel; -1 for what is in none. */
  readonly rowOf: Int32Array;
  /** True where the rows are what runs as one piece. */
  readonly kernels: boolean;
  /** How many of them are loops or calls by themselves, whose own part of the time was measured. */
  readonly loops: number;
  /**
   * In one run: seconds, floating-point operations, bytes read and written, and how often it runs; and the bytes of what
   * it makes each time. Empty where nothing is known.
   */
  readonly amounts: Readonly<Record<Amount, Float64Array>>;
  /** All seconds of a run: with those of no row. */
  readonly seconds: number;
  /** How many rows are in a loop that does not say how often it turns, where that was not measured either. */
  readonly open: number;
  /** Likewise of those in a branch, of which a run takes one. */
  readonly branches: number;
}

const known = new WeakMap<Graph, Operations>();

export function operationsOf(document: Document, graph: Graph): Operations {
  return getOrMake(known, graph, () => find(document, graph));
}

/** True for a stage whose operations run as kernels: the optimized program, and what the compiler had before it. */
export function hasKernels(document: Document, graph: Graph): boolean {
  const optimized = document.graphs[optimizedOf(document, graph)];
  return optimized?.kind === graph.kind || placeOf(document, document.graphs.indexOf(graph)) !== undefined;
}

function find(document: Document, graph: Graph): Operations {
  const measured = measuredOf(document, graph);
  const kernels = hasKernels(document, graph) ? kernelsOf(document, graph) : null;
  const rowOf = new Int32Array(graph.nodeCount).fill(-1);
  const nodes: number[] = [];
  for (let node = 0; node < graph.nodeCount; node++) {
    const kernel = kernels?.[node] ?? node;
    // A loop is no kernel, but its own share of the time was measured.
    const own = kernel === node || (kernel < 0 && (measured?.own.seconds[node] ?? 0) > 0);
    if (graph.kind[node] === NodeKind.operation) {
      rowOf[node] = own ? nodes.push(node) - 1 : kernel >= 0 ? rowOf[kernel] : -1;
    }
  }
  const node = Int32Array.from(nodes);
  const sum = (column: Float64Array | undefined): Float64Array => {
    const rows = new Float64Array(column ? node.length : 0);
    column?.forEach((amount, one) => rowOf[one] >= 0 && (rows[rowOf[one]] += amount));
    return rows;
  };
  const { times, open, branch } = turnsOf(document, graph);
  const counts = measured?.own.count.some(count => count > 0) ? measured.own.count : undefined;
  const runs = Float64Array.from(node, one => (counts ? counts[one] : times[graph.region[one]]));
  const counted = (of: Uint8Array): number => (counts ? 0 : node.reduce((all, one) => all + of[graph.region[one]], 0));
  return {
    node,
    rowOf,
    kernels: kernels !== null,
    loops: node.reduce((sum, one) => sum + (kernels && kernels[one] < 0 ? 1 : 0), 0),
    amounts: {
      seconds: sum(measured?.own.seconds),
      flops: sum(figuredOf(document, graph, 'flops')?.own.flops),
      bytes: sum(figuredOf(document, graph, 'bytes')?.own.bytes),
      runs,
      makes: Float64Array.from(node, one => madeBytes(document, graph, one))
    },
    seconds: measured ? wholeOf(measured, 'seconds') : 0,
    open: counted(open),
    branches: counted(branch)
  };
}
