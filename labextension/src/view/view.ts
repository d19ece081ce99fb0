/**
 * A document and a view of it give the visible graph: which boxes stand on the screen, which edges join them, and
 * which values are chips instead.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { Boxes } from './boxes.ts';
import { ChipRack, hubChip, operandChip, resultChip } from './chips.ts';
import { family } from './family.ts';
import { canOpen, operationsInside } from './inside.ts';
import type { Origin } from './openness.ts';
import { Reads } from './reads.ts';
import { Shape, type VisibleGraph } from './visible.ts';

/** How a person looks at a graph. */
export interface ViewState {
  /** Nodes whose regions are open in place. */
  readonly open: ReadonlySet<number>;
}

/** No argument chips on a closed region of more operations than this: a module reads too many parameters to name. */
const MAX_OPERATIONS_WITH_CHIPS = 12;

/** What is visible of `graph` in the view `state`. */
export function show(document: Document, graph: Graph, state: ViewState): VisibleGraph {
  const reads = new Reads(document, graph, state.open);
  const boxes = new Boxes(document, graph, reads);
  const { edges, rack } = join(document, graph, reads, boxes);
  const { node, shape } = boxes;
  return {
    graph,
    count: node.length,
    node: Int32Array.from(node),
    region: Int32Array.from(boxes.region),
    parent: Int32Array.from(boxes.parent),
    shape: Uint8Array.from(shape),
    family: Uint8Array.from(node, n => family(document.strings[graph.op[n]])),
    closed: Uint8Array.from(node, (n, box) => (shape[box] === Shape.box && canOpen(graph, n) ? 1 : 0)),
    ghost: Uint8Array.from(boxes.ghost),
    label: boxes.label,
    detail: boxes.detail,
    chips: rack.drawn(),
    ...columns(edges)
  };
}

interface Edge {
  readonly source: number;
  readonly target: number;
  readonly value: number;
}

/** Edges and chips, by what each visible node reads. */
function join(document: Document, graph: Graph, reads: Reads, boxes: Boxes): { edges: Edge[]; rack: ChipRack } {
  const edges: Edge[] = [];
  const rack = new ChipRack();
  for (let node = 0; node < graph.nodeCount; node++) {
    if (!reads.openness.shown[node]) {
      continue;
    }
    const target = boxes.ofNode[node];
    if (target >= 0) {
      for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
        if (reads.isHub(value)) {
          rack.add(target, hubChip(value, reads.readers(value)));
        }
      }
      const first = edges.length;
      for (const origin of reads.origins(node)) {
        const source = origin.node < 0 ? -1 : boxes.ofNode[origin.node];
        if (source >= 0 && !boxes.holds(source, target) && !reads.isHub(origin.value)) {
          addOnce(edges, first, { source, target, value: origin.value });
        } else if (saysEnough(graph, node, origin)) {
          rack.add(target, operandChip(document, graph, origin));
        }
      }
    } else if (graph.kind[node] === NodeKind.result) {
      const chip = resultChip(document, graph, reads.borders, node);
      for (const origin of chip ? reads.origins(node) : []) {
        const maker = origin.node < 0 ? -1 : boxes.ofNode[origin.node];
        if (chip && maker >= 0) {
          rack.add(maker, { ...chip, value: origin.value });
        }
      }
    }
  }
  return { edges, rack };
}

/** A value that a box reads twice is one edge. `first` is where the edges of the same target begin. */
function addOnce(edges: Edge[], first: number, edge: Edge): void {
  for (let i = first; i < edges.length; i++) {
    if (edges[i].value === edge.value && edges[i].source === edge.source) {
      return;
    }
  }
  edges.push(edge);
}

/** Literals are worth a chip on single operations, arguments on small regions too. */
function saysEnough(graph: Graph, node: number, origin: Origin): boolean {
  const size = operationsInside(graph, node);
  return origin.node < 0 ? size <= 1 : size <= MAX_OPERATIONS_WITH_CHIPS;
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
    const values = valuesOf.get(source);
    if (values) {
      values.add(value);
    } else {
      valuesOf.set(source, new Set([value]));
    }
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
