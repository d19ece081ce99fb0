/** The way of boxes from their old places to new ones, when something opens, closes or moves. */
import type { Camera } from '../../draw/canvas.ts';
import type { Scene } from '../../draw/scene.ts';
import type { Layout } from '../../layout/input.ts';

/** ms. Long enough to follow with the eye, short enough not to wait for. */
export const DURATION = 180;

/**
 * A layout between two scenes at time `t` from 0 to 1. `from` gives for each box the one of `before` that it was; boxes
 * that are new stand at their place from the start.
 */
export function between(before: Scene, after: Scene, from: Int32Array, t: number): Layout {
  const { layout, visible } = after;
  const [x, y, width, height] = [layout.x.slice(), layout.y.slice(), layout.width.slice(), layout.height.slice()];
  const part = 1 - eased(t);
  for (let box = 0; box < visible.count; box++) {
    const old = from[box];
    if (old >= 0) {
      x[box] += (before.layout.x[old] - x[box]) * part;
      y[box] += (before.layout.y[old] - y[box]) * part;
      width[box] += (before.layout.width[old] - width[box]) * part;
      height[box] += (before.layout.height[old] - height[box]) * part;
    }
  }
  return { ...layout, x, y, width, height };
}

/** The camera on its way, in step with the boxes: what stands still on the screen does so all the time. */
export function cameraBetween(before: Camera, after: Camera, t: number): Camera {
  const s = eased(t);
  const mix = (a: number, b: number): number => a + (b - a) * s;
  return { x: mix(before.x, after.x), y: mix(before.y, after.y), scale: mix(before.scale, after.scale) };
}

/** Slow, fast, slow. */
function eased(t: number): number {
  return t * t * (3 - 2 * t);
}
