/** What visible nodes read: for each, the origins of its operands on the screen, and which arguments are boxes. */
import { BindingKind, NodeKind, type Document, type Graph } from '../document/graph.ts';
import { Borders, Openness, type Origin } from './openness.ts';

/** An argument that more boxes read than this is a chip at each of them. */
const MAX_ARGUMENT_EDGES = 3;
/** A value that more boxes read than this is a chip at each of them: so many edges say nothing and hide the others. */
const MAX_EDGES = 12;
/** Up to so many arguments, those that nothing reads are still shown. */
const MAX_IDLE_ARGUMENTS = 8;

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

export class Reads {
  readonly openness: Openness;
  readonly borders: Borders;
  /** For each value on the screen, how often it is read. */
  private readonly count = new Map<number, number>();
  private readonly argumentCount: number;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    open: ReadonlySet<number>
  ) {
    this.borders = new Borders(graph);
    this.openness = new Openness(graph, this.borders, open);
    let argumentCount = 0;
    for (let node = 0; node < graph.nodeCount; node++) {
      argumentCount += graph.kind[node] === NodeKind.argument && graph.region[node] === 0 ? 1 : 0;
      if (!this.openness.shown[node] || graph.kind[node] === NodeKind.result) {
        continue;
      }
      for (const origin of this.origins(node)) {
        if (origin.node >= 0) {
          this.count.set(origin.value, (this.count.get(origin.value) ?? 0) + 1);
        }
      }
    }
    this.argumentCount = argumentCount;
  }

  /** Where what a visible node reads comes from, operand by operand. An open node reads only what none of its regions does. */
  origins(node: number): Iterable<Origin> {
    if (this.graph.kind[node] === NodeKind.argument) {
      return this.originsOfArgument(node);
    }
    return this.openness.isOpen(node) ? this.originsAtBorder(node) : this.originsOfOperands(node);
  }

  /** An argument of the program is a box of its own if it is a plain array that few boxes read; else it is a chip. */
  isPort(node: number): boolean {
    const count = this.readers(this.graph.firstValue[node]);
    if (count === 0) {
      return this.argumentCount <= MAX_IDLE_ARGUMENTS;
    }
    return count <= MAX_ARGUMENT_EDGES && PLAIN_NAME.test(this.document.strings[this.graph.name[node]] || 'argument');
  }

  /** How often a value is read by what is on the screen. */
  readers(value: number): number {
    return this.count.get(value) ?? 0;
  }

  /** True for a value that too many boxes read for edges. */
  isHub(value: number): boolean {
    return this.readers(value) > MAX_EDGES;
  }

  /** True for a node that is never a box: a constant, or an argument of the program that is a chip. */
  isChip(node: number): boolean {
    const { graph } = this;
    const kind = graph.kind[node];
    return kind === NodeKind.constant || (kind === NodeKind.argument && graph.region[node] === 0 && !this.isPort(node));
  }

  /** What a loop's argument starts with counts as read by it. */
  private *originsOfArgument(node: number): Iterable<Origin> {
    const { graph, borders, openness } = this;
    const binding = borders.into[node];
    if (binding >= 0 && graph.bindingKind[binding] !== BindingKind.enter) {
      yield* openness.origins(graph.bindingFrom[binding]);
    }
  }

  private *originsOfOperands(node: number): Iterable<Origin> {
    const { graph, openness } = this;
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      yield* openness.origins(graph.operandSource[i]);
    }
  }

  /** What an open node hands to none of its regions, such as the predicate of a condition. */
  private *originsAtBorder(node: number): Iterable<Origin> {
    const { graph, openness, borders } = this;
    const handed = new Set<number>();
    for (let i = graph.firstRegion[node]; i < graph.firstRegion[node + 1]; i++) {
      const region = graph.ownedRegions[i];
      // Arguments come first in a region.
      for (
        let inner = graph.regionStart[region];
        inner < graph.regionEnd[region] && graph.kind[inner] === NodeKind.argument;
        inner++
      ) {
        if (borders.into[inner] >= 0) {
          handed.add(graph.bindingFrom[borders.into[inner]]);
        }
      }
    }
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      if (graph.operandSource[i] >= 0 && !handed.has(graph.operandSource[i])) {
        yield* openness.origins(graph.operandSource[i]);
      }
    }
  }
}
