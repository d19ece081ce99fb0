/** How values cross the borders of regions, looked up from both sides. */
import { BindingKind, type Graph } from '../document/graph.ts';
import { getOrMake } from '../maps';

export class Borders {
  /** For an argument node, the index of the binding that it gets its value by; -1 for none. */
  readonly into: Int32Array;
  /** For a value of an owner of regions, the results that it stands for, as binding indices. */
  readonly outOf = new Map<number, number[]>();
  /** For a result node, the arguments of the next turn that it becomes, as binding indices; not where all stays as it was. */
  readonly carries = new Map<number, number[]>();
  /** Results of one of several regions that give the same value: the branches of a condition. */
  readonly resultsOfBranches = new Set<number>();
  /** Of each node, 1 for an argument that every turn of a loop hands to the next as it was given it. */
  private readonly kept: Uint8Array;

  constructor(readonly graph: Graph) {
    this.into = new Int32Array(graph.nodeCount).fill(-1);
    graph.bindingKind.forEach((kind, index) => {
      if (kind <= BindingKind.slice) {
        this.into[graph.bindingTo[index]] = index;
      } else {
        const [map, key] =
          kind === BindingKind.carry ? [this.carries, graph.bindingFrom[index]] : [this.outOf, graph.bindingTo[index]];
        const known = map.get(key);
        if (known) {
          known.push(index);
        } else {
          map.set(key, [index]);
        }
      }
    });
    this.kept = this.keptArguments();
    for (const bindings of this.outOf.values()) {
      if (bindings.length > 1) {
        bindings.forEach(binding => this.resultsOfBranches.add(graph.bindingFrom[binding]));
      }
    }
  }

  /** True for a result of one of several regions that give the same value: the branches of a condition. */
  isOfBranch(result: number): boolean {
    return this.resultsOfBranches.has(result);
  }

  /** True for an argument that only passes on a value from outside, unchanged in every turn. */
  passes(node: number): boolean {
    const binding = this.into[node];
    return binding >= 0 && (this.graph.bindingKind[binding] === BindingKind.enter || this.kept[node] === 1);
  }

  private keptArguments(): Uint8Array {
    const { firstOperand, operandSource, valueNode, bindingTo, nodeCount } = this.graph;
    const kept = new Uint8Array(nodeCount);
    for (const [result, bindings] of this.carries) {
      const source = firstOperand[result] < firstOperand[result + 1] ? operandSource[firstOperand[result]] : -1;
      const turns = bindings.map(binding => bindingTo[binding]);
      if (source >= 0 && turns.includes(valueNode[source])) {
        // The condition of a loop has arguments of its own for the same.
        turns.forEach(turn => (kept[turn] = 1));
        this.carries.delete(result);
      }
    }
    return kept;
  }
}

const known = new WeakMap<Graph, Borders>();

export function bordersOf(graph: Graph): Borders {
  return getOrMake(known, graph, () => new Borders(graph));
}
