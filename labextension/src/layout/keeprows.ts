/**
 * Rows of a picture that follows another. Many ranks are equally good, and a region that opens may tip the scales for
 * what has nothing to do with it: so boxes stay in their rows, unless that makes the edges much longer.
 */
import { Pin } from './input.ts';
import { rowsBy, topologicalOrder, type Directed } from './rank.ts';

/** Former rows are kept up to so many times the length that all edges would have in new ones. */
const LONGER = 1.25;

/** `fresh` has the best ranks, `before` the former rows, -1 for what is new. */
export function keepRows(graph: Directed, fresh: Int32Array, before: Int32Array): Int32Array {
  const kept = withoutEmptyRows(pushDown(graph, before));
  return length(graph, kept) <= LONGER * length(graph, fresh) ? kept : fresh;
}

function length({ from, to }: Directed, rank: Int32Array): number {
  return from.reduce((sum, vertex, edge) => sum + rank[to[edge]] - rank[vertex], 0);
}

/** Each vertex in its former row, or as little below it as its edges ask for; what is new as near as can be to its neighbours. */
function pushDown(graph: Directed, before: Int32Array): Int32Array {
  const { count, from, to, pin } = graph;
  const [out, into] = [rowsBy(count, from), rowsBy(count, to)];
  const anyTop = pin.includes(Pin.top) ? 1 : 0;
  const rank = new Int32Array(count);
  let last = 0;
  const order = topologicalOrder(graph, out, into);
  for (const vertex of order) {
    let row = pin[vertex] === Pin.top && !hasAbove(into, vertex) ? 0 : Math.max(anyTop, before[vertex]);
    for (let i = into.first[vertex]; i < into.first[vertex + 1]; i++) {
      row = Math.max(row, rank[from[into.edge[i]]] + 1);
    }
    rank[vertex] = row;
    last = Math.max(last, pin[vertex] === Pin.bottom ? row : row + (pin.includes(Pin.bottom) ? 1 : 0));
  }
  for (const vertex of order.reverse()) {
    const [begin, end] = [out.first[vertex], out.first[vertex + 1]];
    if (pin[vertex] === Pin.bottom && begin === end) {
      rank[vertex] = last;
    } else if (before[vertex] < 0 && pin[vertex] === Pin.free && begin < end && !hasAbove(into, vertex)) {
      rank[vertex] = out.edge.subarray(begin, end).reduce((least, edge) => Math.min(least, rank[to[edge]] - 1), last);
    }
  }
  return rank;
}

function hasAbove(into: { readonly first: Int32Array }, vertex: number): boolean {
  return into.first[vertex] < into.first[vertex + 1];
}

function withoutEmptyRows(rank: Int32Array): Int32Array {
  const place = new Map([...new Set(rank)].sort((a, b) => a - b).map((row, i) => [row, i]));
  return rank.map(row => place.get(row) as number);
}
