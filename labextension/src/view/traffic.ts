/** What kernels of optimized HLO read and write in one execution, and how much of that fusion saved, in bytes. */
import type { Document, Graph } from '../document/graph.ts';
import { kernelsOf } from './kernels.ts';

export interface Traffic {
  readonly read: number;
  readonly written: number;
  /** What its operations would read and write more, did each run by itself. */
  readonly saved: number;
}

/** What a fusion computes on the fly out of nothing. */
const FREE = new Set(['constant', 'broadcast', 'iota', 'parameter', 'bitcast', 'tuple', 'get-tuple-element']);

const known = new WeakMap<Graph, ReadonlyMap<number, Traffic>>();

/** The traffic of each kernel of a graph of optimized HLO, by its node. */
export function trafficOf(document: Document, graph: Graph): ReadonlyMap<number, Traffic> {
  let found = known.get(graph);
  if (!found) {
    found = findTraffic(document, graph);
    known.set(graph, found);
  }
  return found;
}

function findTraffic(document: Document, graph: Graph): ReadonlyMap<number, Traffic> {
  const found = new Map<number, Traffic>();
  const alone = new Map<number, number>();
  kernelsOf(document, graph).forEach((kernel, node) => {
    if (kernel === node) {
      found.set(node, { read: readBy(document, graph, node), written: madeBy(document, graph, node), saved: 0 });
    } else if (kernel >= 0 && !FREE.has(document.strings[graph.op[node]])) {
      const moved = readBy(document, graph, node) + madeBy(document, graph, node);
      alone.set(kernel, (alone.get(kernel) ?? 0) + moved);
    }
  });
  for (const [kernel, moved] of alone) {
    const { read = 0, written = 0 } = found.get(kernel) ?? {};
    found.set(kernel, { read, written, saved: Math.max(0, moved - read - written) });
  }
  return found;
}

/** A value that is read twice by one operation comes from memory once. */
function readBy(document: Document, graph: Graph, node: number): number {
  const sources = new Set<number>();
  for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
    if (graph.operandSource[i] >= 0) {
      sources.add(graph.operandSource[i]);
    }
  }
  return [...sources].reduce((sum, value) => sum + bytesOf(document, graph, value), 0);
}

function madeBy(document: Document, graph: Graph, node: number): number {
  let sum = 0;
  for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
    sum += bytesOf(document, graph, value);
  }
  return sum;
}

function bytesOf(document: Document, graph: Graph, value: number): number {
  return Math.max(0, document.types.bytes[graph.valueType[value]]);
}
