/** What the nodes on the screen read: for each, the origins of its operands, and which arguments are boxes. */
import { BindingKind, NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { Flow, type Origin } from './flow.ts';
import { NOTHING, type Folds } from './folds.ts';
import { crossingsOf, type Crossing } from './crossing.ts';
import { endsOf } from './ends.ts';
import { getOrMake, NumberMap } from '../maps';

/** An argument that more boxes read than this is a chip at each of them. */
const MAX_ARGUMENT_EDGES = 3;
/** A value that more boxes read than this is a chip at each of them: so many edges say nothing and hide the others. */
const MAX_EDGES = 12;
/** Up to so many arguments, those that nothing reads and those without a name are still shown. */
const MAX_IDLE_ARGUMENTS = 8;
/** More arguments than this with a plain name each nobody wrote: the leaves of a tree, numbered by a compiler. */
const MAX_PLAIN_ARGUMENTS = 12;

/** Among so few operands a place is found as fast by looking as by asking a map of them. */
const FEW_OPERANDS = 8;

const NONE: readonly Origin[] = [];
/** Operations that, where they are edges, hand on their second operand: the slice that a turn gives, a number kept in bounds. */
const PUTS = ['dynamic_update_slice', 'dynamic-update-slice', 'clamp'];
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

const READ = 1;
const COUNTED = 2;
const known = new WeakMap<Graph, Uint8Array>();

/** The arguments of a program that have a plain name, and how many there are. */
interface Arguments {
  readonly count: number;
  readonly plain: ReadonlySet<number>;
}

const argumentsOf = new WeakMap<Graph, Arguments>();

function findArguments(document: Document, graph: Graph): Arguments {
  const all = endsOf(graph).filter(node => graph.kind[node] === NodeKind.argument);
  return { count: all.length, plain: new Set(all.filter(node => PLAIN_NAME.test(document.strings[graph.name[node]]))) };
}

/** For each value of a graph whether anything reads it, and whether what counts the turns of a loop does. */
function readIn(graph: Graph, role: ArrayLike<number>): Uint8Array {
  return getOrMake(known, graph, () => {
    const read = new Uint8Array(graph.valueNode.length);
    for (let node = 0; node < graph.nodeCount; node++) {
      const counts = graph.kind[node] === NodeKind.operation && role[node] === NodeRole.counter;
      for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
        if (graph.operandSource[i] >= 0) {
          read[graph.operandSource[i]] |= counts ? COUNTED : READ;
        }
      }
    }
    return read;
  });
}

interface ReadBy {
  readonly node: number;
  readonly placesFrom: ReadonlyMap<number, readonly number[]>;
}

/** A number of its own for each value and each literal, as operands have it. */
function keyOf({ value, literal }: Origin): number {
  return literal >= 0 ? -1 - literal : value;
}

