/**
 * What stands on the screen when given rows of the outline are open: for each node the item that it is seen as.
 *
 * An item is a row (its number) or a single node (-1 - node). Of a stack only the first copy is drawn unless it is
 * spread: the nodes of the others are seen as what they correspond to in the first, and what that lacks stands beside
 * it (`beside.ts`).
 */
import { NodeKind, NodeRole, RowKind, type Graph } from '../document/graph.ts';
import { Beside } from './beside.ts';
import type { Borders } from './borders.ts';
import { childrenOf, ownNodes, type Rows } from './outline.ts';
import { endsOf } from './ends.ts';
import { getOrMake } from '../maps';

/**
 * Where there is little room beside boxes, what stands there is told in one label at each side, and long names are cut
 * earlier; where there is least, it is only counted, and names are told without types.
 */
export const Brevity = { none: 0, short: 1, shortest: 2 } as const;

/**
 * What tells closed boxes apart that look alike: nothing, what they are assigned to in place of their names, where there
 * is no room for more, or any words that do, beside their names.
 */
export const Apart = { none: 0, assigned: 1, beside: 2 } as const;

/** How a person looks at a graph. */
export interface ViewState {
  /** Rows of the outline that are open in place. */
  readonly open: ReadonlySet<number>;
  /** Stacks whose copies are all shown. */
  readonly spread?: ReadonlySet<number>;
  /** Every equation is a box, also those that only hand a value on. */
  readonly all?: boolean;
  /** How short the words are that stand in boxes and beside them. */
  readonly brevity?: number;
  /** There is room for the types of what closed rows give. */
  readonly types?: boolean;
  /** There is room for names that are longer than a box has room for else. */
  readonly long?: boolean;
  /** How closed boxes are told apart that look alike. */
  readonly apart?: number;
}

/** Nothing: a node that is looked through, or that is a mere label. */
export const NOTHING = -(2 ** 30);

/** Of each outline which copies were found to hold the same as another one. */
const same = new WeakMap<Rows, Map<number, boolean>>();

export const itemOfNode = (node: number): number => -1 - node;

export class Folds {
  /** The item that each node is seen as, or `NOTHING`. */
  readonly item: Int32Array;
  /** Rows on the screen that are closed boxes, and those that are frames, in order. */
  readonly boxes: number[] = [];
  readonly frames: number[] = [];
  /** Nodes that are items of their own, in order. */
  readonly nodes: Int32Array;
  /** What stands beside the first copies of folded stacks, which lack it. */
  readonly beside: Beside;
  /** For each node, the copy of the innermost folded stack that it stands in, over all stacks; 0 for none. */
  readonly copyOf: Int32Array;
  private copies = 0;
  private runsBegin: readonly number[] | null = null;
  private readonly single: number[] = [];

  constructor(
    readonly graph: Graph,
    readonly rows: Rows,
    readonly borders: Borders,
    readonly state: ViewState
  ) {
    this.item = new Int32Array(graph.nodeCount).fill(NOTHING);
    this.copyOf = new Int32Array(graph.nodeCount);
    this.beside = new Beside(rows);
    this.show(0);
    this.showEnds();
    this.nodes = Int32Array.from(this.single)
      .sort()
      .filter((node, at, nodes) => node !== nodes[at - 1] && this.item[node] === itemOfNode(node));
  }

  /** Where runs of nodes begin that are seen as one item and stand in one copy, and where the last one ends. */
  get runs(): readonly number[] {
    this.runsBegin ??= runsIn(this.item, this.copyOf);
    return this.runsBegin;
  }

  isOpen(row: number): boolean {
    return row === 0 || this.state.open.has(row);
  }

  /** How many boxes stand for operations: what a picture of this would have, without making it. */
  get operationBoxes(): number {
    const { graph, rows } = this;
    const inRows = this.boxes.reduce((sum, row) => sum + (rows.operations[row] ? 1 : 0), 0);
    return this.nodes.reduce((sum, node) => sum + (graph.kind[node] === NodeKind.operation ? 1 : 0), inRows);
  }

