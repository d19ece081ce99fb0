/** The space that a picture has, and how large it is in that. */
import type { Layout } from '../layout/input.ts';
import { Brevity } from './folds.ts';

export interface Space {
  readonly width: number;
  readonly height: number;
}

const ASPECT_STEP = 0.5;
/** In less width than this, what stands beside boxes takes more of it than they do. */
const NARROW = 400;
/** A space of so many square pixels is a window, not a part of one. */
const LARGE = 1200 * 700;

/** The shape into which chains are folded that are too long for a space; in steps, so that small changes fold nothing anew. */
export function aspectOf({ width, height }: Space): number {
  return Math.max(ASPECT_STEP, Math.round(width / Math.max(1, height) / ASPECT_STEP) * ASPECT_STEP);
}

/** How short words are at least in such a space. */
export function brevityIn({ width }: Space): number {
  return width < NARROW ? Brevity.short : Brevity.none;
}

export function isLarge({ width, height }: Space): boolean {
  return width * height >= LARGE;
}

/** Zoom at which a layout fits into the space, at most 1. */
export function fitZoom(layout: Layout, space: Space): number {
  return Math.min(
    1,
    Math.max(1, space.width) / Math.max(1, layout.totalWidth),
    Math.max(1, space.height) / Math.max(1, layout.totalHeight)
  );
}
