/**
 * A document and a view of it give the visible graph: which boxes stand on the screen, what they are called, which
 * edges join them, and which values are chips instead.
 */
import { BindingKind, NodeKind, type Document, type Graph } from '../document/graph.ts';
import { family } from './family.ts';
import { attribute, cut, newType, nodeLabel, regionLabel, shortPath, turns, typeText } from './label.ts';
import { Borders, Openness, type Origin } from './openness.ts';
import { Shape, type Chip, type VisibleGraph } from './visible.ts';

/** How a person looks at a graph. */
export interface ViewState {
  /** Nodes whose regions are open in place. */
  readonly open: ReadonlySet<number>;
}

/** An argument that more boxes read than this is a chip at each of them. */
const MAX_ARGUMENT_EDGES = 3;
/** Up to so many results are boxes of their own; more are chips at the boxes that make them. */
const MAX_RESULT_BOXES = 3;
/** Up to so many arguments, those that nothing reads are still shown. */
const MAX_IDLE_ARGUMENTS = 8;
/** Chips of a box that are named; the others are counted. */
const MAX_CHIPS = 2;
/** No argument chips on a closed region of more nodes than this: a module reads too many parameters to name. */
const MAX_NODES_WITH_CHIPS = 12;

/** What is visible of `graph` in the view `state`. */
export function show(document: Document, graph: Graph, state: ViewState): VisibleGraph {
  return new Visible(document, graph, state).build();
}

/** True for a node that a double click opens or closes. */
export function canOpen(graph: Graph, node: number): boolean {
  return graph.firstRegion[node + 1] > graph.firstRegion[node];
}

