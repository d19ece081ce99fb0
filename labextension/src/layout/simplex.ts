/**
 * Network simplex: places on a line for which the weighted sum of all edge lengths is least.
 *
 * A spanning tree of tight edges fixes all places. The cut value of a tree edge says what it costs to make it longer:
 * the weight that runs across the cut in its direction, less what runs against it. A pivot takes out an edge with a
 * negative cut value and moves one side of the cut until another edge becomes tight. With no negative one left, the
 * places are optimal.
 */
import { rowsBy, type Rows } from './rank.ts';
import { tightTree, type Spans } from './tighttree.ts';

/** Of so many edges with a negative cut value the most negative leaves the tree. */
const SEARCHED = 30;

/** Shortens the edges as far as can be, or for `mostPivots` pivots. Gives the number of pivots; `at` must be feasible. */
export function shorten(spans: Spans, at: Int32Array, mostPivots: number): number {
  if (spans.from.length === 0) {
    return 0;
  }
  const tree = new Tree(spans, tightTree(spans, at));
  let pivots = 0;
  let begin = 0;
  while (pivots < mostPivots) {
    const leaving = tree.worstEdge(begin);
    if (leaving < 0) {
      break;
    }
    begin = leaving + 1;
    tree.pivot(leaving, at);
    pivots++;
  }
  return pivots;
}

/**
 * The tree with its numbers. Vertices are numbered in post-order: the subtree of `v` holds the numbers `low[v]` to
 * `number[v]`, so whether one vertex hangs below another is two comparisons.
 */
class Tree {
  private readonly low: Int32Array;
  private readonly number: Int32Array;
  private readonly numbered: Int32Array;
  /** The tree edge to the parent, -1 for a root. */
  private readonly up: Int32Array;
  private readonly cut: Int32Array;
  /** Tree edges at a vertex as linked lists: slot 2e is edge e at its source, 2e + 1 at its target. */
  private readonly head: Int32Array;
  private readonly next: Int32Array;
  private readonly out: Rows;
  private readonly into: Rows;
  private readonly stack: Int32Array;
  private readonly cursor: Int32Array;

  constructor(
    private readonly spans: Spans,
    private readonly inTree: Uint8Array
  ) {
    const { count, from, to } = spans;
    this.low = new Int32Array(count);
    this.number = new Int32Array(count).fill(-1);
    this.numbered = new Int32Array(count);
    this.up = new Int32Array(count).fill(-1);
    this.cut = new Int32Array(from.length);
    this.head = new Int32Array(count).fill(-1);
    this.next = new Int32Array(2 * from.length);
    this.out = rowsBy(count, from);
    this.into = rowsBy(count, to);
    this.stack = new Int32Array(count + 1);
    this.cursor = new Int32Array(count);
    inTree.forEach((yes, edge) => {
      if (yes) {
        this.link(edge);
      }
    });
    let numbers = 0;
    for (let vertex = 0; vertex < count; vertex++) {
      if (this.number[vertex] < 0) {
        numbers = this.renumber(vertex, -1, numbers);
      }
    }
    this.number.forEach((number, vertex) => (this.numbered[number] = vertex));
    this.sumCuts();
  }

  /** A tree edge with a negative cut value, looked for from edge `begin` on; -1 if there is none. */
  worstEdge(begin: number): number {
    const { inTree, cut } = this;
    const edges = inTree.length;
    let worst = -1;
    let found = 0;
    for (let i = 0, edge = begin; i < edges; i++, edge++) {
      if (edge >= edges) {
        edge -= edges;
      }
      if (inTree[edge] && cut[edge] < 0) {
        if (worst < 0 || cut[edge] < cut[worst]) {
          worst = edge;
        }
        if (++found === SEARCHED) {
          break;
        }
      }
    }
    return worst;
  }

  /** Exchanges a tree edge for the one that becomes tight first when the edge is made longer. */
  pivot(leaving: number, at: Int32Array): void {
    const { low, number, numbered, up, cut, inTree } = this;
    const { from, to, least, count } = this.spans;
    const sourceBelow = up[from[leaving]] === leaving;
    const child = sourceBelow ? from[leaving] : to[leaving];
    const [begin, end] = [low[child], number[child] + 1];
    // The smaller side is looked at and moved: the subtree, or all the rest.
    const inside = 2 * (end - begin) <= count;
    const entering = inside
      ? this.tightest(begin, end, !sourceBelow, begin, end, at, -1)
      : this.tightest(
          end,
          count,
          sourceBelow,
          begin,
          end,
          at,
          this.tightest(0, begin, sourceBelow, begin, end, at, -1)
        );
    if (entering < 0) {
      throw new Error('the tree has an edge that nothing bounds');
    }
    const slack = at[to[entering]] - at[from[entering]] - least[entering];
    if (slack > 0) {
      // The side of the source moves up, or that of the target down.
      const way = sourceBelow === inside ? -slack : slack;
      for (let i = inside ? begin : 0; i < (inside ? end : count); i++) {
        if (inside || i < begin || i >= end) {
          at[numbered[i]] += way;
        }
      }
    }
    const value = cut[leaving];
    const top = this.carry(entering, value);
    cut[entering] = -value;
    cut[leaving] = 0;
    inTree[leaving] = 0;
    inTree[entering] = 1;
    this.unlink(2 * leaving, from[leaving]);
    this.unlink(2 * leaving + 1, to[leaving]);
    this.link(entering);
    const first = low[top];
    const beyond = this.renumber(top, up[top], first);
    const moved = numbered.slice(first, beyond);
    for (const vertex of moved) {
      numbered[number[vertex]] = vertex;
    }
  }

