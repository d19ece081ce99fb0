/**
 * A spanning tree of tight edges, which network simplex starts from. An edge is tight if it is as short as it may be.
 *
 * What tight edges join is a cluster. The smallest clusters move, each along the edge that needs the least, until they
 * touch a neighbour and join it.
 */
import { rowsBy } from './rank.ts';

/** Edges that span at least `least`, and cost `weight` for each unit of their length. */
export interface Spans {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Int32Array;
  readonly least: Int32Array;
}

/** Moves vertices so that a tree of tight edges spans every part; gives 1 for each edge of it. `at` must be feasible. */
export function tightTree(spans: Spans, at: Int32Array): Uint8Array {
  const { from, to, least } = spans;
  const inTree = new Uint8Array(from.length);
  const { cluster, members } = tightClusters(spans, at, inTree);
  const touching = edgesAt(spans);
  let live = Array.from(members.keys());
  while (live.length > 1) {
    live.sort((a, b) => members[a].length - members[b].length || a - b);
    const grown = new Uint8Array(members.length);
    let joined = false;
    for (const one of live) {
      // One that grew in this round is no longer among the smallest.
      if (grown[one] || members[one].length === 0) {
        continue;
      }
      const edge = tightestAround(one);
      if (edge < 0) {
        continue;
      }
      const slack = at[to[edge]] - at[from[edge]] - least[edge];
      const leaves = cluster[from[edge]] === one;
      const other = cluster[leaves ? to[edge] : from[edge]];
      for (const vertex of members[one]) {
        at[vertex] += leaves ? slack : -slack;
      }
      inTree[edge] = 1;
      const [small, large] = members[one].length <= members[other].length ? [one, other] : [other, one];
      for (const vertex of members[small]) {
        cluster[vertex] = large;
        members[large].push(vertex);
      }
      members[small] = [];
      grown[large] = 1;
      joined = true;
    }
    if (!joined) {
      break;
    }
    live = live.filter(one => members[one].length > 0);
  }
  return inTree;

  /** The edge of least slack between a cluster and the rest, -1 if nothing joins them. */
  function tightestAround(one: number): number {
    let best = -1;
    let fewest = Infinity;
    for (const vertex of members[one]) {
      for (let i = touching.first[vertex]; i < touching.first[vertex + 1]; i++) {
        const edge = touching.edge[i];
        if (cluster[from[edge]] !== cluster[to[edge]]) {
          const slack = at[to[edge]] - at[from[edge]] - least[edge];
          if (slack < fewest) {
            fewest = slack;
            best = edge;
          }
        }
      }
      if (fewest === 0) {
        break;
      }
    }
    return best;
  }
}

/** Edges by both of their ends. */
function edgesAt({ count, from, to }: Spans): { first: Int32Array; edge: Int32Array } {
  const ends = new Int32Array(2 * from.length);
  ends.set(from);
  ends.set(to, from.length);
  const { first, edge } = rowsBy(count, ends);
  return { first, edge: edge.map(end => (end < from.length ? end : end - from.length)) };
}

function tightClusters(spans: Spans, at: Int32Array, inTree: Uint8Array): { cluster: Int32Array; members: number[][] } {
  const { count, from, to, least } = spans;
  const touching = edgesAt(spans);
  const cluster = new Int32Array(count).fill(-1);
  const members: number[][] = [];
  for (let root = 0; root < count; root++) {
    if (cluster[root] >= 0) {
      continue;
    }
    const own = [root];
    cluster[root] = members.length;
    for (let next = 0; next < own.length; next++) {
      const vertex = own[next];
      for (let i = touching.first[vertex]; i < touching.first[vertex + 1]; i++) {
        const edge = touching.edge[i];
        const other = from[edge] === vertex ? to[edge] : from[edge];
        if (cluster[other] < 0 && at[to[edge]] - at[from[edge]] === least[edge]) {
          cluster[other] = members.length;
          inTree[edge] = 1;
          own.push(other);
        }
      }
    }
    members.push(own);
  }
  return { cluster, members };
}
