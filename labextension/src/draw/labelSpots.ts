/** Where the labels of marks stand: at a corner of their box where they cover as little as possible of anything else. */
import { BOX_HEIGHT } from '../view/sizes.ts';
import { Shape, type VisibleGraph } from '../view/visible.ts';
import { bundleAreas } from './bundles.ts';
import { cableAreas } from './cables.ts';
import { MARGIN, type Scene } from './scene.ts';
import { meet, solid, type Area } from './solid.ts';
import { measure } from './text.ts';

export const LABEL_HEIGHT = 13;
export const LABEL_INSET = 5;
/** px that the outline of a mark stands away from its box. */
export const OUTSIDE = 2;

/** px of a box's edge that a label at its corner covers: little, for edges come in there. */
const OVERLAP = 12;
/** px by which a label reaches into its box from above or below. */
const INTO = 3 - OUTSIDE;
/** More labels than this are not read one by one: they stand at their first place. */
const MOST_PLACED = 400;
/** px² of something else that one may cover before the next place is better. */
const LATER = 12;

export interface Spot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

interface Labelled {
  readonly box: number;
  readonly text: string;
}

const known = new WeakMap<readonly Labelled[], { readonly visible: VisibleGraph; readonly spots: readonly Spot[] }>();

/** A place for the label of each mark; found once for a scene and its marks. */
export function labelSpots(scene: Scene, marks: readonly Labelled[]): readonly Spot[] {
  const found = known.get(marks);
  if (found?.visible === scene.visible) {
    return found.spots;
  }
  const taken = marks.length <= MOST_PLACED ? [...solid(scene), ...bundleAreas(scene), ...cableAreas(scene)] : [];
  const spots = marks.map(({ box, text }) => {
    let best: Spot | undefined;
    let least = Infinity;
    places(scene, box, measure(text, 'chip') + 2 * LABEL_INSET).forEach((spot, at) => {
      const area = areaOf(spot);
      const cost = at * LATER + taken.reduce((sum, other) => sum + covered(area, other), 0);
      if (cost < least) {
        [best, least] = [spot, cost];
      }
    });
    taken.push(areaOf(best as Spot));
    return best as Spot;
  });
  known.set(marks, { visible: scene.visible, spots });
  return spots;
}

/** At the upper right corner, where a stack has the number of its copies; the upper left; below; and at the sides. */
function places({ visible, layout, width: whole, height: high }: Scene, box: number, width: number): Spot[] {
  const frame = visible.shape[box] === Shape.frame;
  const [x, y] = [layout.x[box], layout.y[box]];
  const right = x + layout.width[box];
  const bottom = y + (frame ? layout.height[box] : BOX_HEIGHT);
  const above = y - INTO - LABEL_HEIGHT + OUTSIDE;
  const below = bottom + INTO - OUTSIDE;
  const middle = y + (BOX_HEIGHT - LABEL_HEIGHT) / 2;
  const stacked = visible.times[box] > 1;
  const corners = frame
    ? [right - width - OVERLAP, x + OVERLAP]
    : [right - OVERLAP, right + OUTSIDE - width, x - OUTSIDE, x + OVERLAP - width];
  const sides = frame ? [] : [right + OVERLAP / 2, x - OVERLAP / 2 - width];
  const all = [
    ...(stacked ? [x - OUTSIDE, ...corners] : corners).map(left => ({ left, top: above, width })),
    ...sides.map(left => ({ left, top: middle, width })),
    ...corners.map(left => ({ left, top: below, width }))
  ];
  // What stands at an end of the picture has no room beside it.
  return all.map(({ left, top }) => ({
    left: Math.max(-MARGIN + OUTSIDE, Math.min(left, whole - MARGIN - OUTSIDE - width)),
    top: Math.max(-MARGIN, Math.min(top, high - MARGIN - LABEL_HEIGHT)),
    width
  }));
}

function areaOf({ left, top, width }: Spot): Area {
  return { left, right: left + width, top, bottom: top + LABEL_HEIGHT };
}

/** How much of one area another covers, in px². */
function covered(one: Area, other: Area): number {
  return meet(one, other)
    ? (Math.min(one.right, other.right) - Math.max(one.left, other.left)) *
        (Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top))
    : 0;
}
