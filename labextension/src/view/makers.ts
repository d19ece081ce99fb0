/** The boxes of what makes a value and of what reads it, where that is a loop, a condition or what stands in one. */
import { NodeKind, RowKind, type Graph } from '../document/graph.ts';
import type { Boxes } from './boxes.ts';
import type { Branches } from './branches.ts';
import type { Folds } from './folds.ts';
import type { Rows } from './outline.ts';
import type { Reads } from './reads.ts';
import { Shape } from './visible.ts';

export class Makers {
  private readonly rows: Rows;

  constructor(
    private readonly graph: Graph,
    private readonly folds: Folds,
    private readonly reads: Reads,
    private readonly boxes: Boxes,
    private readonly branches: Branches
  ) {
    this.rows = folds.rows;
  }

  /**
   * The box of what makes a value for another one; of what a loop was given and hands out, the frame of the loop, and
   * of what its bodies only help to make, as the order that a sort asks for, the frame around them.
   */
  maker(node: number, target: number): number {
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

  /** The box of a branch that hands on what it was given, or the frame around it. */
  giving(result: number): number {
    const box = this.boxes.ofNode(result);
    return box >= 0 ? box : this.boxes.frameAround(result);
  }

  /** The boxes of the bodies of a node inside its frame: what decides about them may stand in that frame too. */
  bodies(node: number, frame: number): readonly number[] {
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

  /**
   * The frame of the body that an argument goes into, or -1. What prepares the values of a loop may stand in one row
   * with it, which is no region of the graph then.
   */
  bodyOf(argument: number): number {
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

  /** Where the cable ends of what an open loop is given: at the first box that reads it in a turn. */
  taker(argument: number, frame: number): number {
    const { boxes, graph, reads } = this;
    const readers = reads.readersAre(graph.firstValue[argument]).map(item => boxes.of(item));
    const inside = readers.filter(box => box >= 0 && boxes.holds(frame, box));
    return inside.length ? Math.min(...inside) : frame;
  }
}
