/** Which boxes stand in a phase that mirrors an earlier one, and what each mirrors there. */
import { RowKind } from '../document/graph.ts';
import type { Boxes } from './boxes.ts';
import type { Rows } from './outline.ts';
import { Shape } from './visible.ts';

/** Open phases that mirror an earlier open one: they stand beside it and run upward. */
export class Upward {
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

  /** The box of the phase that `to` mirrors as a whole, where `from` stands in it or is it; else -1. */
  closedMirror(from: number, to: number): number {
    const { boxes, rows } = this;
    const { kind, twin } = rows.outline;
    const row = boxes.item[to];
    if (row < 0 || kind[row] !== RowKind.phase || boxes.shape[to] === Shape.frame || twin[row] < 0 || twin[row] > row) {
      return -1;
    }
    const phase = boxes.of(twin[row]);
    return boxes.item[phase] === twin[row] && boxes.holds(phase, from) ? phase : -1;
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