  /**
   * The edge of least slack between the vertices numbered `first` to `last` and the other side of the cut around the
   * subtree `begin` to `end`; only those that leave the vertices, or only those that come to them.
   */
  private tightest(
    first: number,
    last: number,
    leaving: boolean,
    begin: number,
    end: number,
    at: Int32Array,
    known: number
  ): number {
    const { number, numbered } = this;
    const { from, to, least } = this.spans;
    const rows = leaving ? this.out : this.into;
    const ends = leaving ? to : from;
    const within = first >= begin && last <= end;
    let best = known;
    let fewest = known < 0 ? 0x7fffffff : at[to[known]] - at[from[known]] - least[known];
    for (let i = first; i < last && fewest > 0; i++) {
      const vertex = numbered[i];
      for (let k = rows.first[vertex]; k < rows.first[vertex + 1]; k++) {
        const edge = rows.edge[k];
        const other = number[ends[edge]];
        if ((other >= begin && other < end) !== within) {
          const slack = at[to[edge]] - at[from[edge]] - least[edge];
          if (slack < fewest) {
            fewest = slack;
            best = edge;
          }
        }
      }
    }
    return best;
  }

  /** Adds the cut value of the leaving edge along the cycle that the entering edge closes; gives the cycle's top. */
  private carry(entering: number, value: number): number {
    const { low, number, up, cut } = this;
    const { from, to } = this.spans;
    const [source, target] = [from[entering], to[entering]];
    const holds = (vertex: number, other: number): boolean =>
      low[vertex] <= number[other] && number[other] <= number[vertex];
    let vertex = source;
    while (!holds(vertex, target)) {
      const edge = up[vertex];
      const rising = from[edge] === vertex;
      cut[edge] += rising ? value : -value;
      vertex = rising ? to[edge] : from[edge];
    }
    const top = vertex;
    vertex = target;
    while (vertex !== top) {
      const edge = up[vertex];
      const falling = to[edge] === vertex;
      cut[edge] += falling ? value : -value;
      vertex = falling ? from[edge] : to[edge];
    }
    return top;
  }

  /** Cut values of all tree edges: the weight that leaves a subtree less what comes into it, summed from the leaves. */
  private sumCuts(): void {
    const { count, from, to, weight } = this.spans;
    const leaving = new Int32Array(count);
    from.forEach((vertex, edge) => {
      leaving[vertex] += weight[edge];
      leaving[to[edge]] -= weight[edge];
    });
    for (let i = 0; i < count; i++) {
      const vertex = this.numbered[i];
      const edge = this.up[vertex];
      if (edge >= 0) {
        const rising = from[edge] === vertex;
        leaving[rising ? to[edge] : from[edge]] += leaving[vertex];
        this.cut[edge] = rising ? leaving[vertex] : -leaving[vertex];
      }
    }
  }

  /** Numbers the subtree of `root` from `first` on; gives the next free number. */
  private renumber(root: number, upEdge: number, first: number): number {
    const { low, number, up, head, next, stack, cursor } = this;
    const { from, to } = this.spans;
    let numbers = first;
    let depth = 0;
    stack[0] = root;
    up[root] = upEdge;
    low[root] = numbers;
    cursor[root] = head[root];
    while (depth >= 0) {
      const vertex = stack[depth];
      const slot = cursor[vertex];
      if (slot < 0) {
        number[vertex] = numbers++;
        depth--;
        continue;
      }
      cursor[vertex] = next[slot];
      const edge = slot >> 1;
      if (edge !== up[vertex]) {
        const other = slot & 1 ? from[edge] : to[edge];
        up[other] = edge;
        low[other] = numbers;
        cursor[other] = head[other];
        stack[++depth] = other;
      }
    }
    return numbers;
  }

  private link(edge: number): void {
    const { head, next } = this;
    const { from, to } = this.spans;
    next[2 * edge] = head[from[edge]];
    head[from[edge]] = 2 * edge;
    next[2 * edge + 1] = head[to[edge]];
    head[to[edge]] = 2 * edge + 1;
  }

  private unlink(slot: number, vertex: number): void {
    const { head, next } = this;
    if (head[vertex] === slot) {
      head[vertex] = next[slot];
      return;
    }
    let before = head[vertex];
    while (next[before] !== slot) {
      before = next[before];
    }
    next[before] = next[slot];
  }
}
