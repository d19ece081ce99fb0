/** How much moved between two pictures of one graph. */
import type { Layout } from '../../labextension/src/layout/input.ts';

/** Boxes of a picture: what each is, and the one that it stands in, -1 for none. */
export interface Boxes {
  readonly item: Int32Array;
  readonly parent: Int32Array;
}

export interface Drawn {
  readonly boxes: Boxes;
  readonly layout: Layout;
  readonly milliseconds: number;
}

export interface Moved {
  /** Part of the pairs outside the region that kept their order from left to right. */
  readonly kept: number;
  /** The furthest that a box moved, less what the region grew by, in px. */
  readonly beyond: number;
}

/** Fewer pairs than this say nothing. */
const LEAST_PAIRS = 10;

/** For each box of `after` the box of `before` that it was, or -1. */
export function boxesBefore(before: Boxes, after: Boxes): Int32Array {
  const boxOf = new Map(Array.from(before.item, (item, box) => [item, box]));
  return after.item.map(item => boxOf.get(item) ?? -1);
}

/** How the boxes outside of `rows` moved, as seen from the box of the first of them. Null where too little is outside. */
export function compare(rows: ReadonlySet<number>, before: Drawn, after: Drawn): Moved | null {
  const from = boxesBefore(before.boxes, after.boxes);
  const outside = [...from.keys()].filter(
    box => from[box] >= 0 && !within(before.boxes, from[box], rows) && !within(after.boxes, box, rows)
  );
  const middle = ({ layout: { x, width } }: Drawn, box: number): number => x[box] + width[box] / 2;
  let [kept, pairs] = [0, 0];
  outside.forEach((a, i) => {
    for (const b of outside.slice(i + 1)) {
      const was = middle(before, from[a]) - middle(before, from[b]);
      // A box is neither to the left nor to the right of what it stands in.
      if (Math.abs(was) > 1 && !isWithin(after.boxes, a, b) && !isWithin(after.boxes, b, a)) {
        pairs++;
        kept += was < 0 === middle(after, a) - middle(after, b) < 0 ? 1 : 0;
      }
    }
  });
  const anchor = after.boxes.item.findIndex((item, box) => rows.has(item) && from[box] >= 0);
  if (pairs < LEAST_PAIRS || anchor < 0) {
    return null;
  }
  let [grownX, grownY] = [0, 0];
  after.boxes.item.forEach((item, box) => {
    if (rows.has(item) && from[box] >= 0) {
      grownX += Math.abs(after.layout.width[box] - before.layout.width[from[box]]);
      grownY += Math.abs(after.layout.height[box] - before.layout.height[from[box]]);
    }
  });
  const movedX = (box: number): number => middle(after, box) - middle(before, from[box]);
  const movedY = (box: number): number => after.layout.y[box] - before.layout.y[from[box]];
  const beyond = outside.reduce(
    (most, box) =>
      Math.max(most, Math.abs(movedX(box) - movedX(anchor)) - grownX, Math.abs(movedY(box) - movedY(anchor)) - grownY),
    0
  );
  return { kept: kept / pairs, beyond };
}

function isWithin({ parent }: Boxes, box: number, frame: number): boolean {
  let at = box;
  while (at > frame) {
    at = parent[at];
  }
  return at === frame;
}

function within({ item, parent }: Boxes, box: number, rows: ReadonlySet<number>): boolean {
  for (let at = box; at >= 0; at = parent[at]) {
    if (rows.has(item[at])) {
      return true;
    }
  }
  return false;
}
