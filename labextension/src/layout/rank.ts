/**
 * Rows: each vertex gets a rank so that every edge runs downward and all edges together are as short as can be.
 * Longest path first, then passes in which a vertex moves within its slack to where more of its edges pull it, then
 * network simplex, which makes the sum of all lengths least.
 */
import { Pin } from './input.ts';
import { shorten } from './simplex.ts';

/** Passes of descent; more change nothing on real programs. */
const PASSES = 8;
/** Steps of network simplex, each of which may look at all vertices; past it the ranks are good but not the best. */
const SIMPLEX_WORK = 40_000_000;

/** Edges of a graph without cycles, as columns, and the pins of its vertices. */
export interface Directed {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly pin: Uint8Array;
}

/** For each vertex its edges, in compressed rows. */
export interface Rows {
  readonly first: Int32Array;
  readonly edge: Int32Array;
}

export function rowsBy(count: number, end: Int32Array): Rows {
  const first = new Int32Array(count + 1);
  for (const vertex of end) {
    first[vertex + 1]++;
  }
  for (let i = 0; i < count; i++) {
    first[i + 1] += first[i];
  }
  const next = first.slice(0, count);
  const edge = new Int32Array(end.length);
  end.forEach((vertex, e) => {
    edge[next[vertex]++] = e;
  });
  return { first, edge };
}

/**
 * Turns edges that close a cycle around, so that the result has none. Depth first in vertex order; an edge back to a
 * vertex that is still open closes a cycle. Gives 1 for each edge that was turned.
 */
export function breakCycles(count: number, from: Int32Array, to: Int32Array): Uint8Array {
  const out = rowsBy(count, from);
  const turned = new Uint8Array(from.length);
  const state = new Uint8Array(count); // 0 new, 1 open, 2 done
  const next = out.first.slice(0, count);
  const stack: number[] = [];
  for (let root = 0; root < count; root++) {
    if (state[root]) {
      continue;
    }
    stack.push(root);
    state[root] = 1;
    while (stack.length) {
      const vertex = stack[stack.length - 1];
      if (next[vertex] === out.first[vertex + 1]) {
        state[vertex] = 2;
        stack.pop();
        continue;
      }
      const edge = out.edge[next[vertex]++];
      const other = to[edge];
      if (state[other] === 1) {
        turned[edge] = 1;
      } else if (state[other] === 0) {
        state[other] = 1;
        stack.push(other);
      }
    }
  }
  return turned;
}

/**
 * Ranks from 0. Vertices pinned to the top stand in the first row, those pinned to the bottom in the last. Many ranks may
 * be equally good: with `low`, those are found that come first from below.
 */
export function rankVertices(graph: Directed, low = false): Int32Array {
  const { count, from, to, pin } = graph;
  const out = rowsBy(count, from);
  const into = rowsBy(count, to);
  const order = topologicalOrder(graph, out, into);
  const rank = new Int32Array(count);
  // A vertex that is not pinned to the top stands below those that are, even if nothing joins them.
  const anyTop = pin.some(one => one === Pin.top) ? 1 : 0;
  for (const vertex of order) {
    let least = pin[vertex] === Pin.top ? 0 : anyTop;
    for (let i = into.first[vertex]; i < into.first[vertex + 1]; i++) {
      least = Math.max(least, rank[from[into.edge[i]]] + 1);
    }
    rank[vertex] = least;
  }
  let lowest = 0;
  let lastFree = 0;
  for (let vertex = 0; vertex < count; vertex++) {
    lowest = Math.max(lowest, rank[vertex]);
    if (pin[vertex] !== Pin.bottom) {
      lastFree = Math.max(lastFree, rank[vertex]);
    }
  }
  const anyBottom = pin.some(one => one === Pin.bottom);
  const bottom = anyBottom ? Math.max(lowest, lastFree + 1) : lowest;
  for (let vertex = 0; vertex < count; vertex++) {
    if (pin[vertex] === Pin.bottom && out.first[vertex] === out.first[vertex + 1]) {
      rank[vertex] = bottom;
    }
  }
  const last = anyBottom ? bottom - 1 : bottom;
  descend(graph, out, into, order, rank, last, anyTop);
  if (low) {
    sink(graph, out, order, rank, last);
  }
  shortenEdges(graph, out, into, rank);
  balance(graph, out, into, rank);
  return rank;
}

/** A vertex with as many edges in as out may stand anywhere between its neighbours: it goes to the least full row. */
function balance({ count, from, to, pin }: Directed, out: Rows, into: Rows, rank: Int32Array): void {
  const full = new Int32Array(rank.reduce((most, one) => Math.max(most, one), 0) + 1);
  for (const row of rank) {
    full[row]++;
  }
  for (let vertex = 0; vertex < count; vertex++) {
    const ins = into.first[vertex + 1] - into.first[vertex];
    if (pin[vertex] !== Pin.free || ins === 0 || ins !== out.first[vertex + 1] - out.first[vertex]) {
      continue;
    }
    let low = 0;
    for (let k = into.first[vertex]; k < into.first[vertex + 1]; k++) {
      low = Math.max(low, rank[from[into.edge[k]]] + 1);
    }
    let high = full.length - 1;
    for (let k = out.first[vertex]; k < out.first[vertex + 1]; k++) {
      high = Math.min(high, rank[to[out.edge[k]]] - 1);
    }
    let best = rank[vertex];
    for (let row = low; row <= high; row++) {
      if (full[row] < full[best] - (row === rank[vertex] || best !== rank[vertex] ? 0 : 1)) {
        best = row;
      }
    }
    full[rank[vertex]]--;
    full[best]++;
    rank[vertex] = best;
  }
}

