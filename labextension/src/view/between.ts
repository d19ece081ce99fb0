/** Why a value that one kernel writes for others lies in memory between them: the fact that kept the kernels apart. */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { kernelsOf } from './kernels.ts';
import { attribute } from './label.ts';

/** In which order axes lie after a copy and before it: `{0,1} from {1,0:S(1)}`. */
const TURNED = /\{([\d,]*)[^{}]*\} from \{([\d,]*)/;
/** Operations that need what they read, or give what they make, in memory, and what people call them. */
const WHOLE: Readonly<Record<string, string>> = {
  dot: 'a product',
  convolution: 'a convolution',
  'custom-call': 'a library call',
  reduce: 'a reduction',
  'reduce-window': 'a reduction',
  sort: 'a sort',
  topk: 'a sort',
  fft: 'a Fourier transform',
  scatter: 'a scatter',
  'select-and-scatter': 'a scatter',
  'dynamic-update-slice': 'an update in place',
  cholesky: 'a factorization',
  'triangular-solve': 'a solve',
  'rng-bit-generator': 'random bits',
  while: 'a loop',
  conditional: 'a condition',
  call: 'a call',
  'all-reduce': 'an exchange between devices',
  'all-gather': 'an exchange between devices',
  'reduce-scatter': 'an exchange between devices',
  'all-to-all': 'an exchange between devices',
  'collective-permute': 'an exchange between devices'
};
/** What a kernel that only copies consists of. */
const COPIES = new Set(['copy', 'transpose', 'bitcast', 'parameter', 'fusion']);

/** The fact for what a kernel writes; empty where no other kernel reads it, as it is a result. */
export function keptApartBy(document: Document, graph: Graph, kernel: number): string {
  const readers = readersOf(graph, kernel).filter(reader => graph.kind[reader] === NodeKind.operation);
  if (!readers.length) {
    return '';
  }
  const ops = (node: number): string[] => opsOf(document, graph, node);
  for (const [whose, node] of [...readers.map(reader => ['read by', reader] as const), ['made by', kernel] as const]) {
    const whole = ops(node).find(op => Object.hasOwn(WHOLE, op));
    if (whole) {
      return `${whose} ${WHOLE[whole]}`;
    }
  }
  const copies = [kernel, ...readers].filter(node => ops(node).every(op => COPIES.has(op)));
  if (copies.length) {
    // Alone in the body of a loop, it is there so that a turn does not write over what it still reads.
    const inLoop = copies.every(node => ops(node).every(op => op === 'copy') && isInLoop(document, graph, node));
    if (inLoop) {
      return 'a copy of what a loop hands on';
    }
    return copies.some(node => changesLayout(document, graph, node)) ? 'a copy for layout' : 'a copy that XLA put in';
  }
  return readers.length > 1 ? `${readers.length} kernels read it` : '';
}

/** Whether a kernel gives the axes of an array another order in memory. */
function changesLayout(document: Document, graph: Graph, kernel: number): boolean {
  const { strings } = document;
  const inside = [kernel];
  kernelsOf(document, graph).forEach((one, node) => one === kernel && inside.push(node));
  return inside.some(node => {
    const [, after, before] = TURNED.exec(attribute(document, graph, node, 'layout') ?? '') ?? [];
    return strings[graph.op[node]] === 'transpose' || after !== before;
  });
}

function isInLoop({ strings }: Document, graph: Graph, node: number): boolean {
  return strings[graph.regionKind[graph.region[node]]].startsWith('while');
}

function readersOf(graph: Graph, node: number): number[] {
  const [first, end] = [graph.firstValue[node], graph.firstValue[node + 1]];
  const found = new Set<number>();
  for (let reader = 0; reader < graph.nodeCount; reader++) {
    for (let i = graph.firstOperand[reader]; i < graph.firstOperand[reader + 1]; i++) {
      if (graph.operandSource[i] >= first && graph.operandSource[i] < end) {
        found.add(reader);
      }
    }
  }
  return [...found];
}

/** The names of the operations of a kernel. */
function opsOf(document: Document, graph: Graph, kernel: number): string[] {
  const found = new Set([document.strings[graph.op[kernel]]]);
  kernelsOf(document, graph).forEach((one, node) => one === kernel && found.add(document.strings[graph.op[node]]));
  return [...found];
}