  /** True for an open row that has no frame of its own: the program, a statement, the only copy that is shown. */
  isBare(row: number): boolean {
    const { kind, copy, parent, count } = this.rows.outline;
    return (
      row === 0 ||
      (kind[row] === RowKind.copy && count[parent[row]] === 1) ||
      (kind[row] === RowKind.statement && count[row] === 1) ||
      (copy[row] === 0 && !this.state.spread?.has(parent[row]))
    );
  }

  /** From one copy of a folded stack to the next: as all copies are one box, that would lead backwards. */
  betweenCopies(source: number, target: number): boolean {
    if (this.copyOf[source] === 0 || this.copyOf[target] === 0) {
      return false;
    }
    const { parent, copy } = this.rows.outline;
    let [one, other] = [this.rows.leaf[source], this.rows.leaf[target]];
    while (parent[one] !== parent[other]) {
      if (parent[one] > parent[other]) {
        one = parent[one];
      } else {
        other = parent[other];
      }
    }
    return one !== other && copy[one] >= 0 && copy[other] >= 0 && !this.state.spread?.has(parent[one]);
  }

  private show(row: number): void {
    const todo = [row];
    const folded: Int32Array[] = [];
    while (todo.length) {
      const at = todo.pop() as number;
      const { first, end, count } = this.rows.outline;
      if (!this.isOpen(at) && !this.isBareCopy(at)) {
        this.boxes.push(at);
        this.item.fill(at, first[at], end[at]);
        continue;
      }
      if (!this.isBare(at)) {
        this.frames.push(at);
      }
      this.showOwn(at);
      const children = childrenOf(this.rows, at);
      if (count[at] > 1 && !this.state.spread?.has(at)) {
        for (const copy of children) {
          this.copyOf.fill(++this.copies, first[copy], end[copy]);
        }
        folded.push(children);
        todo.push(children[0]);
      } else {
        // Last in, first out: kept in order.
        for (let i = children.length - 1; i >= 0; i--) {
          todo.push(children[i]);
        }
      }
    }
    // What stands in an inner stack is known before that is what a copy of the outer one is seen as.
    for (const [shown, ...others] of folded.reverse()) {
      others.forEach(copy => this.follow(copy, shown));
    }
  }

  /** The first copy of an open stack is open with it. */
  private isBareCopy(row: number): boolean {
    const { copy, parent } = this.rows.outline;
    return copy[row] === 0 && this.isOpen(parent[row]) && !this.state.spread?.has(parent[row]);
  }

  /** Nodes that belong to an open row itself are boxes of their own. */
  private showOwn(row: number): void {
    const { graph, rows } = this;
    for (const node of ownNodes(rows, row)) {
      if (this.isDrawn(node, rows.outline.role[node])) {
        this.showAlone(node);
      }
    }
    if (graph.regionCount > 1) {
      this.showDetails(row);
    }
  }

  private showAlone(node: number): void {
    this.item[node] = itemOfNode(node);
    this.single.push(node);
  }

  /** What goes into the program and comes out of it is in no box, also where the first or last row reaches around it. */
  private showEnds(): void {
    const { graph } = this;
    for (const node of endsOf(graph)) {
      if (graph.kind[node] === NodeKind.argument || this.isResult(node)) {
        this.showAlone(node);
        this.copyOf[node] = 0;
      }
    }
  }

  /** What stands inside an operation that is drawn whole belongs to it. */
  private showDetails(row: number): void {
    const { graph, rows } = this;
    for (const node of ownNodes(rows, row)) {
      if (rows.outline.role[node] === NodeRole.detail) {
        this.item[node] = this.item[graph.regionOwner[graph.region[node]]] ?? NOTHING;
      }
    }
  }

  private isDrawn(node: number, role: number): boolean {
    switch (this.graph.kind[node]) {
      case NodeKind.operation:
        return (
          (role === NodeRole.box || (this.state.all === true && role <= NodeRole.counter)) && !this.holdsRows(node)
        );
      case NodeKind.argument:
        return this.graph.region[node] === 0 || (role === NodeRole.box && !this.borders.passes(node));
      case NodeKind.result:
        return this.isResult(node);
      default:
        return false;
    }
  }

  /** True for what the program gives; what is beside that, and nobody asked for, is among all operations only. */
  private isResult(node: number): boolean {
    const { graph, rows, state } = this;
    const asked = rows.outline.role[node] === NodeRole.box || state.all === true;
    return graph.kind[node] === NodeKind.result && graph.region[node] === 0 && asked;
  }

