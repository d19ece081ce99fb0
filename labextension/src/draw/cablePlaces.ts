/** Where cables begin and end, and what stands in their way. */
import type { Layout } from '../layout/input.ts';
import { BOX_HEIGHT, chipsWidth } from '../view/sizes.ts';
import { Shape, type Cable, type Chip, type VisibleGraph } from '../view/visible.ts';
import type { Scene } from './scene.ts';
import { measure } from './text.ts';

/** An area that something stands in; `box` is the box that it belongs to, or -1. */
export interface Solid {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly box: number;
}

export interface Ends {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** In larger pictures boxes are too small for the eye to follow a cable past them. */
const MOST_SOLIDS = 1500;
/** px of a stack that stand out to the right and below. */
const COPIES = 5;

/** From the right side of the one box to the left side of the other, outside of its chips. */
export function cableEnds({ visible, layout }: Scene, { source, target }: Cable): Ends {
  return {
    x1: layout.x[source] + layout.width[source] + chipRoom(visible, source, 'right'),
    y1: middleOf(visible, layout, source),
    x2: layout.x[target] - chipRoom(visible, target, 'left'),
    y2: middleOf(visible, layout, target)
  };
}

function chipRoom(visible: VisibleGraph, box: number, side: Chip['side']): number {
  const chips = visible.chips.get(box) ?? [];
  return chipsWidth(
    measure,
    chips.filter(chip => chip.side === side).map(chip => chip.text)
  );
}

function middleOf(visible: VisibleGraph, layout: Layout, box: number): number {
  return layout.y[box] + (visible.shape[box] === Shape.frame ? layout.height[box] : BOX_HEIGHT) / 2;
}

/** Where the gap between the outermost frames that hold one end and not the other begins and ends. */
export function gapBetween({ visible, layout }: Scene, source: number, target: number): [number, number] {
  const outermost = (box: number, other: number): number => {
    let at = box;
    while (visible.parent[at] >= 0 && !holds(visible, visible.parent[at], other)) {
      at = visible.parent[at];
    }
    return at;
  };
  const [left, right] = [outermost(source, target), outermost(target, source)];
  return [layout.x[left] + layout.width[left], layout.x[right]];
}

export function holds(visible: VisibleGraph, frame: number, box: number): boolean {
  let at = box;
  while (at > frame) {
    at = visible.parent[at];
  }
  return at === frame;
}

export function isFrame(visible: VisibleGraph, box: number): boolean {
  return visible.shape[box] === Shape.frame;
}

/** The area of a frame as a whole. */
export function areaOf(layout: Layout, frame: number): Solid {
  return {
    left: layout.x[frame],
    right: layout.x[frame] + layout.width[frame],
    top: layout.y[frame],
    bottom: layout.y[frame] + layout.height[frame],
    box: frame
  };
}

/** All boxes but frames, with their chips and the copies behind them. */
export function solids({ visible, layout }: Scene): Solid[] {
  if (visible.count > MOST_SOLIDS) {
    return [];
  }
  const found: Solid[] = [];
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] !== Shape.frame) {
      const copies = visible.times[box] > 1 ? COPIES : 0;
      found.push({
        left: layout.x[box] - chipRoom(visible, box, 'left'),
        right: layout.x[box] + layout.width[box] + Math.max(copies, chipRoom(visible, box, 'right')),
        top: layout.y[box],
        bottom: layout.y[box] + BOX_HEIGHT + copies,
        box
      });
    }
  }
  return found;
}
