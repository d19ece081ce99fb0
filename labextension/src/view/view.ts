/**
 * A document and a view of it give the visible graph: which boxes stand on the screen, which edges join them, and
 * which values are chips instead.
 */
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';
import { Boxes } from './boxes.ts';
import { BoxWords, type Wordy } from './boxWords.ts';
import { Branches, CHOICE_CHIP, GIVEN_CHIP, MOST_JOINED } from './branches.ts';
import { BEFORE_CHIP, BEGINS_CHIP, ChipRack, hubChip, operandChip, resultChip } from './chips.ts';
import { Edges } from './edges.ts';
import { endsOf } from './ends.ts';
import type { Origin } from './flow.ts';
import { Folds, NOTHING, type ViewState } from './folds.ts';
import { Makers } from './makers.ts';
import { rowsOf, type Rows } from './outline.ts';
import { Reads } from './reads.ts';
import { signOf, withSign } from './signs.ts';
import { Upward } from './upward.ts';
import { Shape, type VisibleGraph } from './visible.ts';

export type { ViewState } from './folds.ts';

/** On a closed row of more operations than this, arguments are counted, not named: a module reads too many of them. */
const MAX_OPERATIONS_WITH_CHIPS = 12;

/** What is visible of `graph` in the view `state`. */
export function show(document: Document, graph: Graph, state: ViewState): VisibleGraph {
  const folds = new Folds(graph, rowsOf(document, graph), bordersOf(graph), state);
  return worded(document, joined(document, folds), state);
}

/** What stands where and what leads where to, for whatever words there is room. */
export interface Joined {
  readonly boxes: Boxes;
  readonly rack: ChipRack;
  readonly visible: Omit<VisibleGraph, keyof BoxWords | 'chips'>;
}

/** Boxes, and what joins them. */
export function joined(document: Document, folds: Folds): Joined {
  const { graph, rows, state } = folds;
  const reads = new Reads(document, graph, folds);
  const boxes = new Boxes(document, graph, folds, reads);
  const upward = new Upward(rows, boxes);
  const { edges, rack, carries } = new Join(document, graph, folds, reads, boxes, upward).joined();
  const visible = {
    graph,
    count: boxes.item.length,
    item: Int32Array.from(boxes.item),
    node: Int32Array.from(boxes.node),
    others: boxes.others,
    times: Int32Array.from(boxes.times),
    spread: Uint8Array.from(boxes.item, item => (state.spread?.has(item) && state.open.has(item) ? 1 : 0)),
    parent: Int32Array.from(boxes.parent),
    shape: Uint8Array.from(boxes.shape),
    family: Uint8Array.from(boxes.family),
    closed: Uint8Array.from(boxes.closed),
    ghost: Uint8Array.from(boxes.ghost),
    upward: Uint8Array.from(boxes.item, (_, box) => (upward.phaseOf(box) >= 0 ? 1 : 0)),
    cables: edges.cables(),
    bundles: edges.bundles(),
    carries,
    beside: upward.pairs,
    twin: upward.twins(),
    ...edges.columns()
  };
  return { boxes, rack, visible };
}

/** The same with words. */
export function worded(document: Document, { boxes, rack, visible }: Joined, wordy: Wordy): VisibleGraph {
  const { label, whole, detail } = new BoxWords(document, visible.graph, boxes, wordy);
  return { ...visible, label, whole, detail, chips: rack.drawn(wordy.brevity) };
}

