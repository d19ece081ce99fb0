/** Which boxes step back, so that the others are seen. */
import type { Rows } from './outline.ts';
import { boxOfItem } from './seen.ts';
import type { VisibleGraph } from './visible.ts';

/** 1 for each box that neither holds nor is one of `items`; null where there are none. */
export function fadedBoxes(rows: Rows, visible: VisibleGraph, items: Iterable<number>): Uint8Array | null {
  const faded = new Uint8Array(visible.count).fill(1);
  let any = false;
  for (const item of items) {
    any = true;
    // The frames around stay with what stands in them.
    for (let box = boxOfItem(rows, visible, item); box >= 0 && faded[box]; box = visible.parent[box]) {
      faded[box] = 0;
    }
  }
  return any ? faded : null;
}