  /** True for the owner of bodies that are drawn themselves. */
  private holdsRows(node: number): boolean {
    const { graph } = this;
    const owns = graph.firstRegion[node] < graph.firstRegion[node + 1];
    return owns && this.rows.outline.role[node + 1] !== NodeRole.detail;
  }

  /** The nodes of a copy are seen as those of the first that stand at the same place in the same row. */
  private follow(copy: number, shown: number): void {
    const { first, end } = this.rows.outline;
    if (this.holdsSame(copy, shown)) {
      this.item.copyWithin(first[copy], first[shown], end[shown]);
      this.beside.countSame(shown);
    } else {
      this.match(copy, shown);
    }
  }

  private holdsSame(copy: number, shown: number): boolean {
    const { rows } = this;
    const found = getOrMake(same, rows, () => new Map<number, boolean>());
    return getOrMake(found, copy * rows.count + shown, () => this.comparesSame(copy, shown));
  }

  private comparesSame(copy: number, shown: number): boolean {
    const { graph } = this;
    const { first, end, role } = this.rows.outline;
    if (end[copy] - first[copy] !== end[shown] - first[shown]) {
      return false;
    }
    const shift = first[shown] - first[copy];
    for (let node = first[copy]; node < end[copy]; node++) {
      if (graph.op[node] !== graph.op[node + shift] || role[node] !== role[node + shift]) {
        return false;
      }
    }
    return true;
  }

  /** The outermost closed row that a row in another one is seen as, or that row itself. */
  private drawnAs(row: number, around: number): number {
    let drawn = row;
    for (let at = this.beside.around(row); at > around; at = this.beside.around(at)) {
      drawn = this.isOpen(at) || this.isBareCopy(at) ? drawn : at;
    }
    return drawn;
  }

  /** All in a row of a later copy is seen as what it is like in a row that is shown; where that lacks it, as itself. */
  private match(row: number, shown: number): void {
    const { beside, rows, item } = this;
    const { first, end, count } = rows.outline;
    beside.count(shown);
    if (!this.isOpen(shown) && !this.isBareCopy(shown)) {
      item.fill(shown, first[row], end[row]);
      return;
    }
    const [inside, copies] = [childrenOf(rows, row), childrenOf(rows, shown)];
    if (count[row] > 1 || count[shown] > 1) {
      const spread = count[shown] > 1 && this.state.spread?.has(shown);
      const seenAs = (copy: number): number =>
        count[shown] === 1 ? shown : copies[spread ? Math.min(copy, copies.length - 1) : 0];
      (count[row] > 1 ? inside : [row]).forEach((copy, number) => this.follow(copy, seenAs(number)));
      return;
    }
    const place = beside.within(shown);
    const through = inside.filter(child => beside.isLookedThrough(child, shown));
    const parts = [...inside].flatMap(child => (through.includes(child) ? [...childrenOf(rows, child)] : [child]));
    let node = first[row];
    for (const child of [...parts, -1]) {
      for (const limit = child < 0 ? end[row] : first[child]; node < limit; node++) {
        const like = beside.nodeLike(this.graph, node, row, shown);
        item[node] = like < 0 ? NOTHING : item[like];
        if (item[node] !== NOTHING) {
          place.after(item[node]);
          beside.count(item[node]);
        } else if (this.isDrawn(node, rows.outline.role[node])) {
          this.showAlone(node);
          place.add(item[node]);
        }
      }
      if (child >= 0) {
        const like = beside.rowLike(child, shown);
        if (like >= 0) {
          const drawn = this.drawnAs(like, shown);
          this.follow(child, drawn);
          place.after(drawn);
        } else {
          place.add(child);
          this.show(child);
        }
        node = end[child];
      }
    }
    [row, ...through].forEach(at => this.showDetails(at));
  }
}

function runsIn(item: Int32Array, copyOf: Int32Array): number[] {
  const runs = [0];
  let [own, copy] = [item[0], copyOf[0]];
  for (let node = 1; node < item.length; node++) {
    if (item[node] !== own || copyOf[node] !== copy) {
      runs.push(node);
      own = item[node];
      copy = copyOf[node];
    }
  }
  runs.push(item.length);
  return runs;
}
