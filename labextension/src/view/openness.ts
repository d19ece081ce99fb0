/**
 * Which nodes stand on the screen when given regions are open, and what a value is on that screen: the box that makes
 * it, or a constant. Borders of open regions are seen through: a value is followed through arguments and results to
 * where it is really made.
 */
import { BindingKind, NodeKind, type Graph } from '../document/graph.ts';

/** Where a value comes from on the screen: output `value` of `node`, or literal `literal` where `node` is -1. */
export interface Origin {
  readonly node: number;
  readonly value: number;
  readonly literal: number;
}

/** How values cross borders, looked up from both sides. */
export class Borders {
  /** For an argument node, the index of the binding that it gets its value by; -1 for none. */
  readonly into: Int32Array;
  /** For a value of an owner of regions, the results that it stands for, as binding indices. */
  readonly outOf = new Map<number, number[]>();
  /** For a result node, the arguments of the next turn that it becomes, as binding indices. */
  readonly carries = new Map<number, number[]>();

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
  }

  /** True for an argument that only passes on a value from outside, unchanged in every turn. */
  passes(node: number): boolean {
    const binding = this.into[node];
    return binding >= 0 && this.graph.bindingKind[binding] === BindingKind.enter;
  }
}

/** What is on the screen while the owners in `open` show their regions. */
export class Openness {
  /** 1 for a node on the screen: its region and all around it are open. */
  readonly shown: Uint8Array;
  private readonly known = new Map<number, readonly Origin[]>();

  constructor(
    readonly graph: Graph,
    readonly borders: Borders,
    private readonly open: ReadonlySet<number>
  ) {
    this.shown = new Uint8Array(graph.nodeCount);
    const regionShown = new Uint8Array(graph.regionCount);
    regionShown[0] = 1;
    for (let node = 0; node < graph.nodeCount; node++) {
      if (!regionShown[graph.region[node]]) {
        continue;
      }
      this.shown[node] = 1;
      if (this.isOpen(node)) {
        for (let i = graph.firstRegion[node]; i < graph.firstRegion[node + 1]; i++) {
          regionShown[graph.ownedRegions[i]] = 1;
        }
      }
    }
  }

  /** True for a node on the screen whose regions are open. */
  isOpen(node: number): boolean {
    return this.open.has(node) && this.graph.firstRegion[node + 1] > this.graph.firstRegion[node];
  }

  /**
   * Where an operand (a value, or -1 - i for literal i) comes from. More than one origin: the branches of a condition.
   * Follows chains of borders in a loop, not by recursion, for programs that nest a thousand deep.
   */
  origins(operand: number): readonly Origin[] {
    const found = this.known.get(operand);
    if (found) {
      return found;
    }
    const origins: Origin[] = [];
    const seen = new Set<number>();
    const todo = [operand];
    while (todo.length) {
      const source = todo.pop() as number;
      if (seen.has(source)) {
        continue;
      }
      seen.add(source);
      const behind = this.behind(source);
      if (behind === null) {
        origins.push(
          source < 0
            ? { node: -1, value: -1, literal: -1 - source }
            : { node: this.graph.valueNode[source], value: source, literal: -1 }
        );
      } else {
        todo.push(...behind.reverse());
      }
    }
    this.known.set(operand, origins);
    return origins;
  }

  /** What a value stands for one border further, or null where it is made. */
  private behind(source: number): number[] | null {
    if (source < 0) {
      return null;
    }
    const { graph, borders } = this;
    const node = graph.valueNode[source];
    if (graph.kind[node] === NodeKind.argument) {
      return borders.passes(node) ? [graph.bindingFrom[borders.into[node]]] : null;
    }
    if (!this.isOpen(node)) {
      return null;
    }
    const results = borders.outOf.get(source);
    const inner = results?.flatMap(binding => {
      const result = graph.bindingFrom[binding];
      return graph.firstOperand[result] < graph.firstOperand[result + 1]
        ? [graph.operandSource[graph.firstOperand[result]]]
        : [];
    });
    return inner?.length ? inner : null;
  }
}
