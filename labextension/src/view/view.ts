/**
 * A document and a view of it give the visible graph: which boxes stand on the screen, which edges join them, and
 * which values are chips instead.
 */
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';
import { Boxes } from './boxes.ts';
import { Branches, CHOICE_CHIP, GIVEN_CHIP, MOST_JOINED } from './branches.ts';
import { BEFORE_CHIP, BEGINS_CHIP, ChipRack, hubChip, operandChip, resultChip } from './chips.ts';
import type { Origin } from './flow.ts';
import { Folds, NOTHING, type ViewState } from './folds.ts';
import { typeText } from './label.ts';
import { rowsOf, type Rows } from './outline.ts';
import { Reads } from './reads.ts';
import { keptOf, tallied } from './residuals.ts';
import { signOf, withSign } from './signs.ts';
import { Shape, type Bundle, type Cable, type VisibleGraph } from './visible.ts';

export type { ViewState } from './folds.ts';

/** On a closed row of more operations than this, arguments are counted, not named: a module reads too many of them. */
const MAX_OPERATIONS_WITH_CHIPS = 12;

/** What is visible of `graph` in the view `state`. */
export function show(document: Document, graph: Graph, state: ViewState): VisibleGraph {
  const rows = rowsOf(document, graph);
  const folds = new Folds(graph, rows, bordersOf(graph), state);
  const reads = new Reads(document, graph, folds);
  const boxes = new Boxes(document, graph, folds, reads);
  const upward = new Upward(rows, boxes);
  const { edges, rack, cables, bundles, carries } = new Join(document, graph, folds, reads, boxes, upward).joined();
  return {
    graph,
    count: boxes.item.length,
    item: Int32Array.from(boxes.item),
    node: Int32Array.from(boxes.node),
    times: Int32Array.from(boxes.times),
    spread: Uint8Array.from(boxes.item, item => (state.spread?.has(item) && state.open.has(item) ? 1 : 0)),
    parent: Int32Array.from(boxes.parent),
    shape: Uint8Array.from(boxes.shape),
    family: Uint8Array.from(boxes.family),
    closed: Uint8Array.from(boxes.closed),
    ghost: Uint8Array.from(boxes.ghost),
    label: boxes.label,
    whole: boxes.whole,
    detail: boxes.detail,
    chips: rack.drawn(state.narrow),
    upward: Uint8Array.from(boxes.item, (_, box) => (upward.phaseOf(box) >= 0 ? 1 : 0)),
    cables,
    bundles,
    carries,
    beside: upward.pairs,
    twin: upward.twins(),
    ...columns(edges)
  };
}

interface Edge {
  readonly source: number;
  readonly target: number;
  readonly value: number;
}

