/**
 * How boxes belong to the selection: what leads to it and what it leads to, or the ways between it and another box;
 * with words for what is seen.
 */
import { NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { influenceOf, reach } from './influence.ts';
import { rowLabel, rowsOf, type Rows } from './outline.ts';
import { nodeLabel, variableOf } from './label.ts';
import { boxOfNode } from './seen.ts';
import { Shape, type VisibleGraph } from './visible.ts';

/** How an edge is drawn that belongs to the selection. */
export const Way = { none: 0, to: 1, from: 2 } as const;

export interface Relations {
  /** 1 for each box that has nothing to do with it. */
  readonly apart: Uint8Array;
  /** One of `Way` for each edge. */
  readonly ways: Uint8Array;
  readonly words: string;
}

/** What stands on the screen, and where. */
export interface Seen {
  readonly document: Document;
  readonly visible: VisibleGraph;
  /** Stacks whose copies are all shown. */
  readonly spread: ReadonlySet<number>;
}

/** What leads to an item and what it leads to. */
export function around(seen: Seen, item: number): Relations {
  const { graph } = seen.visible;
  const rows = rowsOf(seen.document, graph);
  const nodes = nodesIn(rows, item);
  const { before, after } = influenceOf(graph, false);
  const [to, from] = [reach(before, nodes), reach(after, nodes)];
  const elsewhere = otherCopies(rows, nodes[0], seen.spread);
  const [above, below] = [boxesWith(seen, rows, to, elsewhere), boxesWith(seen, rows, from, elsewhere)];
  const own = boxesWith(seen, rows, marks(graph, nodes), elsewhere);
  const { source, target, count } = seen.visible;
  const ways = Uint8Array.from(source, (maker, edge) => {
    const reader = target[edge];
    if (above[maker] && (above[reader] || own[reader])) {
      return Way.to;
    }
    return below[reader] && (below[maker] || own[maker]) ? Way.from : Way.none;
  });
  const apart = Uint8Array.from({ length: count }, (_, box) => (above[box] || below[box] || own[box] ? 0 : 1));
  const inside = marks(graph, nodes);
  const [made, used] = [to, from].map(reached => operations(graph, rows, reached, inside));
  const later = made ? 0 : operations(graph, rows, reach(influenceOf(graph, true).before, nodes), inside);
  const next = later ? `made from ${countText(later)} from the second turn on` : '';
  const told = [
    made ? `made from ${countText(made)}` : next,
    used ? `used by ${countText(used)}` : made || next ? 'used by no other operation' : ''
  ].filter(Boolean);
  return { apart, ways, words: told.join(', ') || 'no other operation leads here or goes on from here' };
}

/** The ways from one item to another, whichever comes first; through the next turn of a loop where there is no other. */
export function between(seen: Seen, one: number, other: number): Relations {
  const { document, visible } = seen;
  const { graph } = visible;
  const rows = rowsOf(document, graph);
  const [a, b] = [nodesIn(rows, one), nodesIn(rows, other)];
  for (const turns of [false, true]) {
    for (const [start, end, from, to] of [
      [a, b, one, other],
      [b, a, other, one]
    ] as const) {
      const on = waysBetween(graph, start, end, turns);
      if (on) {
        const steps = operations(graph, rows, on, marks(graph, [...a, ...b]));
        const names = `from ${labelOf(document, graph, rows, from)} to ${labelOf(document, graph, rows, to)}`;
        const through = steps ? `${countText(steps)} on the way` : 'directly';
        const words = `${names}: ${through}${turns ? ', through the next turn of a loop' : ''}`;
        return { ...drawn(seen, rows, on, [...a, ...b], turns), words };
      }
    }
  }
  const words = `nothing leads from ${labelOf(document, graph, rows, one)} to ${labelOf(document, graph, rows, other)} or back`;
  return { ...drawn(seen, rows, new Uint8Array(graph.nodeCount), [...a, ...b], false), words };
}

function waysBetween(
  graph: Graph,
  start: readonly number[],
  end: readonly number[],
  turns: boolean
): Uint8Array | null {
  const { before, after } = influenceOf(graph, turns);
  const from = reach(after, start);
  if (!end.some(node => from[node])) {
    return null;
  }
  const to = reach(before, end);
  return from.map((reached, node) => reached & to[node]);
}

function drawn(
  seen: Seen,
  rows: Rows,
  on: Uint8Array,
  ends: readonly number[],
  turns: boolean
): Pick<Relations, 'apart' | 'ways'> {
  const nodes = on.slice();
  ends.forEach(node => (nodes[node] = 1));
  const elsewhere = turns ? null : otherCopies(rows, ends[0], seen.spread);
  const boxes = boxesWith(seen, rows, nodes, elsewhere);
  const { source, target } = seen.visible;
  return {
    apart: boxes.map(box => 1 - box),
    ways: Uint8Array.from(source, (maker, edge) => (boxes[maker] && boxes[target[edge]] ? Way.to : Way.none))
  };
}

function nodesIn({ outline }: Rows, item: number): number[] {
  return item < 0
    ? [-1 - item]
    : Array.from({ length: outline.end[item] - outline.first[item] }, (_, i) => outline.first[item] + i);
}

function marks(graph: Graph, nodes: readonly number[]): Uint8Array {
  const marked = new Uint8Array(graph.nodeCount);
  nodes.forEach(node => (marked[node] = 1));
  return marked;
}

/** Boxes, and the frames around them, that hold any of the marked nodes. */
function boxesWith({ visible }: Seen, rows: Rows, marked: Uint8Array, elsewhere: Uint8Array | null): Uint8Array {
  const boxes = new Uint8Array(visible.count);
  for (let node = 0; node < marked.length; node++) {
    if (!marked[node] || elsewhere?.[rows.leaf[node]]) {
      continue;
    }
    const own = boxOfNode(rows, visible, node);
    // A node that is looked through is no reason to light the frame that it stands in.
    const seen = own >= 0 && visible.shape[own] === Shape.frame ? -1 : own;
    for (let box = seen; box >= 0 && !boxes[box]; box = visible.parent[box]) {
      boxes[box] = 1;
    }
  }
  return boxes;
}

/**
 * Rows of other copies of the stacks that a node stands in, where these are folded: they are drawn as the same boxes,
 * and would light what has nothing to do with the node in its own copy.
 */
function otherCopies({ outline, leaf, count }: Rows, node: number, spread: ReadonlySet<number>): Uint8Array | null {
  const own = new Map<number, number>();
  for (let row = leaf[node]; row > 0; row = outline.parent[row]) {
    if (outline.copy[row] >= 0 && !spread.has(outline.parent[row])) {
      own.set(outline.parent[row], row);
    }
  }
  if (!own.size) {
    return null;
  }
  const elsewhere = new Uint8Array(count);
  for (let row = 1; row < count; row++) {
    const around = outline.parent[row];
    const copy = own.get(around);
    elsewhere[row] = elsewhere[around] || (copy !== undefined && copy !== row && outline.copy[row] >= 0) ? 1 : 0;
  }
  return elsewhere;
}

/** Operations among the marked nodes but for those inside what is selected itself. */
function operations(graph: Graph, { outline }: Rows, marked: Uint8Array, inside: Uint8Array): number {
  let count = 0;
  for (let node = 0; node < marked.length; node++) {
    const counts = graph.kind[node] === NodeKind.operation && outline.role[node] <= NodeRole.counter;
    count += counts && marked[node] && !inside[node] ? 1 : 0;
  }
  return count;
}

function countText(count: number): string {
  return `${count} operation${count === 1 ? '' : 's'}`;
}

function labelOf(document: Document, graph: Graph, rows: Rows, item: number): string {
  if (item >= 0) {
    return rowLabel(document, graph, rows, item);
  }
  const node = -1 - item;
  const name = variableOf(document, graph, node) || document.strings[graph.name[node]];
  return graph.kind[node] === NodeKind.operation ? nodeLabel(document, graph, node) : name || 'a value of the loop';
}
