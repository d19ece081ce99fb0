/**
 * Floating-point operations by shapes alone: a multiplication with its addition is two, any other function of a number
 * one, and what only moves or reads values computes nothing. What an operation applies to many values, as a reduction
 * does, counts as often, and at the operation. The rule for HLO is that of `jaxviz/costs/cost.py`, for what ran.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { getOrMake } from '../maps';
import { convolvedBy, windowSize } from './convolved.ts';
import { families, family } from './family.ts';
import { attribute } from './label.ts';
import { numbersIn, product, type Shape } from './shapes.ts';

const known = new WeakMap<Graph, Float64Array>();

/** Of each node by itself, each time that it runs. */
export function flopsOf(document: Document, graph: Graph): Float64Array {
  return getOrMake(known, graph, () => new Counter(document, graph).count());
}

/** What computes nothing, though it is drawn as what does. */
const FREE = new Set(['convert_element_type', 'copy', 'copy_p', 'stop_gradient']);
/** Operations on a square matrix of n rows, by n to the third. */
const DECOMPOSING: Readonly<Record<string, number>> = {
  cholesky: 1 / 3,
  lu: 2 / 3,
  qr: 8 / 3,
  geqrf: 4 / 3,
  householder_product: 4 / 3,
  hessenberg: 10 / 3,
  eigh: 9,
  svd: 21,
  eig: 25,
  schur: 25
};
/** The axes of the left side that are summed over, as each form of the program says it. */
const SUMMED = [
  ['dimension_numbers', /^\(\(\(([\d, ]*)\)/],
  ['dot_dimension_numbers', /lhs_contracting_dimensions = \[([\d, ]*)\]/],
  ['lhs_contracting_dims', /\{([\d, ]*)\}/],
  ['backend_config', /lhs_contracting_dimensions: \[([\d, ]*)\]/]
] as const;

const LIBRARY_PRODUCT = /__(?:cublas|triton|onednn)\$\S*(?:gemm|matmul)/;
const LIBRARY_CONVOLUTION = /__(?:cudnn|onednn)\$conv(?:olution)?(BackwardInput|BackwardFilter)?/;

class Counter {
  private readonly flops: Float64Array;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {
    this.flops = new Float64Array(graph.nodeCount);
  }

  count(): Float64Array {
    const { graph, flops } = this;
    for (let node = 0; node < graph.nodeCount; node++) {
      flops[node] = graph.kind[node] === NodeKind.operation ? this.of(node) : 0;
    }
    // From the innermost out: a body that is applied to many values may apply one itself.
    for (let node = graph.nodeCount - 1; node >= 0; node--) {
      const times = this.applications(node);
      if (times !== undefined) {
        flops[node] += times * this.applied(node);
      }
    }
    return flops;
  }

  private of(node: number): number {
    const op = this.op(node);
    const made = this.made(node);
    switch (op) {
      case 'dot':
      case 'dot_general':
        return 2 * made * this.summed(node);
      case 'convolution':
      case 'conv_general_dilated':
        return this.convolved(node, this.operand(node, 0), this.operand(node, 1), this.result(node));
      case 'custom_call':
        return this.library(node);
      case 'triangular_solve':
        return made * (this.operand(node, 0).at(-1) ?? 1);
      case 'fft': {
        const lengths = this.attribute(node, 'fft_length') || this.attribute(node, 'fft_lengths');
        return 8 * made * Math.log2(Math.max(2, product(numbersIn(lengths))));
      }
      case 'sort':
        return made > 1 ? made * Math.ceil(Math.log2(made)) : 0;
    }
    if (op in DECOMPOSING) {
      const shape = this.operand(node, 0);
      const [rows, columns] = shape.slice(-2);
      return DECOMPOSING[op] * product(shape) * Math.min(rows, columns);
    }
    return families[family(this.document.strings[this.graph.op[node]])].key === 'elementwise' && !FREE.has(op)
      ? made
      : 0;
  }

  /** How often an operation applies what it applies; undefined for what applies nothing. */
  private applications(node: number): number | undefined {
    if (this.graph.kind[node] !== NodeKind.operation) {
      return undefined;
    }
    const op = this.op(node);
    const read = product(this.operand(node, 0));
    const made = this.made(node);
    const window = (): number => windowSize(key => this.attribute(node, key));
    if (/^(reduce|reduce_(sum|max|min|prod|and|or|xor)|arg(max|min))$/.test(op)) {
      return Math.max(0, read - made);
    }
    if (/^cum(sum|prod|max|min|logsumexp)$/.test(op)) {
      return made;
    }
    if (/^reduce_window/.test(op)) {
      return made * Math.max(0, window() - 1);
    }
    if (/^select_and_scatter/.test(op)) {
      return product(this.operand(node, op === 'select_and_scatter_add' ? 0 : 1)) * window();
    }
    if (/^scatter/.test(op)) {
      const operands = this.graph.firstOperand[node + 1] - this.graph.firstOperand[node];
      return op === 'scatter' && !this.hasBody(node) && !this.reducer(node)
        ? 0
        : product(this.operand(node, Math.max(1, (operands - 1) >> 1) + 1));
    }
    return /^(all_reduce|all_reduce_start|reduce_scatter|psum|pmax|pmin|psum_scatter|map)$/.test(op)
      ? made
      : op === 'sort'
        ? 0
        : undefined;
  }

  /** What is applied each time; its parts count no more by themselves. */
  private applied(node: number): number {
    const { graph, flops } = this;
    if (!this.hasBody(node)) {
      // What is applied as one operation is told by its name, if at all.
      const reducer = this.reducer(node);
      return reducer === '' || families[family(reducer)].key === 'elementwise' ? 1 : 0;
    }
    let sum = 0;
    for (let owned = graph.firstRegion[node]; owned < graph.firstRegion[node + 1]; owned++) {
      const region = graph.ownedRegions[owned];
      for (let inner = graph.regionStart[region]; inner < graph.regionEnd[region]; inner++) {
        sum += flops[inner];
        flops[inner] = 0;
      }
    }
    return sum;
  }

  private hasBody(node: number): boolean {
    return this.graph.firstRegion[node] < this.graph.firstRegion[node + 1];
  }

  private reducer(node: number): string {
    return this.attribute(node, 'to_apply').split(' ')[0] || this.attribute(node, 'reducer');
  }

  /** How many numbers are summed for each of a product. */
  private summed(node: number): number {
    const left = this.operand(node, 0);
    for (const [key, pattern] of SUMMED) {
      const found = pattern.exec(this.attribute(node, key));
      if (found) {
        return product(numbersIn(found[1]).map(axis => left[axis] ?? 1));
      }
    }
    // Of matrices in rows and columns, it is the last, if nothing says it.
    return left.at(-1) ?? 1;
  }

  private convolved(node: number, image: Shape, kernel: Shape, result: Shape): number {
    return convolvedBy(key => this.attribute(node, key), image, kernel, result);
  }

  /** What is known of libraries: products and convolutions; 0 for all others. */
  private library(node: number): number {
    const target = this.attribute(node, 'custom_call_target');
    if (LIBRARY_PRODUCT.test(target)) {
      return 2 * this.made(node) * this.summed(node);
    }
    const convolution = LIBRARY_CONVOLUTION.exec(target);
    if (!convolution) {
      return 0;
    }
    const [first, second, result] = [this.operand(node, 0), this.operand(node, 1), this.result(node)];
    // Operands and result are by turns image, kernel and result of the convolution that is meant.
    switch (convolution[1]) {
      case 'BackwardInput':
        return this.convolved(node, result, second, first);
      case 'BackwardFilter':
        return this.convolved(node, first, result, second);
      default:
        return this.convolved(node, first, second, result);
    }
  }

  private op(node: number): string {
    return this.document.strings[this.graph.op[node]].replaceAll('-', '_');
  }

  private attribute(node: number, key: string): string {
    return attribute(this.document, this.graph, node, key) ?? '';
  }

  private operand(node: number, number: number): Shape {
    const { firstOperand, operandSource, valueType } = this.graph;
    const at = firstOperand[node] + number;
    const source = at < firstOperand[node + 1] ? operandSource[at] : -1;
    return source < 0 ? [] : this.shape(valueType[source]);
  }

  private result(node: number): Shape {
    const { firstValue, valueType } = this.graph;
    return firstValue[node] < firstValue[node + 1] ? this.shape(valueType[firstValue[node]]) : [];
  }

  /** The elements of its first result. */
  private made(node: number): number {
    return this.graph.firstValue[node] < this.graph.firstValue[node + 1] ? product(this.result(node)) : 0;
  }

  private shape(type: number): Shape {
    const { firstDim, dims } = this.document.types;
    return [...dims.subarray(firstDim[type], firstDim[type + 1])];
  }
}