/** Edges and chips, by what each visible node reads. */
class Join {
  private readonly edges: Edge[] = [];
  private readonly rack = new ChipRack();
  /** The edge between two boxes, by both. */
  private readonly joins = new Map<number, number>();
  /** What goes along edges to and from phases. */
  private readonly crossings = new Map<number, Set<number>>();
  private readonly cables = new Map<number, Set<number>>();
  private readonly carries: { maker: number; turn: number }[] = [];
  private readonly rows: Rows;
  private readonly branches: Branches;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly folds: Folds,
    private readonly reads: Reads,
    private readonly boxes: Boxes,
    private readonly upward: Upward
  ) {
    this.rows = folds.rows;
    this.branches = new Branches(document, graph);
  }

  joined(): Pick<VisibleGraph, 'cables' | 'bundles' | 'carries'> & { edges: Edge[]; rack: ChipRack } {
    const { graph, folds, boxes, reads } = this;
    let [item, target] = [NOTHING, -1];
    for (let node = 0; node < graph.nodeCount; node++) {
      // Most nodes are seen as the one before.
      if (folds.item[node] !== item) {
        item = folds.item[node];
        target = boxes.of(item);
      }
      const inner = graph.region[node] !== 0;
      if (graph.kind[node] === NodeKind.result && (inner || target < 0)) {
        this.leave(node);
        if (inner && reads.flow.isChosen(node)) {
          this.choose(node);
        }
      } else if (target >= 0) {
        // Only a box of one operation is labelled with literals.
        this.read(node, target, reads.outside(node, this.isAlone(target)));
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
    return {
      edges: this.edges,
      rack: this.rack,
      cables: this.cablesDrawn(),
      bundles: this.bundlesDrawn(),
      carries: this.carries
    };
  }

  /** What an open loop starts with, where no box stands for the value that goes round. */
  private enter(node: number): void {
    const frame = this.boxes.frameAround(node);
    for (const origin of frame >= 0 ? this.reads.origins(node) : []) {
      const source = origin.node < 0 ? -1 : this.maker(origin.node, frame);
      const apart = source >= 0 && !this.boxes.holds(frame, source) && !this.boxes.holds(source, frame);
      if (apart && !this.reads.isHub(origin.value)) {
        // What the turns of one loop keep for those of another is as large as all of it.
        const given = this.graph.bindingFrom[this.folds.borders.into[node]];
        this.join(source, frame, given, () => [given], this.taker(node, frame));
      } else if (source >= 0 && source !== frame && this.boxes.holds(frame, source)) {
        this.rack.add(source, { ...BEGINS_CHIP, value: origin.value });
      }
    }
  }

  private read(node: number, target: number, origins: readonly Origin[]): void {
    const { graph, folds, boxes, reads, rack } = this;
    for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
      if (reads.isHub(value)) {
        rack.add(target, hubChip(value, reads.readers(value)));
      }
    }
    const labels: Origin[] = [];
    for (const origin of origins) {
      const source = origin.node < 0 ? -1 : this.maker(origin.node, target);
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
        this.join(whole, target, origin.value, () => reads.handed(node, origin));
      } else if (source >= 0 && !reads.isHub(origin.value)) {
        if (folds.betweenCopies(origin.node, node)) {
          if (folds.beside.has(boxes.item[target])) {
            rack.add(target, { ...BEFORE_CHIP, value: origin.value });
          }
        } else if (!boxes.holds(source, target)) {
          const ends = boxes.holds(target, source) ? this.bodies(node, target) : [target];
          if (ends.length > MOST_JOINED) {
            rack.add(source, { ...CHOICE_CHIP, value: origin.value });
          } else {
            ends.forEach(end => this.join(source, end, origin.value, () => reads.handed(node, origin)));
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
    const branch = this.giving(result);
    for (const origin of branch < 0 ? [] : reads.origins(result)) {
      const source = origin.node < 0 ? -1 : this.maker(origin.node, branch);
      const apart = source >= 0 && !boxes.holds(branch, source) && !boxes.holds(source, branch);
      if (apart && !reads.isHub(origin.value)) {
        this.join(source, branch, origin.value, () => reads.handed(result, origin));
      }
    }
  }

  /** The box of a branch that hands on what it was given, or the frame around it. */
  private giving(result: number): number {
    const box = this.boxes.ofNode(result);
    return box >= 0 ? box : this.boxes.frameAround(result);
  }

  /**
   * The box of what makes a value for another one; of what a loop was given and hands out, the frame of the loop, and
   * of what its bodies only help to make, as the order that a sort asks for, the frame around them.
   */
  private maker(node: number, target: number): number {
    const { graph, boxes } = this;
    if (graph.kind[node] === NodeKind.result) {
      return this.giving(node);
    }
    const box = boxes.ofNode(node);
    const owns = graph.firstRegion[node] < graph.firstRegion[node + 1];
    if (box >= 0 || !(owns || (graph.kind[node] === NodeKind.argument && graph.region[node] !== 0))) {
      return box;
    }
    const frame = boxes.frameAround(node, owns ? this.branches.endOf(node) : undefined);
    return frame >= 0 && !boxes.holds(frame, target) && !boxes.holds(target, frame) ? frame : -1;
  }

  /** The boxes of the bodies of a node inside its frame: what decides about them may stand in that frame too. */
  private bodies(node: number, frame: number): readonly number[] {
    const { graph, boxes } = this;
    const { region } = this.rows.outline;
    const own = graph.ownedRegions.slice(graph.firstRegion[node], graph.firstRegion[node + 1]);
    const found: number[] = [];
    boxes.item.forEach((row, box) => {
      if (row >= 0 && own.includes(region[row]) && box !== frame) {
        found.push(box);
      }
    });
    return found;
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
    // A result of a body that is closed says nothing outside.
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
      const turn = box >= 0 ? box : this.bodyOf(argument);
      const frame = turn >= 0 && boxes.shape[turn] === Shape.turn ? boxes.parent[turn] : turn;
      if (turn >= 0 && maker !== turn && frame >= 0 && boxes.holds(frame, maker)) {
        this.carries.push({ maker, turn });
      }
    }
  }

  /**
   * The frame of the body that an argument goes into, or -1. What prepares the values of a loop may stand in one row
   * with it, which is no region of the graph then.
   */
  private bodyOf(argument: number): number {
    const { boxes, folds, graph } = this;
    const { kind, region } = this.rows.outline;
    const isLoop = (row: number): boolean => kind[row] === RowKind.loop || kind[row] === RowKind.body;
    let row = folds.beside.leaf(argument);
    while (row > 0 && !isLoop(row) && region[row] !== graph.region[argument]) {
      row = folds.beside.around(row);
    }
    const frame = row > 0 && kind[row] !== RowKind.cond ? boxes.of(row) : -1;
    return frame >= 0 && boxes.shape[frame] === Shape.frame ? frame : -1;
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

  /**
   * One edge between two boxes, however many values go along it. A phase that runs upward is tied to the one beside it
   * by cables, and to everything else as a whole. A cable is of what is read itself, as it was handed over.
   *
   * Boxes are numbered in the order of the program. Only in a later copy of a stack, which has not each part of the
   * first, may something lead to what is drawn before it: that would be a cycle. A cable ends at `taker`.
   */
  private join(from: number, to: number, value: number, handed: () => readonly number[], taker = to): void {
    if (from > to) {
      return;
    }
    const [left, right] = [this.upward.phaseOf(from), this.upward.phaseOf(to)];
    let [source, target] = [from, to];
    if (left !== right) {
      if (right >= 0 && this.upward.mirrors(right, from)) {
        handed().forEach(one => addTo(this.cables, this.giver(from, one) * this.boxes.item.length + taker, one));
        return;
      }
      source = left >= 0 ? left : from;
      target = right >= 0 ? right : to;
    }
    const key = source * this.boxes.item.length + target;
    let edge = this.joins.get(key);
    if (edge === undefined) {
      edge = this.edges.length;
      this.joins.set(key, edge);
      this.edges.push({ source, target, value });
    }
    if (this.isPhase(source) || this.isPhase(target)) {
      addTo(this.crossings, edge, value);
    }
  }

  /** Where the cable of a value begins: of what any of several branches makes, at the frame around all of them. */
  private giver(box: number, value: number): number {
    const { boxes } = this;
    const makers = this.reads.flow.origins(value).map(({ node }) => (node < 0 ? box : this.maker(node, box)));
    let around = box;
    while (around >= 0 && !makers.every(maker => maker === around || boxes.holds(around, maker))) {
      around = boxes.parent[around];
    }
    return around < 0 || this.isPhase(around) ? box : around;
  }

  /** Where the cable ends of what an open loop is given: at the first box that reads it in a turn. */
  private taker(argument: number, frame: number): number {
    const { boxes, graph, reads } = this;
    const readers = reads.readersAre(graph.firstValue[argument]).map(item => boxes.of(item));
    const inside = readers.filter(box => box >= 0 && boxes.holds(frame, box));
    return inside.length ? Math.min(...inside) : frame;
  }

  private isPhase(box: number): boolean {
    const row = this.boxes.item[box];
    return row >= 0 && this.rows.outline.kind[row] === RowKind.phase;
  }

  private bundlesDrawn(): Bundle[] {
    const { twin } = this.rows.outline;
    return [...this.crossings]
      .filter(([, values]) => values.size > 1)
      .map(([edge, values]) => {
        const row = this.boxes.item[this.edges[edge].source];
        return { edge, values: values.size, gradients: row >= 0 && twin[row] >= 0 && twin[row] < row };
      });
  }

  /** A value that several boxes need counts where it goes to the twin of what makes it, or else to its first reader. */
  private cablesDrawn(): Cable[] {
    const { document, graph } = this;
    const count = this.boxes.item.length;
    const twins = this.upward.twins();
    const cables = [...this.cables].map(([key, values]) => ({ ends: [Math.floor(key / count), key % count], values }));
    const first = cables.filter(({ ends: [source, target] }) => twins[source] === target);
    const tallies = tallied(keptOf(document, graph), [...new Set([...first, ...cables])]);
    return cables.map(cable => {
      const { kept, shared } = tallies.get(cable) ?? { kept: [], shared: 0 };
      const [source, target] = cable.ends;
      return {
        source,
        target,
        values: kept.length,
        ...(kept.length === 1 ? { type: typeText(document, graph, kept[0]) } : {}),
        bytes: kept.reduce((sum, value) => sum + Math.max(0, document.types.bytes[graph.valueType[value]]), 0),
        ...(shared ? { shared } : {})
      };
    });
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

function addTo(sets: Map<number, Set<number>>, key: number, value: number): void {
  const values = sets.get(key);
  if (values) {
    values.add(value);
  } else {
    sets.set(key, new Set([value]));
  }
}

/** Open phases that mirror an earlier open one: they stand beside it and run upward. */
class Upward {
  /** For each box, the frame of such a phase around it, or -1. */
  private readonly phase: Int32Array;
  readonly pairs: [number, number][] = [];

  constructor(
    private readonly rows: Rows,
    private readonly boxes: Boxes
  ) {
    const { kind, twin } = rows.outline;
    this.phase = new Int32Array(boxes.item.length).fill(-1);
    boxes.item.forEach((row, box) => {
      const around = boxes.parent[box];
      if (around >= 0 && this.phase[around] >= 0) {
        this.phase[box] = this.phase[around];
      } else if (
        row >= 0 &&
        boxes.shape[box] === Shape.frame &&
        kind[row] === RowKind.phase &&
        twin[row] >= 0 &&
        twin[row] < row &&
        boxes.shape[boxes.of(twin[row])] === Shape.frame
      ) {
        this.phase[box] = box;
        this.pairs.push([boxes.of(twin[row]), box]);
      }
    });
  }

  /** The frame of the phase that a box stands in if that runs upward, else -1; of the frame itself -1 too. */
  phaseOf(box: number): number {
    return this.phase[box] === box ? -1 : this.phase[box];
  }

  /** Boxes that mirror each other, both ways; the frames of their phases do so too. */
  twins(): Int32Array {
    const { boxes, rows } = this;
    const twins = new Int32Array(boxes.item.length).fill(-1);
    boxes.item.forEach((row, box) => {
      const other = row >= 0 && this.phase[box] >= 0 ? rows.outline.twin[row] : -1;
      const mirrored = other >= 0 ? boxes.of(other) : -1;
      // A row that is hidden in a closed one has that one's box, which is no twin.
      if (mirrored >= 0 && boxes.item[mirrored] === other) {
        twins[box] = mirrored;
        twins[mirrored] = box;
      }
    });
    return twins;
  }

  /** True where `box` stands in the phase that the one with the frame `phase` mirrors. */
  mirrors(phase: number, box: number): boolean {
    const { boxes, rows } = this;
    return boxes.holds(boxes.of(rows.outline.twin[boxes.item[phase]]), box);
  }
}

/** Edges as columns, with ordinals of ports that count only what is drawn. */
function columns(
  edges: readonly Edge[]
): Pick<VisibleGraph, 'source' | 'target' | 'value' | 'sourcePort' | 'targetPort'> {
  const reads = new Map<number, number>();
  const targetPort = Int32Array.from(edges, ({ target }) => {
    const port = reads.get(target) ?? 0;
    reads.set(target, port + 1);
    return port;
  });
  const valuesOf = new Map<number, Set<number>>();
  for (const { source, value } of edges) {
    addTo(valuesOf, source, value);
  }
  const portOf = new Map<number, ReadonlyMap<number, number>>();
  for (const [source, values] of valuesOf) {
    portOf.set(source, new Map([...values].sort((a, b) => a - b).map((value, port) => [value, port])));
  }
  return {
    source: Int32Array.from(edges, edge => edge.source),
    target: Int32Array.from(edges, edge => edge.target),
    value: Int32Array.from(edges, edge => edge.value),
    sourcePort: Int32Array.from(edges, edge => portOf.get(edge.source)?.get(edge.value) ?? 0),
    targetPort
  };
}
