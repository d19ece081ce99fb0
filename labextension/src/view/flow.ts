/**
 * What a value is on the screen: the item that makes it, or a constant. Borders of regions, calls and operations that
 * only hand a value on are seen through: a value is followed to where it is really made.
 */
import { NodeKind, NodeRole, type Graph } from '../document/graph.ts';
import { NOTHING, type Folds } from './folds.ts';
import { getOrMake, NumberMap } from '../maps';

/** Where a value comes from: output `value` of `node`, or literal `literal` where `node` is -1. */
export interface Origin {
  readonly node: number;
  readonly value: number;
  readonly literal: number;
}

/** Of each graph the origins of what is read where it is made: they are the same in every view. */
const made = new WeakMap<Graph, NumberMap<readonly Origin[]>>();

/** By operands of a graph: by its values, and by its literals, which are below 0. */
export function byOperand<Value>(graph: Graph): NumberMap<Value> {
  return new NumberMap<Value>(graph.valueNode.length, -graph.literalText.length);
}

export class Flow {
  private readonly known: NumberMap<readonly Origin[]>;
  private readonly made: NumberMap<readonly Origin[]>;
  private readonly graph: Graph;

  /** `puts` are operations that hand on what they put into another value, their second operand; a `kernel` may, too. */
  constructor(
    private readonly folds: Folds,
    private readonly puts: ReadonlySet<number> = new Set(),
    private readonly kernel = -1
  ) {
    this.graph = folds.graph;
    this.known = byOperand(this.graph);
    this.made = getOrMake(made, this.graph, () => byOperand<readonly Origin[]>(this.graph));
  }

  /**
   * Where an operand (a value, or -1 - i for literal i) comes from. More than one origin: the branches of a condition.
   * Follows chains in a loop, not by recursion, for programs that nest a thousand deep.
   */
  origins(operand: number): readonly Origin[] {
    let found = this.known.get(operand);
    if (!found) {
      const first = this.behind(operand);
      found = first === null ? this.originsWhereMade(operand) : this.originsBehind(operand, first);
      this.known.set(operand, found);
    }
    return found;
  }

  private originsBehind(operand: number, first: number[]): Origin[] {
    const origins = this.chosen(operand);
    const seen = new Set<number>([operand]);
    const todo = first.reverse();
    while (todo.length) {
      const source = todo.pop() as number;
      if (seen.has(source)) {
        continue;
      }
      seen.add(source);
      const behind = this.behind(source);
      if (behind === null) {
        origins.push(...this.originsWhereMade(source));
      } else {
        origins.push(...this.chosen(source));
        todo.push(...behind.reverse());
      }
    }
    return origins;
  }

  private originsWhereMade(operand: number): readonly Origin[] {
    let origins = this.made.get(operand);
    if (!origins) {
      const isLiteral = operand < 0;
      origins = [
        {
          node: isLiteral ? -1 : this.graph.valueNode[operand],
          value: isLiteral ? -1 : operand,
          literal: isLiteral ? -1 - operand : -1
        }
      ];
      this.made.set(operand, origins);
    }
    return origins;
  }

  /** True for a constant that is made of nothing but literals: it is written beside what reads it. */
  isLabel(node: number): boolean {
    const { role } = this.folds.rows.outline;
    return this.folds.item[node] === NOTHING && role[node] === NodeRole.chip;
  }

  /** True for what only collects the values of all turns of a loop: there is more of it in each turn, no new value. */
  isCollected(operand: number): boolean {
    const { graph, folds } = this;
    for (let source = operand; source >= 0;) {
      const node = graph.valueNode[source];
      if (graph.kind[node] !== NodeKind.operation) {
        return false;
      }
      if (graph.firstRegion[node] === graph.firstRegion[node + 1]) {
        return this.puts.has(graph.op[node]) && folds.rows.outline.role[node] === NodeRole.edge;
      }
      // A kernel that is closed puts it there too.
      if (folds.item[node] !== NOTHING && graph.op[node] !== this.kernel) {
        return false;
      }
      const [binding] = folds.borders.outOf.get(source) ?? [];
      source = binding === undefined ? -1 : graph.operandSource[graph.firstOperand[graph.bindingFrom[binding]]];
    }
    return false;
  }

  /** What a value stands for one step further, or null where it is made. */
  private behind(source: number): number[] | null {
    if (source < 0) {
      return null;
    }
    const { graph, folds } = this;
    const node = graph.valueNode[source];
    if (graph.kind[node] === NodeKind.argument) {
      const { borders } = folds;
      return borders.passes(node) ? [graph.bindingFrom[borders.into[node]]] : null;
    }
    if (folds.item[node] !== NOTHING || graph.kind[node] !== NodeKind.operation) {
      return null;
    }
    if (graph.firstRegion[node] === graph.firstRegion[node + 1]) {
      const handsOn = folds.rows.outline.role[node] === NodeRole.edge;
      // Of several values each is handed on in its place.
      const place = this.puts.has(graph.op[node]) ? 1 : source - graph.firstValue[node];
      return handsOn ? [graph.operandSource[graph.firstOperand[node] + place]] : null;
    }
    const results = this.resultsOf(source);
    const inner = results
      .filter(result => graph.firstOperand[result] < graph.firstOperand[result + 1] && !this.isChosen(result))
      .map(result => graph.operandSource[graph.firstOperand[result]]);
    return inner.length || results.some(result => this.isChosen(result)) ? inner : null;
  }

  /** What branches of an open condition hand on: it comes from the condition, which chooses it. */
  private chosen(source: number): Origin[] {
    const results =
      source < 0 || this.folds.item[this.graph.valueNode[source]] !== NOTHING ? [] : this.resultsOf(source);
    return results.filter(result => this.isChosen(result)).map(node => ({ node, value: source, literal: -1 }));
  }

  /** The results of regions that a value of their owner stands for. */
  private resultsOf(source: number): number[] {
    const { graph, folds } = this;
    return (folds.borders.outOf.get(source) ?? []).map(binding => graph.bindingFrom[binding]);
  }

  /** True for the result of one of several branches that is what was there before the condition. */
  isChosen(result: number): boolean {
    const { graph, folds } = this;
    const operand = graph.firstOperand[result];
    const source = operand < graph.firstOperand[result + 1] ? graph.operandSource[operand] : -1;
    if (source < 0 || !folds.borders.isOfBranch(result)) {
      return false;
    }
    const node = graph.valueNode[source];
    const isGiven = graph.kind[node] === NodeKind.argument && folds.borders.passes(node);
    return graph.region[node] !== graph.region[result] || isGiven;
  }
}
