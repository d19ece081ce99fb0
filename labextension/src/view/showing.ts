/** What is seen of a program at first, and what closed boxes hide of it. */
import { RowKind } from '../document/graph.ts';
import { candidates, mirrors, shareOf } from './candidates.ts';
import type { Rows } from './outline.ts';
import { Shape, type VisibleGraph } from './visible.ts';

export interface Seen {
  /** How many boxes there are. */
  readonly boxes: number;
  /** How many of them say more than that there is a phase. */
  readonly says: number;
  /** How much is done in the largest closed box that could be open, and where one copy of a stack stands for it. */
  readonly largest: number;
  readonly largestCopy: number;
  /** The most that one closed box holds of what is done in the phase, or the program, that it is part of. */
  readonly hidden: number;
  /** The same where one copy of a stack stands for it. */
  readonly hiddenCopy: number;
}

/** What mirrors an open part, and updates after it, hide nothing that is missed. */
export function seenIn(rows: Rows, shown: VisibleGraph): Seen {
  const closed = candidates(rows, shown)
    .filter(({ row, late }) => !late && !mirrors(rows, row))
    .map(({ row }) => row);
  const { kind, count } = rows.outline;
  return {
    boxes: boxesIn(shown),
    says: shown.item.reduce(
      (sum, row, box) => sum + (shown.shape[box] === Shape.box && !(row >= 0 && kind[row] === RowKind.phase) ? 1 : 0),
      0
    ),
    largest: Math.max(0, ...closed.map(row => rows.work[row])),
    largestCopy: Math.max(0, ...closed.map(row => rows.work[row] / count[row])),
    hidden: Math.max(0, ...closed.map(row => shareOf(rows, row))),
    hiddenCopy: Math.max(0, ...closed.map(row => shareOf(rows, row) / count[row]))
  };
}

/** Boxes that stand for operations, not for what is open around them, nor for arguments and results. */
export function boxesIn(visible: VisibleGraph): number {
  return visible.shape.reduce((sum, shape) => sum + (shape === Shape.box ? 1 : 0), 0);
}
