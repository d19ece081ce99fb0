/** The boxes on the screen, in program order: closed rows, frames of open rows, operations, arguments and results. */
import { NodeKind, NodeRole, RowKind, type Document, type Graph } from '../document/graph.ts';
import { endsOf } from './ends.ts';
import { family, familyOfRow } from './family.ts';
import { itemOfNode, NOTHING, type Folds } from './folds.ts';
import { fatesOf, ghostsOf, type Ghost } from './ghosts.ts';
import { rowOpens, type Rows } from './outline.ts';
import type { Reads } from './reads.ts';
import { Shape } from './visible.ts';

/** Up to so many results are boxes of their own; more are chips at the boxes that make them. */
const MAX_RESULT_BOXES = 3;

/** Up to so many results that no box makes are boxes of their own; more are one. */
const MAX_HANDED_THROUGH = 2;

/** Up to so many values that go round a loop are boxes of their own; more are chips at the boxes that read them. */
const MAX_TURN_BOXES = 2;

/** Columns of the boxes; the place of a box in them is its number. */
export class Boxes {
  readonly item: number[] = [];
  readonly node: number[] = [];
  readonly parent: number[] = [];
  readonly shape: number[] = [];
  readonly family: number[] = [];
  readonly closed: number[] = [];
  readonly times: number[] = [];
  readonly ghost: number[] = [];
  /** Of a box that several nodes are seen in, those beside its own. */
  readonly others = new Map<number, number[]>();
  /** For each item one more than the number of its box: nodes, the last one first, then rows. */
  private readonly ofItem: Int32Array;
  /** What became of what an item is. */
  readonly ghostOf: (item: number) => Ghost;
  private readonly rows: Rows;
  /** Results that no box makes: where they are many, one box stands for all of them, `handedThrough`; -1 for none. */
  private idle: ReadonlySet<number> = new Set();
  private handedThrough = -1;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    readonly folds: Folds,
    private readonly reads: Reads
  ) {
    this.ghostOf = ghostsOf(graph, folds, fatesOf(document, graph));
    this.rows = folds.rows;
    this.ofItem = new Int32Array(graph.nodeCount + folds.rows.count);
    this.build();
  }

  /** The box that an item is seen in, or -1. */
  of(item: number): number {
    return item === NOTHING ? -1 : this.ofItem[this.graph.nodeCount + item] - 1;
  }

  private keep(item: number, box: number): void {
    this.ofItem[this.graph.nodeCount + item] = box + 1;
  }

  ofNode(node: number): number {
    return this.of(this.folds.item[node]);
  }

  /** True where `box` is the frame `frame` or stands inside it. */
  holds(frame: number, box: number): boolean {
    let at = box;
    while (at > frame) {
      at = this.parent[at];
    }
    return at === frame;
  }

  /** The frame of the innermost open row around a node, and around all up to `end`, or -1. */
  frameAround(node: number, end = node): number {
    const { beside } = this.folds;
    const { end: ends, parent } = this.rows.outline;
    let last = beside.leaf(node) === this.rows.leaf[node] ? end : -1;
    for (let row = beside.leaf(node); row > 0; row = beside.around(row)) {
      const frame = ends[row] >= last ? this.of(row) : -1;
      if (frame >= 0 && this.shape[frame] === Shape.frame) {
        return frame;
      }
      // What was put beside others is in all that is around them.
      last = beside.around(row) === parent[row] ? last : -1;
    }
    return -1;
  }

  /** Rows and single nodes in the order of the program; a frame before what it holds. */
  private build(): void {
    const { first } = this.rows.outline;
    const results = this.results();
    const fewResults = results.length <= MAX_RESULT_BOXES;
    this.idle = new Set(fewResults ? [] : results.filter(node => this.comesFromChip(node)));
    const together = this.idle.size > MAX_HANDED_THROUGH;
    const rows = [
      ...this.folds.frames.map(row => ({ row, frame: true })),
      ...this.folds.boxes.map(row => ({ row, frame: false }))
    ].sort((a, b) => a.row - b.row);
    const { beside, nodes } = this.folds;
    const order: { item: number; frame: boolean }[] = [];
    let next = 0;
    const addRowsTo = (node: number): void => {
      for (; next < rows.length && first[rows[next].row] <= node; next++) {
        order.push({ item: rows[next].row, frame: rows[next].frame });
      }
    };
    for (const node of nodes) {
      addRowsTo(node);
      order.push({ item: itemOfNode(node), frame: false });
    }
    addRowsTo(this.graph.nodeCount);
    if (!beside.isEmpty) {
      order.sort((one, other) => beside.compare(one.item, other.item));
    }
    for (const one of order) {
      if (together && this.idle.has(-1 - one.item)) {
        this.addHandedThrough(-1 - one.item);
      } else if (one.item < 0) {
        this.addNode(-1 - one.item, fewResults);
      } else if (one.frame) {
        this.addFrame(one.item);
      } else {
        this.addRow(one.item);
      }
    }
  }

  private addFrame(row: number): void {
    this.add(row, this.mainNode(row), Shape.frame, this.parentOfRow(row));
  }

  private addRow(row: number): void {
    const { document, graph, rows } = this;
    const isEmpty = rows.operations[row] === 0;
    // A row without anything to draw is seen through: what stands for it is its one value. Of a branch it is told.
    if (isEmpty ? rows.outline.kind[row] !== RowKind.body : !this.folds.state.all && this.counts(row)) {
      return;
    }
    const box = this.add(row, this.mainNode(row), Shape.box, this.parentOfRow(row));
    this.family[box] = familyOfRow(document, graph, rows, row);
    this.closed[box] = rowOpens(rows, row) ? 1 : 0;
  }

  /** True for a row that only counts the turns of a loop. */
  private counts(row: number): boolean {
    const { first, end, role } = this.rows.outline;
    for (let node = first[row]; node < end[row]; node++) {
      if (this.graph.kind[node] === NodeKind.operation && role[node] !== NodeRole.counter) {
        return false;
      }
    }
    return true;
  }

  private addNode(node: number, fewResults: boolean): void {
    const { graph, reads } = this;
    const top = graph.region[node] === 0;
    // What goes into the program and comes out of it stands around everything.
    const around = top && graph.kind[node] !== NodeKind.operation ? -1 : this.frameAround(node);
    const item = itemOfNode(node);
    switch (graph.kind[node]) {
      case NodeKind.operation:
        this.add(item, node, Shape.box, around);
        break;
      case NodeKind.argument:
        if (top ? reads.isPort(node) : this.isTurn(node)) {
          this.add(item, node, top ? Shape.port : Shape.turn, around);
        }
        break;
      case NodeKind.result:
        if (top && (fewResults || this.idle.has(node))) {
          this.add(item, node, Shape.port, around);
        }
        break;
    }
  }

  /** One box for all results that no box makes. */
  private addHandedThrough(node: number): void {
    if (this.handedThrough < 0) {
      this.handedThrough = this.add(itemOfNode(node), node, Shape.port, -1);
      this.others.set(this.handedThrough, []);
    } else {
      this.others.get(this.handedThrough)?.push(node);
      this.keep(itemOfNode(node), this.handedThrough);
    }
  }

  private add(item: number, node: number, shape: number, parent: number): number {
    const box = this.item.length;
    this.item.push(item);
    this.node.push(node);
    this.parent.push(parent);
    this.shape.push(shape);
    this.family.push(family(this.document.strings[this.graph.op[node]]));
    this.closed.push(0);
    this.times.push(item >= 0 ? this.rows.outline.count[item] : 1);
    this.ghost.push(shape === Shape.box && this.ghostOf(item).gone ? 1 : 0);
    this.keep(item, box);
    return box;
  }

  private parentOfRow(row: number): number {
    const { beside } = this.folds;
    for (let around = beside.around(row); around > 0; around = beside.around(around)) {
      const frame = this.of(around);
      if (frame >= 0) {
        return frame;
      }
    }
    return -1;
  }

  /** What the last operations of a row make tells most about it. */
  private mainNode(row: number): number {
    const { first, end, role } = this.rows.outline;
    const { graph } = this;
    if (graph.firstRegion[first[row]] < graph.firstRegion[first[row] + 1]) {
      return first[row];
    }
    for (let node = end[row] - 1; node >= first[row]; node--) {
      if (graph.kind[node] === NodeKind.operation && role[node] === NodeRole.box) {
        return node;
      }
    }
    return first[row];
  }

  /** True for a value of each turn that is a box there: what is only collected is none, nor what nothing reads. */
  private isTurn(argument: number): boolean {
    const { graph, reads } = this;
    const means = !reads.collects(argument) && !reads.isIgnored(argument);
    return means && this.turnsInRegion(graph.region[argument]) <= MAX_TURN_BOXES;
  }

  /** How many values go round a loop, or come into it one by one; what only collects results is none of them. */
  private turnsInRegion(region: number): number {
    let found = 0;
    for (let node = this.graph.regionStart[region]; this.graph.kind[node] === NodeKind.argument; node++) {
      found += this.folds.borders.passes(node) || this.reads.collects(node) ? 0 : 1;
    }
    return found;
  }

  /** The results of the program. */
  private results(): number[] {
    return [...endsOf(this.graph)].filter(node => this.graph.kind[node] === NodeKind.result);
  }

  /** True for a result that is an argument of the program as it came. */
  isUnchanged(result: number): boolean {
    const { graph, reads } = this;
    const origins = reads.origins(result);
    return origins.length > 0 && origins.every(({ node }) => node >= 0 && graph.kind[node] === NodeKind.argument);
  }

  /** True for a result that no box makes: a literal, a constant or an argument that is a chip. */
  private comesFromChip(result: number): boolean {
    return this.reads.origins(result).some(origin => origin.node < 0 || this.reads.isChip(origin.node));
  }
}