/** Builds one visible graph: boxes in program order first, then edges and chips by what each box reads. */
class Visible {
  private readonly openness: Openness;
  private readonly borders: Borders;
  private readonly boxOfNode: Int32Array;
  private readonly boxOfRegion: Int32Array;
  private readonly node: number[] = [];
  private readonly region: number[] = [];
  private readonly parent: number[] = [];
  private readonly shape: number[] = [];
  private readonly label: string[] = [];
  private readonly detail: string[] = [];
  private readonly chips = new Map<number, Chip[]>();
  private readonly edges: { source: number; target: number; value: number; port: number }[] = [];

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    state: ViewState
  ) {
    this.borders = new Borders(graph);
    this.openness = new Openness(graph, this.borders, state.open);
    this.boxOfNode = new Int32Array(graph.nodeCount).fill(-1);
    this.boxOfRegion = new Int32Array(graph.regionCount).fill(-1);
  }

  build(): VisibleGraph {
    this.makeBoxes();
    this.joinBoxes();
    const { graph, node, shape } = this;
    const { source, target, value, sourcePort, targetPort } = this.ports();
    return {
      graph,
      count: node.length,
      node: Int32Array.from(node),
      region: Int32Array.from(this.region),
      parent: Int32Array.from(this.parent),
      shape: Uint8Array.from(shape),
      family: Uint8Array.from(node, n => family(this.document.strings[graph.op[n]])),
      closed: Uint8Array.from(node, (n, box) => (shape[box] === Shape.box && canOpen(graph, n) ? 1 : 0)),
      label: this.label,
      detail: this.detail,
      chips: this.shortened(),
      source,
      target,
      sourcePort,
      targetPort,
      value
    };
  }

  private makeBoxes(): void {
    const { graph, openness } = this;
    const reads = this.argumentReads();
    const fewResults = this.fewResults();
    for (let node = 0; node < graph.nodeCount; node++) {
      if (!openness.shown[node]) {
        continue;
      }
      const top = graph.region[node] === 0;
      switch (graph.kind[node]) {
        case NodeKind.operation:
          if (openness.isOpen(node)) {
            this.addFrames(node);
          } else {
            this.add(node, Shape.box, cut(nodeLabel(this.document, graph, node)), this.boxDetail(node));
          }
          break;
        case NodeKind.argument:
          if (top ? this.isPort(node, reads) : !this.borders.passes(node)) {
            this.add(node, top ? Shape.port : Shape.turn, this.argumentLabel(node), this.firstType(node));
          }
          break;
        case NodeKind.result:
          if (top && (fewResults || this.comesFromChip(node, reads))) {
            this.add(node, Shape.port, cut(this.document.strings[graph.name[node]] || 'result'), '');
          }
          break;
      }
    }
  }

  private add(node: number, shape: number, label: string, detail: string, region = -1, parent = this.boxOfRegion[this.graph.region[node]]): number {
    const box = this.node.length;
    this.node.push(node);
    this.region.push(region);
    this.parent.push(parent);
    this.shape.push(shape);
    this.label.push(label);
    this.detail.push(detail);
    if (region < 0 || this.boxOfNode[node] < 0) {
      this.boxOfNode[node] = box;
    }
    return box;
  }

  /** The frame of an open node; where it owns several regions, one frame for each inside it. */
  private addFrames(node: number): void {
    const { graph, document } = this;
    const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
    const only = end === first + 1 ? graph.ownedRegions[first] : -1;
    const outer = this.add(node, Shape.frame, cut(nodeLabel(document, graph, node)), this.frameDetail(node), only);
    if (only >= 0) {
      this.boxOfRegion[only] = outer;
      return;
    }
    for (let i = first; i < end; i++) {
      const region = graph.ownedRegions[i];
      this.boxOfRegion[region] = this.add(node, Shape.frame, cut(regionLabel(document, graph, region)), '', region, outer);
    }
  }

  private boxDetail(node: number): string {
    return [turns(this.document, this.graph, node), newType(this.document, this.graph, node)].filter(Boolean).join(' ');
  }

  private frameDetail(node: number): string {
    const { document, graph } = this;
    const op = document.strings[graph.op[node]];
    const kind = nodeLabel(document, graph, node) === op || op === 'jit' || op === 'pjit' ? '' : op;
    return [kind, turns(document, graph, node)].filter(Boolean).join(' ');
  }

  private argumentLabel(node: number): string {
    const { graph, document } = this;
    const name = document.strings[graph.name[node]];
    if (graph.region[node] === 0) {
      return cut(name || 'argument');
    }
    const binding = this.borders.into[node];
    const role = binding < 0 ? 'argument' : graph.bindingKind[binding] === BindingKind.init ? 'carry' : 'slice';
    return cut(name ? `${role} ${name}` : role);
  }

  private firstType(node: number): string {
    const value = this.graph.firstValue[node];
    return value < this.graph.firstValue[node + 1] ? typeText(this.document, this.graph, value) : '';
  }

  /** For each argument of the program, how many boxes read it. */
  private argumentReads(): Map<number, number> {
    const { graph, openness } = this;
    const reads = new Map<number, number>();
    for (let node = 0; node < graph.nodeCount; node++) {
      if (!openness.shown[node] || openness.isOpen(node) || graph.kind[node] === NodeKind.result) {
        continue;
      }
      for (const origin of this.operandOrigins(node)) {
        if (origin.node >= 0 && graph.kind[origin.node] === NodeKind.argument) {
          reads.set(origin.node, (reads.get(origin.node) ?? 0) + 1);
        }
      }
    }
    return reads;
  }

  /** Where all that a visible node reads comes from. What a loop's argument starts with counts as read by it. */
  private *operandOrigins(node: number): Iterable<Origin> {
    const { graph, openness, borders } = this;
    if (graph.kind[node] === NodeKind.argument) {
      if (borders.into[node] >= 0 && !borders.passes(node)) {
        yield* openness.origins(graph.bindingFrom[borders.into[node]]);
      }
      return;
    }
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      yield* openness.origins(graph.operandSource[i]);
    }
  }

  /** An argument is a box of its own if it is a plain array that few boxes read; else it is a chip. */
  private isPort(node: number, reads: ReadonlyMap<number, number>): boolean {
    const { graph } = this;
    const count = reads.get(node) ?? 0;
    if (count === 0) {
      let all = 0;
      while (all <= MAX_IDLE_ARGUMENTS && all < graph.nodeCount && graph.kind[all] === NodeKind.argument) {
        all++;
      }
      return all <= MAX_IDLE_ARGUMENTS;
    }
    return count <= MAX_ARGUMENT_EDGES && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(this.document.strings[graph.name[node]] || 'argument');
  }

  private fewResults(): boolean {
    const { graph } = this;
    let results = 0;
    for (let node = 0; node < graph.nodeCount; node++) {
      results += graph.kind[node] === NodeKind.result && graph.region[node] === 0 ? 1 : 0;
    }
    return results <= MAX_RESULT_BOXES;
  }

  /** True for a result that no box makes: a literal, a constant or an argument that is no box. */
  private comesFromChip(result: number, reads: ReadonlyMap<number, number>): boolean {
    for (const origin of this.operandOrigins(result)) {
      if (origin.node < 0 || this.isChip(origin.node, reads)) {
        return true;
      }
    }
    return false;
  }

  private isChip(node: number, reads: ReadonlyMap<number, number>): boolean {
    const { graph } = this;
    const kind = graph.kind[node];
    return kind === NodeKind.constant || (kind === NodeKind.argument && graph.region[node] === 0 && !this.isPort(node, reads));
  }

  private joinBoxes(): void {
    const { graph, openness } = this;
    for (let node = 0; node < graph.nodeCount; node++) {
      if (!openness.shown[node]) {
        continue;
      }
      if (graph.kind[node] === NodeKind.result && this.boxOfNode[node] < 0) {
        this.chipResult(node);
        continue;
      }
      const box = this.boxOfNode[node];
      if (box < 0 || this.shape[box] === Shape.frame) {
        continue;
      }
      let port = 0;
      for (const origin of this.operandOrigins(node)) {
        this.join(origin, box, port++);
      }
    }
  }

  private join(origin: Origin, box: number, port: number): void {
    const source = origin.node < 0 ? -1 : this.boxOfNode[origin.node];
    if (source >= 0 && !this.holds(source, box)) {
      if (!this.edges.some((edge, i) => i >= this.edges.length - port && edge.source === source && edge.target === box && edge.value === origin.value)) {
        this.edges.push({ source, target: box, value: origin.value, port });
      }
      return;
    }
    const node = this.node[box];
    const size = Math.max(1, operationsInside(this.graph, node));
    if (origin.node < 0) {
      if (size <= 1) {
        const text = this.document.strings[this.graph.literalText[origin.literal]];
        this.chip(box, { text: cut(text, 12), value: -1, side: 'left', title: `constant ${text}` });
      }
    } else if (size <= MAX_NODES_WITH_CHIPS) {
      this.chip(box, this.valueChip(origin));
    }
  }

  private valueChip(origin: Origin): Chip {
    const { document, graph } = this;
    const name = document.strings[graph.name[origin.node]];
    const type = typeText(document, graph, origin.value);
    if (graph.kind[origin.node] === NodeKind.constant) {
      const known = attribute(document, graph, origin.node, 'value');
      const text = name || known || type;
      return { text: cut(text, 14), value: origin.value, side: 'left', title: `constant ${text} ${type}` };
    }
    return { text: cut(shortPath(name || 'argument'), 14), value: origin.value, side: 'left', title: `${name || 'argument'} ${type}` };
  }

  /** A result without a box of its own is a chip at the box that makes it. */
  private chipResult(node: number): void {
    const { graph, document } = this;
    const top = graph.region[node] === 0;
    const carried = !top && this.borders.carries.has(node);
    const condition = !top && document.strings[graph.regionKind[graph.region[node]]] === 'while cond';
    if (!top && !carried && !condition) {
      return;
    }
    const name = document.strings[graph.name[node]];
    const text = top ? `→ ${shortPath(name || 'result')}` : carried ? '→ carry' : '→ goes on?';
    const title = top ? `result ${name}` : carried ? 'carried into the next turn' : 'the loop goes on while this holds';
    for (const origin of this.operandOrigins(node)) {
      const box = origin.node < 0 ? -1 : this.boxOfNode[origin.node];
      if (box >= 0) {
        this.chip(box, { text: cut(text, 16), value: origin.value, side: 'right', title });
      }
    }
  }

  private chip(box: number, chip: Chip): void {
    const known = this.chips.get(box);
    if (!known) {
      this.chips.set(box, [chip]);
    } else if (!known.some(other => other.title === chip.title && other.side === chip.side)) {
      known.push(chip);
    }
  }

  /** On each side two chips by name, the rest as a count. */
  private shortened(): Map<number, Chip[]> {
    const result = new Map<number, Chip[]>();
    for (const [box, chips] of this.chips) {
      const kept: Chip[] = [];
      for (const side of ['left', 'right'] as const) {
        const these = chips.filter(chip => chip.side === side);
        kept.push(...these.slice(0, these.length > MAX_CHIPS + 1 ? MAX_CHIPS : MAX_CHIPS + 1));
        if (these.length > MAX_CHIPS + 1) {
          const rest = these.slice(MAX_CHIPS);
          kept.push({ text: `+${rest.length}`, value: -1, side, title: rest.map(chip => chip.title).join('\n') });
        }
      }
      result.set(box, kept);
    }
    return result;
  }

  /** True where `box` stands inside the frame `frame`. */
  private holds(frame: number, box: number): boolean {
    for (let at = box; at >= 0; at = this.parent[at]) {
      if (at === frame) {
        return true;
      }
    }
    return false;
  }

  /** Edges as columns, with ordinals of ports that count only what is drawn. */
  private ports(): Pick<VisibleGraph, 'source' | 'target' | 'value' | 'sourcePort' | 'targetPort'> {
    const { edges } = this;
    const targetPort = new Int32Array(edges.length);
    const nextPort = new Map<number, number>();
    edges.forEach(({ target }, i) => {
      targetPort[i] = nextPort.get(target) ?? 0;
      nextPort.set(target, targetPort[i] + 1);
    });
    const valuesOf = new Map<number, number[]>();
    for (const { source, value } of edges) {
      const values = valuesOf.get(source);
      if (!values) {
        valuesOf.set(source, [value]);
      } else if (!values.includes(value)) {
        values.push(value);
      }
    }
    for (const values of valuesOf.values()) {
      values.sort((a, b) => a - b);
    }
    return {
      source: Int32Array.from(edges, edge => edge.source),
      target: Int32Array.from(edges, edge => edge.target),
      value: Int32Array.from(edges, edge => edge.value),
      sourcePort: Int32Array.from(edges, edge => valuesOf.get(edge.source)?.indexOf(edge.value) ?? 0),
      targetPort
    };
  }
}

/** Number of operations in the regions of a node, at every depth; 0 for a node without regions. */
export function operationsInside(graph: Graph, node: number): number {
  const first = graph.firstRegion[node];
  const end = graph.firstRegion[node + 1];
  if (first === end) {
    return 0;
  }
  const before = operationsBefore(graph);
  return before[graph.regionEnd[graph.ownedRegions[end - 1]]] - before[graph.regionStart[graph.ownedRegions[first]]];
}

const counted = new WeakMap<Graph, Int32Array>();

/** For each place in the program order, the number of operations before it. */
function operationsBefore(graph: Graph): Int32Array {
  let before = counted.get(graph);
  if (!before) {
    before = new Int32Array(graph.nodeCount + 1);
    for (let node = 0; node < graph.nodeCount; node++) {
      before[node + 1] = before[node] + (graph.kind[node] === NodeKind.operation ? 1 : 0);
    }
    counted.set(graph, before);
  }
  return before;
}
