/**
 * What a run of nodes that are seen as one reads of what is made outside of it: little of all that is read in a graph,
 * and the same in every view in which the run is closed.
 */
import { BindingKind, NodeKind, NodeRole, type Graph } from '../document/graph.ts';
import type { Borders } from './borders.ts';
import { reachIn } from './reach.ts';
import { byOperand } from './flow.ts';
import { getOrMake, type NumberMap } from '../maps';

/** The nodes of a run that read what is made elsewhere, in order; node i reads `sources[first[i]]` to `sources[first[i + 1]]`. */
export interface Crossing {
  readonly nodes: readonly number[];
  readonly first: readonly number[];
  /** Values, each at the first box that reads it; what an argument is given may also be -1 - i for literal i. */
  readonly sources: readonly number[];
}

/** What shorter runs read is found as fast as it is kept, and there are many of them where all is open. */
const LEAST_KEPT = 16;

const known = new WeakMap<Graph, Crossings>();

export function crossingsOf(graph: Graph, borders: Borders, role: ArrayLike<number>): Crossings {
  return getOrMake(known, graph, () => new Crossings(graph, borders, role));
}

export class Crossings {
  /** By where a run begins and ends. */
  private readonly known = new Map<number, Crossing>();
  private readonly reach: Int32Array;
  /** The last run that a value, or a literal, was found to be read in, counted from 1. */
  private readonly seen: NumberMap<number>;
  private runs = 0;

  constructor(
    private readonly graph: Graph,
    private readonly borders: Borders,
    private readonly role: ArrayLike<number>
  ) {
    this.reach = reachIn(graph, borders, role);
    this.seen = byOperand<number>(graph);
  }

  /** What the nodes from `begin` to `end` read of others; null for nothing. */
  of(begin: number, end: number): Crossing | null {
    if (end - begin === 1 && this.reach[begin] >= begin) {
      return null;
    }
    return end - begin < LEAST_KEPT
      ? this.find(begin, end)
      : getOrMake(this.known, begin * this.graph.nodeCount + end - 1, () => this.find(begin, end));
  }

  private find(begin: number, end: number): Crossing {
    const { graph, reach } = this;
    const nodes: number[] = [];
    const first: number[] = [0];
    const sources: number[] = [];
    this.runs++;
    for (let node = begin; node < end; node++) {
      if (reach[node] >= begin) {
        continue;
      }
      if (graph.kind[node] === NodeKind.argument) {
        const binding = this.borders.into[node];
        if (binding >= 0 && graph.bindingKind[binding] !== BindingKind.enter) {
          sources.push(graph.bindingFrom[binding]);
        }
      } else {
        for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
          const source = graph.operandSource[i];
          const given = source < 0 ? source : this.given(source);
          const inside = given >= 0 && this.isMadeWithin(given, begin, end);
          // What is made of literals in the run and handed into one of its bodies is written beside what reads it there.
          const beside = given !== source && (given < 0 || this.role[graph.valueNode[given]] === NodeRole.chip);
          if (source >= 0 && (beside || !inside) && this.isNew(node, given)) {
            sources.push(source);
          }
        }
      }
      if (sources.length > first[first.length - 1]) {
        nodes.push(node);
        first.push(sources.length);
      }
    }
    return { nodes, first, sources };
  }

  /** What is handed into bodies, where that is made; a literal is below 0. */
  private given(value: number): number {
    const { graph, borders } = this;
    let given = value;
    while (given >= 0 && graph.kind[graph.valueNode[given]] === NodeKind.argument) {
      const argument = graph.valueNode[given];
      if (!borders.passes(argument)) {
        break;
      }
      given = graph.bindingFrom[borders.into[argument]];
    }
    return given;
  }

  private isMadeWithin(value: number, begin: number, end: number): boolean {
    const maker = this.graph.valueNode[value];
    return maker >= begin && maker < end && this.graph.kind[maker] === NodeKind.operation;
  }

  /** What an operation reads that no box before it in the run does; of results each is told. */
  private isNew(node: number, value: number): boolean {
    if (this.graph.kind[node] !== NodeKind.operation) {
      return true;
    }
    const isNew = this.seen.get(value) !== this.runs;
    if (this.role[node] === NodeRole.box) {
      this.seen.set(value, this.runs);
    }
    return isNew;
  }
}
