/** How often something is told of each box of a picture, by kinds. */
import { rowsOf, type Rows } from '../../view/outline.ts';
import { boxesReadingEach, boxOfNode } from '../../view/seen.ts';
import { Shape, type VisibleGraph } from '../../view/visible.ts';
import type { Document } from '../../document/graph.ts';

export type Counts<Kind extends string> = Partial<Record<Kind, number>>;

export class Tally<Kind extends string> {
  private readonly visible: VisibleGraph;
  private readonly rows: Rows;
  private readonly own = new Map<number, Counts<Kind>>();
  private readonly around = new Map<number, Counts<Kind>>();
  private readonly unseen: { readonly node: number; readonly kind: Kind }[] = [];

  constructor(document: Document, visible: VisibleGraph) {
    this.visible = visible;
    this.rows = rowsOf(document, visible.graph);
  }

  /** Of a node of the graph. */
  add(node: number, kind: Kind): void {
    const { rows, visible } = this;
    const box = boxOfNode(rows, visible, node);
    if (box < 0) {
      this.unseen.push({ node, kind });
    } else {
      // A frame is told of for what it is the inside of, not for all that it holds.
      const own = visible.shape[box] !== Shape.frame || isInside(visible, rows, box, node);
      raise(own ? this.own : this.around, box, kind);
    }
  }

  /** Of what stood where a node is now. */
  addAt(node: number, kind: Kind): void {
    const box = boxOfNode(this.rows, this.visible, node);
    if (box >= 0) {
      raise(this.visible.shape[box] === Shape.frame ? this.around : this.own, box, kind);
    }
  }

  /** The boxes by number. Of a kind that has no box of its own, what holds or reads it is better than nothing. */
  boxes(): ReadonlyMap<number, Counts<Kind>> {
    const { rows, visible } = this;
    const boxes = new Map([...this.own].map(([box, counts]) => [box, { ...counts }]));
    const seen = new Set([...this.own.values()].flatMap(kindsOf));
    for (const [box, counts] of this.around) {
      for (const kind of kindsOf(counts).filter(one => !seen.has(one))) {
        raise(boxes, box, kind, counts[kind]);
      }
    }
    const unseen = this.unseen.filter(({ kind }) => !seen.has(kind));
    const reading = boxesReadingEach(visible.graph, rows, visible, new Set(unseen.map(({ node }) => node)));
    for (const { node, kind } of unseen) {
      reading.get(node)?.forEach(box => raise(boxes, box, kind));
    }
    return boxes;
  }
}

function kindsOf<Kind extends string>(counts: Counts<Kind>): Kind[] {
  return Object.keys(counts) as Kind[];
}

function raise<Kind extends string>(of: Map<number, Counts<Kind>>, box: number, kind: Kind, by = 1): void {
  const counts: Counts<Kind> = of.get(box) ?? {};
  counts[kind] = (counts[kind] ?? 0) + by;
  of.set(box, counts);
}

/** True where the frame `box` is the inside of the node. */
function isInside({ graph, item }: VisibleGraph, { outline }: Rows, box: number, node: number): boolean {
  const owns = graph.firstRegion[node] < graph.firstRegion[node + 1];
  return owns && item[box] >= 0 && outline.first[item[box]] === node;
}
