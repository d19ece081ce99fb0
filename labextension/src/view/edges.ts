/** What leads from box to box: edges, cables between a phase and the one that mirrors it, and what goes to a phase as a whole. */
import { RowKind, type Document, type Graph } from '../document/graph.ts';
import type { Boxes } from './boxes.ts';
import { typeText } from './label.ts';
import type { Makers } from './makers.ts';
import type { Rows } from './outline.ts';
import type { Reads } from './reads.ts';
import { keptOf, tallied } from './residuals.ts';
import type { Upward } from './upward.ts';
import type { Bundle, Cable, VisibleGraph } from './visible.ts';

interface Edge {
  readonly source: number;
  readonly target: number;
  readonly value: number;
}

export class Edges {
  private readonly edges: Edge[] = [];
  /** The edge between two boxes, by both. */
  private readonly joins = new Map<number, number>();
  /** What goes along edges to and from phases. */
  private readonly crossings = new Map<number, Set<number>>();
  /** What goes along cables, by both ends of each. */
  private readonly kept = new Map<number, Set<number>>();
  /** Edges along which a phase keeps what the one that mirrors it needs, which is closed. */
  private readonly keeping = new Set<number>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly rows: Rows,
    private readonly reads: Reads,
    private readonly boxes: Boxes,
    private readonly upward: Upward,
    private readonly makers: Makers
  ) {}

  /**
   * One edge between two boxes, however many values go along it. A phase that runs upward is tied to the one beside it
   * by cables, and to everything else as a whole. A cable is of what is read itself, as it was handed over. Where that
   * phase is closed, one edge is all that the other keeps for it: lines from each box would cross the whole picture.
   *
   * Boxes are numbered in the order of the program. Only in a later copy of a stack, which has not each part of the
   * first, may something lead to what is drawn before it: that would be a cycle. A cable ends at `taker`.
   */
  join(from: number, to: number, value: number, handed: () => readonly number[], taker = to): void {
    if (from > to) {
      return;
    }
    const [left, right] = [this.upward.phaseOf(from), this.upward.phaseOf(to)];
    const mirrored = this.upward.closedMirror(from, to);
    let [source, target] = [mirrored < 0 ? from : mirrored, to];
    if (left !== right) {
      if (right >= 0 && this.upward.mirrors(right, from)) {
        handed().forEach(one => addTo(this.kept, this.giver(from, one) * this.boxes.item.length + taker, one));
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
    if (mirrored >= 0) {
      this.keeping.add(edge);
      handed().forEach(one => addTo(this.crossings, edge, one));
    } else if (this.isPhase(source) || this.isPhase(target)) {
      addTo(this.crossings, edge, value);
    }
  }

  /**
   * Edges as columns, with ordinals of ports that count only what is drawn. A box has its operands and results in the
   * order of the program; what goes to and from a phase as a whole is in the order of the boxes at the other ends.
   */
  columns(): Pick<VisibleGraph, 'source' | 'target' | 'value' | 'sourcePort' | 'targetPort'> {
    const { edges } = this;
    const targetPort = new Int32Array(edges.length);
    const sourcePort = new Int32Array(edges.length);
    for (const [target, into] of grouped(edges, edge => edge.target)) {
      const order = this.isPhase(target) ? into.sort((a, b) => edges[a].source - edges[b].source) : into;
      order.forEach((edge, port) => {
        targetPort[edge] = port;
      });
    }
    for (const [source, out] of grouped(edges, edge => edge.source)) {
      const rank = (edge: number): number => (this.isPhase(source) ? edges[edge].target : edges[edge].value);
      const ports = new Map([...new Set(out.map(rank))].sort((a, b) => a - b).map((one, port) => [one, port]));
      for (const edge of out) {
        sourcePort[edge] = ports.get(rank(edge)) as number;
      }
    }
    return {
      source: Int32Array.from(edges, edge => edge.source),
      target: Int32Array.from(edges, edge => edge.target),
      value: Int32Array.from(edges, edge => edge.value),
      sourcePort,
      targetPort
    };
  }

  bundles(): Bundle[] {
    const { document, graph } = this;
    const { twin } = this.rows.outline;
    const keptAmong = keptOf(document, graph);
    return [...this.crossings]
      .filter(([, values]) => values.size > 1)
      .map(([edge, values]) => {
        const row = this.boxes.item[this.edges[edge].source];
        const kept = this.keeping.has(edge) ? keptAmong(values) : [];
        return kept.length
          ? { edge, values: kept.length, gradients: false, bytes: bytesOf(document, graph, kept) }
          : { edge, values: values.size, gradients: row >= 0 && twin[row] >= 0 && twin[row] < row };
      });
  }

  /** A value that several boxes need counts where it goes to the twin of what makes it, or else to its first reader. */
  cables(): Cable[] {
    const { document, graph } = this;
    const count = this.boxes.item.length;
    const twins = this.upward.twins();
    const cables = [...this.kept].map(([key, values]) => ({ ends: [Math.floor(key / count), key % count], values }));
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
        bytes: bytesOf(document, graph, kept),
        ...(shared ? { shared } : {})
      };
    });
  }

  /** Where the cable of a value begins: of what any of several branches makes, at the frame around all of them. */
  private giver(box: number, value: number): number {
    const { boxes } = this;
    const makers = this.reads.flow.origins(value).map(({ node }) => (node < 0 ? box : this.makers.maker(node, box)));
    let around = box;
    while (around >= 0 && !makers.every(maker => maker === around || boxes.holds(around, maker))) {
      around = boxes.parent[around];
    }
    return around < 0 || this.isPhase(around) ? box : around;
  }

  private isPhase(box: number): boolean {
    const row = this.boxes.item[box];
    return row >= 0 && this.rows.outline.kind[row] === RowKind.phase;
  }
}

function bytesOf({ types }: Document, graph: Graph, values: readonly number[]): number {
  return values.reduce((sum, value) => sum + Math.max(0, types.bytes[graph.valueType[value]]), 0);
}

function addTo(sets: Map<number, Set<number>>, key: number, value: number): void {
  const values = sets.get(key);
  if (values) {
    values.add(value);
  } else {
    sets.set(key, new Set([value]));
  }
}

/** The edges that have the same end, by it. */
function grouped(edges: readonly Edge[], end: (edge: Edge) => number): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  edges.forEach((edge, at) => {
    const group = groups.get(end(edge));
    if (group) {
      group.push(at);
    } else {
      groups.set(end(edge), [at]);
    }
  });
  return groups;
}
