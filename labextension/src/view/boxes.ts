/** The boxes on the screen, in program order: operations, frames of open regions, arguments and results. */
import { BindingKind, NodeKind, type Document, type Fates, type Graph } from '../document/graph.ts';
import { fatesOf, ghostWord } from './ghosts.ts';
import { cut, newType, nodeLabel, regionLabel, turns, typeText } from './label.ts';
import type { Reads } from './reads.ts';
import { Shape } from './visible.ts';

/** Up to so many results are boxes of their own; more are chips at the boxes that make them. */
const MAX_RESULT_BOXES = 3;

/** Columns of the boxes; the place of a box in them is its number. */
export class Boxes {
  readonly node: number[] = [];
  readonly region: number[] = [];
  readonly parent: number[] = [];
  readonly shape: number[] = [];
  readonly label: string[] = [];
  readonly detail: string[] = [];
  readonly ghost: number[] = [];
  /** The box of a node, of an owner its outermost frame; -1 for a node without one. */
  readonly ofNode: Int32Array;
  private readonly ofRegion: Int32Array;
  private readonly fates: Fates | undefined;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly reads: Reads
  ) {
    this.fates = fatesOf(document, graph);
    this.ofNode = new Int32Array(graph.nodeCount).fill(-1);
    this.ofRegion = new Int32Array(graph.regionCount).fill(-1);
    const fewResults = this.countResults() <= MAX_RESULT_BOXES;
    for (let node = 0; node < graph.nodeCount; node++) {
      if (reads.openness.shown[node]) {
        this.addNode(node, fewResults);
      }
    }
  }

  /** True where `box` is the frame `frame` or stands inside it. */
  holds(frame: number, box: number): boolean {
    let at = box;
    while (at > frame) {
      at = this.parent[at];
    }
    return at === frame;
  }

  private addNode(node: number, fewResults: boolean): void {
    const { document, graph, reads } = this;
    const top = graph.region[node] === 0;
    switch (graph.kind[node]) {
      case NodeKind.operation:
        if (reads.openness.isOpen(node)) {
          this.addFrames(node);
        } else {
          const what = ghostWord(this.fates, node) || newType(document, graph, node);
          const detail = [turns(document, graph, node), what].filter(Boolean).join(' ');
          this.add(node, Shape.box, nodeLabel(document, graph, node), detail);
        }
        break;
      case NodeKind.argument:
        if (top && reads.isPort(node)) {
          this.add(node, Shape.port, document.strings[graph.name[node]] || 'argument', this.type(node));
        } else if (!top && !reads.borders.passes(node)) {
          this.add(node, Shape.turn, this.turnLabel(node), this.type(node));
        }
        break;
      case NodeKind.result:
        if (top && (fewResults || this.comesFromChip(node))) {
          this.add(node, Shape.port, document.strings[graph.name[node]] || 'result', '');
        }
        break;
    }
  }

  private add(node: number, shape: number, label: string, detail: string): number {
    const box = this.node.length;
    this.node.push(node);
    this.region.push(-1);
    this.parent.push(this.ofRegion[this.graph.region[node]]);
    this.shape.push(shape);
    this.label.push(cut(label));
    this.detail.push(detail);
    this.ghost.push(ghostWord(this.fates, node) ? 1 : 0);
    this.ofNode[node] = box;
    return box;
  }

  /** The frame of an open node; where it owns several regions, one frame for each inside it. */
  private addFrames(node: number): void {
    const { document, graph } = this;
    const label = nodeLabel(document, graph, node);
    const outer = this.add(node, Shape.frame, label, this.frameDetail(node, label));
    const regions = graph.ownedRegions.subarray(graph.firstRegion[node], graph.firstRegion[node + 1]);
    for (const region of regions) {
      let frame = outer;
      if (regions.length > 1) {
        frame = this.add(node, Shape.frame, regionLabel(document, graph, region), '');
        this.parent[frame] = outer;
        this.ofNode[node] = outer;
      }
      this.region[frame] = region;
      this.ofRegion[region] = frame;
    }
  }

  /** The operation where the label is another name, except for plain calls; and how often it turns. */
  private frameDetail(node: number, label: string): string {
    const { document, graph } = this;
    const op = document.strings[graph.op[node]];
    const kind = label === op || op === 'jit' || op === 'pjit' ? '' : op;
    return [kind, turns(document, graph, node)].filter(Boolean).join(' ');
  }

  private turnLabel(node: number): string {
    const { document, graph, reads } = this;
    const binding = reads.borders.into[node];
    const role = binding < 0 ? 'argument' : graph.bindingKind[binding] === BindingKind.init ? 'carry' : 'slice';
    const name = document.strings[graph.name[node]];
    return name ? `${role} ${name}` : role;
  }

  private type(node: number): string {
    const { document, graph } = this;
    const value = graph.firstValue[node];
    return value < graph.firstValue[node + 1] ? typeText(document, graph, value) : '';
  }

  private countResults(): number {
    const { graph } = this;
    let results = 0;
    for (let node = 0; node < graph.nodeCount; node++) {
      results += graph.kind[node] === NodeKind.result && graph.region[node] === 0 ? 1 : 0;
    }
    return results;
  }

  /** True for a result that no box makes: a literal, a constant or an argument that is a chip. */
  private comesFromChip(result: number): boolean {
    for (const origin of this.reads.origins(result)) {
      if (origin.node < 0 || this.reads.isChip(origin.node)) {
        return true;
      }
    }
    return false;
  }
}
