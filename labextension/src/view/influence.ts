/**
 * What a node is made from and what is made from it, through the borders of regions: along operands, into bodies and
 * out of them. The way from one turn of a loop to the next is kept apart: with it, everything in a loop leads to everything.
 */
import { BindingKind, NodeKind, type Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';
import { getOrMake } from '../maps';

/** Neighbours of node n: `node[first[n]]` to `node[first[n + 1]]`. */
interface Neighbours {
  readonly first: Int32Array;
  readonly node: Int32Array;
}

export interface Influence {
  readonly before: Neighbours;
  readonly after: Neighbours;
}

const within = new WeakMap<Graph, Influence>();
const across = new WeakMap<Graph, Influence>();

/** `turns` adds the ways from one turn of a loop to the next. */
export function influenceOf(graph: Graph, turns: boolean): Influence {
  const known = turns ? across : within;
  return getOrMake(known, graph, () => find(graph, turns));
}

/** 1 for each node that is reached from `starts`, these not counted unless they reach each other. */
export function reach({ first, node }: Neighbours, starts: readonly number[]): Uint8Array {
  const reached = new Uint8Array(first.length - 1);
  const todo = [...starts];
  while (todo.length) {
    const at = todo.pop() as number;
    for (let i = first[at]; i < first[at + 1]; i++) {
      if (!reached[node[i]]) {
        reached[node[i]] = 1;
        todo.push(node[i]);
      }
    }
  }
  return reached;
}

function find(graph: Graph, turns: boolean): Influence {
  const from: number[] = [];
  const to: number[] = [];
  const join = (source: number, target: number): void => {
    from.push(source);
    to.push(target);
  };
  const borders = bordersOf(graph);
  /** The nodes that a value comes from: results of bodies where these give it, and its maker. */
  const joinValue = (value: number, target: number): void => {
    for (const binding of borders.outOf.get(value) ?? []) {
      join(graph.bindingFrom[binding], target);
    }
    join(graph.valueNode[value], target);
  };
  const leaves = new Uint8Array(graph.nodeCount);
  const bound = new Set<number>();
  graph.bindingKind.forEach((kind, binding) => {
    const [source, target] = [graph.bindingFrom[binding], graph.bindingTo[binding]];
    if (kind <= BindingKind.slice) {
      if (source >= 0) {
        joinValue(source, target);
        bound.add(ownerKey(graph, target, source));
      }
    } else {
      leaves[source] = 1;
      if (kind === BindingKind.carry && turns) {
        join(source, target);
      }
    }
  });
  for (let node = 0; node < graph.nodeCount; node++) {
    const owns = graph.firstRegion[node] < graph.firstRegion[node + 1];
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const value = graph.operandSource[i];
      // What a body takes in leads into the body; what none takes, as the index of a branch, to all that comes out.
      if (value >= 0 && !(owns && bound.has(node * graph.valueNode.length + value))) {
        joinValue(value, node);
      }
    }
    const owner = graph.regionOwner[graph.region[node]];
    // A result that leads nowhere decides something for its owner, as the condition of a loop.
    if (graph.kind[node] === NodeKind.result && owner >= 0 && !leaves[node]) {
      join(node, owner);
    }
  }
  const count = graph.nodeCount;
  return { before: grouped(to, from, count), after: grouped(from, to, count) };
}

function ownerKey(graph: Graph, argument: number, value: number): number {
  return graph.regionOwner[graph.region[argument]] * graph.valueNode.length + value;
}

function grouped(by: readonly number[], other: readonly number[], count: number): Neighbours {
  const first = new Int32Array(count + 1);
  for (const node of by) {
    first[node + 1]++;
  }
  for (let node = 0; node < count; node++) {
    first[node + 1] += first[node];
  }
  const next = first.slice();
  const node = new Int32Array(by.length);
  by.forEach((at, i) => (node[next[at]++] = other[i]));
  return { first, node };
}
