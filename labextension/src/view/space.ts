/** The space that a picture has, and how large it is in that. */
import type { Layout } from '../layout/input.ts';

export interface Space {
  readonly width: number;
  readonly height: number;
}

const ASPECT_STEP = 0.5;
/** In less width than this, what stands beside boxes takes more of it than they do. */
const NARROW = 400;

/** The shape into which chains are folded that are too long for a space; in steps, so that small changes fold nothing anew. */
export function aspectOf({ width, height }: Space): number {
  return Math.max(ASPECT_STEP, Math.round(width / Math.max(1, height) / ASPECT_STEP) * ASPECT_STEP);
}

/** True where there is little room beside boxes. */
export function isNarrow({ width }: Space): boolean {
  return width < NARROW;
}

/** Zoom at which a layout fits into the space, at most 1. */
export function fitZoom(layout: Layout, space: Space): number {
  return Math.min(
    1,
    Math.max(1, space.width) / Math.max(1, layout.totalWidth),
    Math.max(1, space.height) / Math.max(1, layout.totalHeight)
  );
}
