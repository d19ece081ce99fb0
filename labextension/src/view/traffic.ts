/** What kernels of optimized HLO read and write in one execution, and how much of that fusion saved, in bytes. */
import { BindingKind, NodeKind, type Document, type Graph } from '../document/graph.ts';
import { kernelsOf } from './kernels.ts';
import { getOrMake } from '../maps';

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
  return getOrMake(known, graph, () => findTraffic(document, graph));
}

/** What reads a piece of its first operand, and what writes one; with the place of the operand that has its size. */
const TAKING = new Set(['slice', 'dynamic-slice', 'gather']);
const WRITING: Readonly<Record<string, number>> = { 'dynamic-update-slice': 1, scatter: 2 };
/** How many new names in a row are looked through. */
const RENAMED = 8;

function findTraffic(document: Document, graph: Graph): ReadonlyMap<number, Traffic> {
  const found = new Map<number, Traffic>();
  const alone = new Map<number, number>();
  const touched = new Touched(document, graph);
  kernelsOf(document, graph).forEach((kernel, node) => {
    if (kernel === node) {
      found.set(node, { read: touched.read(node), written: touched.written(node), saved: 0 });
    } else if (kernel >= 0 && !FREE.has(document.strings[graph.op[node]])) {
      const moved = touched.read(node) + touched.written(node);
      alone.set(kernel, (alone.get(kernel) ?? 0) + moved);
    }
  });
  for (const [kernel, moved] of alone) {
    const { read = 0, written = 0 } = found.get(kernel) ?? {};
    found.set(kernel, { read, written, saved: Math.max(0, moved - read - written) });
  }
  return found;
}

/** The bytes of operands and results that operations touch: of what they take a piece of, the piece. */
class Touched {
  /** By the operation that has a body, and the value that enters it: the arguments that it is there. */
  private readonly entering = new Map<number, Map<number, number[]>>();
  private readonly leaving = new Map<number, number>();
  private readonly readers = new Map<number, Set<number>>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {
    graph.bindingKind.forEach((kind, row) => {
      const [from, to] = [graph.bindingFrom[row], graph.bindingTo[row]];
      if (kind === BindingKind.enter) {
        const owner = graph.regionOwner[graph.region[to]];
        const values = getOrMake(this.entering, owner, () => new Map<number, number[]>());
        getOrMake(values, from, () => []).push(to);
      } else if (kind === BindingKind.leave) {
        this.leaving.set(to, from);
      }
    });
    for (let node = 0; node < graph.nodeCount; node++) {
      for (const source of this.operands(node)) {
        this.readers.set(source, (this.readers.get(source) ?? new Set()).add(node));
      }
    }
  }

  /** A value that is read twice by one operation comes from memory once. */
  read(node: number): number {
    const { document, graph } = this;
    const operands = this.operands(node);
    let sum = 0;
    for (const source of new Set(operands)) {
      const inside = source < 0 ? undefined : this.entering.get(node)?.get(source);
      if (inside) {
        const taken = inside.reduce((all, argument) => all + this.taken(graph.firstValue[argument]), 0);
        sum += Math.min(taken, bytesOf(document, graph, source));
      } else if (source >= 0) {
        sum += this.by(node, operands, source);
      }
    }
    return sum;
  }

  written(node: number): number {
    let sum = 0;
    for (let value = this.graph.firstValue[node]; value < this.graph.firstValue[node + 1]; value++) {
      const result = this.leaving.get(value);
      sum += this.made(value, result === undefined ? value : this.operands(result)[0]);
    }
    return sum;
  }

  private operands(node: number): number[] {
    return [...this.graph.operandSource.subarray(this.graph.firstOperand[node], this.graph.firstOperand[node + 1])];
  }

  private op(node: number): string {
    return this.document.strings[this.graph.op[node]];
  }

  /** What one operation reads of one operand. */
  private by(node: number, operands: readonly number[], source: number): number {
    const { document, graph } = this;
    const whole = bytesOf(document, graph, source);
    if (operands.indexOf(source) !== 0 || operands.lastIndexOf(source) !== 0) {
      return whole;
    }
    const op = this.op(node);
    if (TAKING.has(op)) {
      return Math.min(whole, bytesOf(document, graph, graph.firstValue[node]));
    }
    if (op === 'scatter' && operands.length === 3) {
      return Math.min(whole, bytesOf(document, graph, operands[2]));
    }
    return op === 'dynamic-update-slice' ? 0 : whole;
  }

  /** What is read of a value inside a kernel. */
  private taken(value: number): number {
    const { document, graph } = this;
    let sum = 0;
    this.readers.get(value)?.forEach(node => {
      if (this.op(node) === 'bitcast') {
        sum += this.taken(graph.firstValue[node]);
      } else if (graph.kind[node] === NodeKind.operation) {
        sum += this.by(node, this.operands(node), value);
      }
    });
    return Math.min(sum, bytesOf(document, graph, value));
  }

  /** What is written of a value, which is `source` where it is made. */
  private made(value: number, source: number): number {
    const { document, graph } = this;
    const whole = bytesOf(document, graph, value);
    for (let step = 0; step < RENAMED; step++) {
      const node = source >= 0 ? graph.valueNode[source] : -1;
      if (node < 0 || graph.kind[node] !== NodeKind.operation) {
        return whole;
      }
      const operands = this.operands(node);
      const op = this.op(node);
      if (op !== 'bitcast') {
        const place = WRITING[op] ?? operands.length;
        return place < operands.length ? Math.min(whole, bytesOf(document, graph, operands[place])) : whole;
      }
      source = operands[0];
    }
    return whole;
  }
}

function bytesOf(document: Document, graph: Graph, value: number): number {
  return Math.max(0, document.types.bytes[graph.valueType[value]]);
}