/** Edges and chips, by what each visible node reads. */
class Join {
  private readonly rack = new ChipRack();
  private readonly carries: { maker: number; turn: number }[] = [];
  private readonly rows: Rows;
  private readonly branches: Branches;
  private readonly makers: Makers;
  private readonly edges: Edges;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly folds: Folds,
    private readonly reads: Reads,
    private readonly boxes: Boxes,
    upward: Upward
  ) {
    this.rows = folds.rows;
    this.branches = new Branches(document, graph);
    this.makers = new Makers(graph, folds, reads, boxes, this.branches);
    this.edges = new Edges(document, graph, this.rows, reads, boxes, upward, this.makers);
  }

  joined(): Pick<VisibleGraph, 'carries'> & { edges: Edges; rack: ChipRack } {
    const { graph, folds, boxes, reads } = this;
    const { kind, region } = graph;
    const joins = this.joining();
    let [item, target, alone] = [NOTHING, -1, false];
    for (let node = joins.indexOf(1); node >= 0; node = joins.indexOf(1, node + 1)) {
      // Most nodes are seen as the one before.
      if (folds.item[node] !== item) {
        item = folds.item[node];
        target = boxes.of(item);
        alone = target >= 0 && this.isAlone(target);
      }
      const ends = kind[node] === NodeKind.result;
      const inner = region[node] !== 0;
      if (ends && (inner || target < 0)) {
        if (!inner || item < 0) {
          // A result of a body that is closed says nothing outside.
          this.leave(node);
        }
        if (inner && reads.flow.isChosen(node)) {
          this.choose(node);
        }
      } else if (target >= 0) {
        // Only a box of one operation is labelled with literals.
        this.read(node, target, alone ? reads.outside(node) : reads.others(node));
      } else if (folds.copyOf[node] > 0 && this.isLaterCopy(node)) {
        // What goes into a body is seen at the first copy, whose frame it is.
        continue;
      } else if (folds.item[node] === NOTHING && graph.firstRegion[node] < graph.firstRegion[node + 1]) {
        const frame = boxes.frameAround(node, this.branches.endOf(node));
        if (frame >= 0) {
          this.read(node, frame, reads.originsAtBorder(node));
        }
      } else if (inner && graph.kind[node] === NodeKind.argument && !folds.borders.passes(node)) {
        this.enter(node);
      }
    }
    return { edges: this.edges, rack: this.rack, carries: this.carries };
  }

  /** 1 for nodes that may join boxes, or give one a chip: few of those that stand in closed rows. */
  private joining(): Uint8Array {
    const { graph, folds, boxes, reads } = this;
    const joining = reads.marked.slice();
    for (let run = 0; run + 1 < folds.runs.length; run++) {
      const box = boxes.ofNode(folds.runs[run]);
      if (box < 0 || this.isAlone(box)) {
        joining.fill(1, folds.runs[run], folds.runs[run + 1]);
      }
    }
    folds.borders.resultsOfBranches.forEach(result => (joining[result] = 1));
    endsOf(graph).forEach(end => (joining[end] = 1));
    return joining;
  }

  /** What an open loop starts with, where no box stands for the value that goes round. */
  private enter(node: number): void {
    const frame = this.boxes.frameAround(node);
    for (const origin of frame >= 0 ? this.reads.origins(node) : []) {
      const source = origin.node < 0 ? -1 : this.makers.maker(origin.node, frame);
      const apart = source >= 0 && !this.boxes.holds(frame, source) && !this.boxes.holds(source, frame);
      if (apart && !this.reads.isHub(origin.value)) {
        // What the turns of one loop keep for those of another is as large as all of it.
        const given = this.graph.bindingFrom[this.folds.borders.into[node]];
        this.edges.join(source, frame, given, () => [given], this.makers.taker(node, frame));
      } else if (source >= 0 && source !== frame && this.boxes.holds(frame, source)) {
        this.rack.add(source, { ...BEGINS_CHIP, value: origin.value });
      }
    }
  }

  private read(node: number, target: number, origins: readonly Origin[]): void {
    const { graph, folds, boxes, reads, rack } = this;
    for (let value = graph.firstValue[node]; reads.hasHubs && value < graph.firstValue[node + 1]; value++) {
      if (reads.isHub(value)) {
        rack.add(target, hubChip(value, reads.readers(value)));
      }
    }
    const labels: Origin[] = [];
    for (const origin of origins) {
      const source = origin.node < 0 ? -1 : this.makers.maker(origin.node, target);
      if (source === target) {
        if (reads.isWrittenBeside(node, origin.value)) {
          labels.push(origin);
        }
        continue;
      }
      const condition = source < 0 ? -1 : this.branches.around(origin.node, node);
      const whole = condition < 0 ? -1 : boxes.frameAround(condition, this.branches.endOf(condition));
      if (whole >= 0 && whole !== source && boxes.holds(whole, source) && !boxes.holds(whole, target)) {
        rack.add(source, { ...GIVEN_CHIP, value: origin.value });
        this.edges.join(whole, target, origin.value, () => reads.handed(node, origin));
      } else if (source >= 0 && !reads.isHub(origin.value)) {
        if (folds.betweenCopies(origin.node, node)) {
          if (folds.beside.has(boxes.item[target])) {
            rack.add(target, { ...BEFORE_CHIP, value: origin.value });
          }
        } else if (!boxes.holds(source, target)) {
          const ends = boxes.holds(target, source) ? this.makers.bodies(node, target) : [target];
          if (ends.length > MOST_JOINED) {
            rack.add(source, { ...CHOICE_CHIP, value: origin.value });
          } else {
            ends.forEach(end => this.edges.join(source, end, origin.value, () => reads.handed(node, origin)));
          }
        }
      } else if (folds.copyOf[node] === 0 || !this.isLaterCopy(node)) {
        labels.push(origin);
      }
    }
    this.label(node, target, labels);
  }

  /** What a branch hands on goes into it: the condition chooses it, and gives it. */
  private choose(result: number): void {
    const { boxes, reads } = this;
    const branch = this.makers.giving(result);
    const labels: Origin[] = [];
    for (const origin of branch < 0 ? [] : reads.origins(result)) {
      const source = origin.node < 0 ? -1 : this.makers.maker(origin.node, branch);
      const apart = source >= 0 && !boxes.holds(branch, source) && !boxes.holds(source, branch);
      if (source < 0) {
        labels.push(origin);
      } else if (apart && !reads.isHub(origin.value)) {
        this.edges.join(source, branch, origin.value, () => reads.handed(result, origin));
      }
    }
    this.label(result, branch, labels);
  }

  /** Chips for what has no box that an edge could come from. */
  private label(node: number, target: number, origins: readonly Origin[]): void {
    const { document, graph, reads, rack } = this;
    if (!origins.length) {
      return;
    }
    const [size, alone] = [this.sizeOf(target), this.isAlone(target)];
    const sign = alone ? signOf(document, graph, node) : '';
    const places = sign ? reads.places(node, origins) : [];
    for (const [i, origin] of origins.entries()) {
      const constant = origin.node < 0 || reads.flow.isLabel(origin.node);
      if (!constant || alone) {
        const chip = operandChip(document, graph, origin);
        const place = places[i] ?? -1;
        const signed = place < 0 ? chip : withSign(chip, sign, place === 0, places.includes(1));
        rack.add(target, signed, size > MAX_OPERATIONS_WITH_CHIPS);
      }
    }
  }

  /** What a region or the program gives, where no box stands for it. */
  private leave(node: number): void {
    const { document, graph, folds, boxes, reads, rack } = this;
    const chip = resultChip(document, graph, folds.borders, node);
    if (!chip) {
      return;
    }
    if (graph.region[node] !== 0 && (this.isHidden(node) || reads.isCollected(node))) {
      return;
    }
    for (const origin of reads.origins(node)) {
      const maker = origin.node < 0 ? -1 : boxes.ofNode(origin.node);
      if (maker >= 0) {
        rack.add(maker, { ...chip, value: origin.value });
        this.carry(node, maker);
      }
    }
  }

  /**
   * A result that the next turn begins with leads back to where it is seen there, if that is in the same body; where
   * that is no box, to where the body begins.
   */
  private carry(result: number, maker: number): void {
    const { graph, folds, boxes } = this;
    for (const binding of folds.borders.carries.get(result) ?? []) {
      const argument = graph.bindingTo[binding];
      const box = boxes.ofNode(argument);
      const turn = box >= 0 ? box : this.makers.bodyOf(argument);
      const frame = turn >= 0 && boxes.shape[turn] === Shape.turn ? boxes.parent[turn] : turn;
      if (turn >= 0 && maker !== turn && frame >= 0 && boxes.holds(frame, maker)) {
        this.carries.push({ maker, turn });
      }
    }
  }

  /** True for a node that stands in a closed row. */
  private isHidden(node: number): boolean {
    const { beside } = this.folds;
    for (let row = beside.leaf(node); row > 0; row = beside.around(row)) {
      if (this.folds.item[this.rows.outline.first[row]] === row) {
        return true;
      }
    }
    return this.isLaterCopy(node);
  }

  private isLaterCopy(node: number): boolean {
    const { parent, copy } = this.rows.outline;
    const { beside } = this.folds;
    for (let row = beside.leaf(node); row > 0; row = beside.around(row)) {
      if (copy[row] > 0 && this.folds.isOpen(parent[row]) && !this.folds.state.spread?.has(parent[row])) {
        return true;
      }
    }
    return false;
  }

  /** True for a box of one operation, and for an expression or statement that beside it only makes constants and hands values on. */
  private isAlone(box: number): boolean {
    const { outline, boxes } = this.rows;
    const item = this.boxes.item[box];
    const written = outline.kind[item] === RowKind.expression || outline.kind[item] === RowKind.statement;
    return this.sizeOf(box) <= 1 || (written && boxes[item] <= 1);
  }

  private sizeOf(box: number): number {
    const item = this.boxes.item[box];
    return item >= 0 ? this.rows.operations[item] : 1;
  }
}
