/** The way of boxes from their old places to new ones, when something opens, closes or moves. */
import type { Scene } from '../draw/scene.ts';
import type { Layout } from '../layout/input.ts';

/** ms. Long enough to follow with the eye, short enough not to wait for. */
export const DURATION = 180;

/** A layout between two scenes at time `t` from 0 to 1. Boxes that are new stand at their place from the start. */
export function between(before: Scene, after: Scene, t: number): Layout {
  const old = new Map<number, number>();
  for (let box = 0; box < before.visible.count; box++) {
    old.set(key(before, box), box);
  }
  const { layout, visible } = after;
  const [x, y, width, height] = [layout.x.slice(), layout.y.slice(), layout.width.slice(), layout.height.slice()];
  const s = t * t * (3 - 2 * t);
  for (let box = 0; box < visible.count; box++) {
    const from = old.get(key(after, box));
    if (from !== undefined) {
      x[box] += (before.layout.x[from] - x[box]) * (1 - s);
      y[box] += (before.layout.y[from] - y[box]) * (1 - s);
      width[box] += (before.layout.width[from] - width[box]) * (1 - s);
      height[box] += (before.layout.height[from] - height[box]) * (1 - s);
    }
  }
  return { ...layout, x, y, width, height };
}

function key({ visible }: Scene, box: number): number {
  return visible.item[box];
}