/**
 * Network simplex over the vertices, with those in the first row as one vertex and those in the last row as another.
 * Edges without weight keep all others between these two.
 */
function shortenEdges({ count, from, to, pin }: Directed, out: Rows, into: Rows, rank: Int32Array): void {
  const [top, bottom] = [count, count + 1];
  const has = (rows: Rows, vertex: number): boolean => rows.first[vertex] < rows.first[vertex + 1];
  const node = Int32Array.from({ length: count }, (_, vertex) =>
    pin[vertex] === Pin.top && !has(into, vertex)
      ? top
      : pin[vertex] === Pin.bottom && !has(out, vertex)
        ? bottom
        : vertex
  );
  const [anyTop, anyBottom] = [node.includes(top), node.includes(bottom)];
  const sources = Array.from(from, vertex => node[vertex]);
  const targets = Array.from(to, vertex => node[vertex]);
  const edges = sources.length;
  for (let vertex = 0; vertex < count; vertex++) {
    if (anyTop && node[vertex] === vertex && !has(into, vertex)) {
      sources.push(top);
      targets.push(vertex);
    }
    if (anyBottom && node[vertex] === vertex && !has(out, vertex)) {
      sources.push(vertex);
      targets.push(bottom);
    }
  }
  const at = new Int32Array(count + 2);
  for (let vertex = 0; vertex < count; vertex++) {
    at[node[vertex]] = rank[vertex];
  }
  const spans = {
    count: count + 2,
    from: Int32Array.from(sources),
    to: Int32Array.from(targets),
    weight: Int32Array.from(sources, (_, edge) => (edge < edges ? 1 : 0)),
    least: new Int32Array(sources.length).fill(1)
  };
  shorten(spans, at, Math.floor(SIMPLEX_WORK / (count + edges)));
  let first = Infinity;
  for (let vertex = 0; vertex < count; vertex++) {
    first = Math.min(first, at[node[vertex]]);
  }
  for (let vertex = 0; vertex < count; vertex++) {
    rank[vertex] = at[node[vertex]] - first;
  }
}

function descend(
  graph: Directed,
  out: Rows,
  into: Rows,
  order: Int32Array,
  rank: Int32Array,
  last: number,
  first: number
): void {
  const { from, to, pin, count } = graph;
  for (let pass = 0; pass < PASSES; pass++) {
    let moved = false;
    for (let i = 0; i < count; i++) {
      const vertex = order[pass % 2 ? i : count - 1 - i];
      const ins = into.first[vertex + 1] - into.first[vertex];
      const outs = out.first[vertex + 1] - out.first[vertex];
      if (pin[vertex] !== Pin.free || (ins === 0 && outs === 0)) {
        continue;
      }
      let low = first;
      for (let k = into.first[vertex]; k < into.first[vertex + 1]; k++) {
        low = Math.max(low, rank[from[into.edge[k]]] + 1);
      }
      let high = last;
      for (let k = out.first[vertex]; k < out.first[vertex + 1]; k++) {
        high = Math.min(high, rank[to[out.edge[k]]] - 1);
      }
      const best = outs > ins ? high : low;
      if (best !== rank[vertex] && low <= high) {
        rank[vertex] = best;
        moved = true;
      }
    }
    if (!moved) {
      return;
    }
  }
}

/** Every vertex as low as may be. */
function sink({ to, pin }: Directed, out: Rows, order: Int32Array, rank: Int32Array, last: number): void {
  for (const vertex of order.slice().reverse()) {
    if (pin[vertex] === Pin.free) {
      rank[vertex] = last;
      for (let k = out.first[vertex]; k < out.first[vertex + 1]; k++) {
        rank[vertex] = Math.min(rank[vertex], rank[to[out.edge[k]]] - 1);
      }
    }
  }
}

export function topologicalOrder({ count, from, to }: Directed, out: Rows, into: Rows): Int32Array {
  const waiting = Int32Array.from({ length: count }, (_, vertex) => into.first[vertex + 1] - into.first[vertex]);
  const order = new Int32Array(count);
  let end = 0;
  for (let vertex = 0; vertex < count; vertex++) {
    if (waiting[vertex] === 0) {
      order[end++] = vertex;
    }
  }
  for (let begin = 0; begin < end; begin++) {
    for (let i = out.first[order[begin]]; i < out.first[order[begin] + 1]; i++) {
      const target = to[out.edge[i]];
      if (--waiting[target] === 0) {
        order[end++] = target;
      }
    }
  }
  if (end !== count) {
    throw new Error(`a cycle was left among ${from.length} edges`);
  }
  return order;
}