export class Reads {
  readonly flow: Flow;
  /** Nodes that read what is seen as something else, and those that make what too many do: 1 for each of them. */
  readonly marked: Uint8Array;
  /** For each value the first item that reads it, or `NOTHING`, and all the others where there are more. */
  private readonly reader: Int32Array;
  private readonly otherReaders = new Map<number, Set<number>>();
  /** Values that too many boxes read for edges. */
  private readonly hubs = new Set<number>();
  /** What each node reads of other items, where it does. */
  private readonly read: NumberMap<readonly Origin[]>;
  private readonly arguments: Arguments;
  private asked: ReadBy | null = null;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly folds: Folds
  ) {
    const puts = PUTS.map(name => document.strings.indexOf(name)).filter(op => op >= 0);
    this.flow = new Flow(folds, new Set(puts), document.strings.indexOf('fusion'));
    this.marked = new Uint8Array(graph.nodeCount);
    this.reader = new Int32Array(graph.valueNode.length).fill(NOTHING);
    this.read = new NumberMap(graph.nodeCount);
    this.arguments = getOrMake(argumentsOf, graph, () => findArguments(document, graph));
    this.collect();
    this.hubs.forEach(value => (this.marked[graph.valueNode[value]] = 1));
  }

  /** In a run of nodes that are seen as one item, few read what stands before it. */
  private collect(): void {
    const { graph, folds } = this;
    const { runs, item } = folds;
    const crossings = crossingsOf(graph, folds.borders, folds.rows.outline.role);
    for (let run = 0; run + 1 < runs.length; run++) {
      const crossing = item[runs[run]] === NOTHING ? null : crossings.of(runs[run], runs[run + 1]);
      if (crossing) {
        this.collectFrom(crossing, item[runs[run]]);
      }
    }
  }

  private collectFrom({ nodes, first, sources }: Crossing, own: number): void {
    const { kind, region } = this.graph;
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at];
      if (kind[node] === NodeKind.argument && this.isIgnored(node)) {
        continue;
      }
      // Of one operand, as most nodes have, the list that is there is given; of more, one is made.
      let [origins, joined]: [readonly Origin[], Origin[]] = [NONE, []];
      for (let i = first[at]; i < first[at + 1]; i++) {
        const more = this.madeElsewhere(node, sources[i], own);
        if (!origins.length) {
          origins = more;
        } else if (more.length) {
          if (origins !== joined) {
            origins = joined = [...origins];
          }
          more.forEach(origin => joined.push(origin));
        }
      }
      if (origins.length) {
        this.marked[node] = 1;
        this.read.set(node, origins);
        if (kind[node] !== NodeKind.result || region[node] !== 0) {
          this.addReader(origins, own);
        }
      }
    }
  }

  /** The origins of what a node of `own` reads that are seen as something else, or are handed in and written beside it. */
  private madeElsewhere(reader: number, source: number, own: number): readonly Origin[] {
    const { item } = this.folds;
    const isHanded = (value: number): boolean => value !== source || this.graph.kind[reader] === NodeKind.argument;
    const isElsewhere = ({ node, value }: Origin): boolean =>
      node < 0 || item[node] !== own || (isHanded(value) && this.isWrittenBeside(reader, value));
    const origins = this.flow.origins(source);
    return origins.every(isElsewhere) ? origins : origins.filter(isElsewhere);
  }

  /**
   * What a node reads that is seen as something else, without literals, and, where it stands in a closed row, without
   * what one before it in that row reads.
   */
  others(node: number): readonly Origin[] {
    return this.read.get(node) ?? NONE;
  }

  get hasHubs(): boolean {
    return this.hubs.size > 0;
  }

  /** Where what a node reads comes from, operand by operand. */
  origins(node: number): Origin[] {
    const { graph } = this;
    if (graph.kind[node] === NodeKind.argument) {
      return this.originsOfArgument(node);
    }
    const origins: Origin[] = [];
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      origins.push(...this.flow.origins(graph.operandSource[i]));
    }
    return origins;
  }

  /** For each of these origins the one operand of the node that comes from there; -1 where that is not one alone. */
  places(node: number, origins: readonly Origin[]): number[] {
    const { placesFrom } = this.readBy(node);
    return origins.map(origin => {
      const places = placesFrom.get(keyOf(origin)) ?? [];
      return places.length === 1 ? places[0] : -1;
    });
  }

  /** What a node itself reads of what comes from an origin: of a branch or a loop what that gives, not what it is made of. */
  handed(node: number, origin: Origin): number[] {
    const sources = this.sources(node);
    if (sources.length > FEW_OPERANDS) {
      return (this.readBy(node).placesFrom.get(keyOf(origin)) ?? []).map(place => sources[place]);
    }
    const key = keyOf(origin);
    return sources.filter(source => this.flow.origins(source).some(one => keyOf(one) === key));
  }

  /** What a node reads, and where among that each origin is; one node is asked for all that it reads in a row. */
  private readBy(node: number): ReadBy {
    if (this.asked?.node !== node) {
      const placesFrom = new Map<number, number[]>();
      this.sources(node).forEach((source, place) => {
        for (const key of new Set(this.flow.origins(source).map(keyOf))) {
          const places = placesFrom.get(key);
          if (places) {
            places.push(place);
          } else {
            placesFrom.set(key, [place]);
          }
        }
      });
      this.asked = { node, placesFrom };
    }
    return this.asked;
  }

  private sources(node: number): number[] {
    const { graph, folds } = this;
    const { kind, firstOperand, operandSource, bindingFrom } = graph;
    return kind[node] === NodeKind.argument
      ? [bindingFrom[folds.borders.into[node]]]
      : [...operandSource.subarray(firstOperand[node], firstOperand[node + 1])];
  }

  /**
   * Where what a node reads comes from, with literals, without what is seen as the same item as the node unless that is
   * made of literals alone.
   */
  outside(node: number): readonly Origin[] {
    const { graph, folds } = this;
    if (graph.kind[node] === NodeKind.argument) {
      return this.originsOfArgument(node);
    }
    const item = folds.item[node];
    const origins: Origin[] = [];
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = graph.operandSource[i];
      const inside = source >= 0 && item !== NOTHING && this.isMadeIn(item, source);
      if (!inside || this.isWrittenBeside(node, source)) {
        origins.push(...this.flow.origins(source));
      }
    }
    return origins;
  }

  /** True for what is made of nothing but literals, and is read where something is computed. */
  isWrittenBeside(node: number, value: number): boolean {
    const { role } = this.folds.rows.outline;
    return role[node] === NodeRole.box && role[this.graph.valueNode[value]] === NodeRole.chip;
  }

  /** True for a value that is made, and not only handed on, by an operation that is seen as `item`. */
  private isMadeIn(item: number, value: number): boolean {
    const maker = this.graph.valueNode[value];
    return this.folds.item[maker] === item && this.graph.kind[maker] === NodeKind.operation;
  }

  /** What an open node hands to none of its regions, such as the predicate of a condition. */
  originsAtBorder(node: number): Origin[] {
    const { graph, folds } = this;
    const handed = new Set<number>();
    for (let i = graph.firstRegion[node]; i < graph.firstRegion[node + 1]; i++) {
      const region = graph.ownedRegions[i];
      // Arguments come first in a region.
      for (
        let inner = graph.regionStart[region];
        inner < graph.regionEnd[region] && graph.kind[inner] === NodeKind.argument;
        inner++
      ) {
        if (folds.borders.into[inner] >= 0) {
          handed.add(graph.bindingFrom[folds.borders.into[inner]]);
        }
      }
    }
    const origins: Origin[] = [];
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      if (graph.operandSource[i] >= 0 && !handed.has(graph.operandSource[i])) {
        origins.push(...this.flow.origins(graph.operandSource[i]));
      }
    }
    return origins;
  }

  /** An argument of the program is a box of its own if it is a plain array that few boxes read; else it is a chip. */
  isPort(node: number): boolean {
    const count = this.readers(this.graph.firstValue[node]);
    if (count === 0 || !this.document.strings[this.graph.name[node]]) {
      return this.arguments.count <= MAX_IDLE_ARGUMENTS && count <= MAX_ARGUMENT_EDGES;
    }
    const { plain } = this.arguments;
    return plain.size <= MAX_PLAIN_ARGUMENTS && plain.has(node) && count <= MAX_ARGUMENT_EDGES;
  }

  /** True for an argument of a loop in which the values of all turns are collected: nothing of the program. */
  collects(argument: number): boolean {
    const { graph, folds } = this;
    for (const [result, bindings] of folds.borders.carries) {
      if (bindings.some(binding => graph.bindingTo[binding] === argument)) {
        return this.isCollected(result);
      }
    }
    return false;
  }

  /**
   * True for an argument of a loop that its turns do not read: its condition is given all that goes round; and what only
   * counts them is not shown.
   */
  isIgnored(argument: number): boolean {
    const { document, graph, folds } = this;
    const read = readIn(graph, folds.rows.outline.role)[graph.firstValue[argument]];
    const kind = document.strings[graph.regionKind[graph.region[argument]]];
    return (kind === 'while cond' && !read) || (read === COUNTED && !folds.state.all);
  }

  /** True for a result of a body in which the values of all turns are collected. */
  isCollected(result: number): boolean {
    const { firstOperand, operandSource } = this.graph;
    return (
      firstOperand[result] < firstOperand[result + 1] && this.flow.isCollected(operandSource[firstOperand[result]])
    );
  }

  /** How many items read a value. */
  readers(value: number): number {
    return this.reader[value] === NOTHING ? 0 : 1 + (this.otherReaders.get(value)?.size ?? 0);
  }

  /** The items that read a value. */
  readersAre(value: number): readonly number[] {
    return this.reader[value] === NOTHING ? [] : [this.reader[value], ...(this.otherReaders.get(value) ?? [])];
  }

  private addReader(origins: readonly Origin[], item: number): void {
    for (const { node, value } of origins) {
      if (node < 0 || this.reader[value] === item || this.folds.item[node] === item) {
        continue;
      }
      if (this.reader[value] === NOTHING) {
        this.reader[value] = item;
      } else {
        const others = getOrMake(this.otherReaders, value, () => new Set<number>());
        if (others.add(item).size >= MAX_EDGES) {
          this.hubs.add(value);
        }
      }
    }
  }

  isHub(value: number): boolean {
    return this.hubs.size > 0 && this.hubs.has(value);
  }

  /** True for a node that is never a box: a constant, or an argument of the program that is a chip. */
  isChip(node: number): boolean {
    const { graph } = this;
    const kind = graph.kind[node];
    return (
      kind === NodeKind.constant ||
      this.flow.isLabel(node) ||
      (kind === NodeKind.argument && graph.region[node] === 0 && !this.isPort(node))
    );
  }

  /** What a loop's argument starts with counts as read by it. */
  private originsOfArgument(node: number): Origin[] {
    const { graph, folds } = this;
    const binding = folds.borders.into[node];
    return binding >= 0 && graph.bindingKind[binding] !== BindingKind.enter && !this.isIgnored(node)
      ? [...this.flow.origins(graph.bindingFrom[binding])]
      : [];
  }
}
