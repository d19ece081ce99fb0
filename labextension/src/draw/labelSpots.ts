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
/** px² of something else that the border of the frame around is as bad as, for a label that lies across it. */
const BORDER = 60;
/** px² of anything else that one of words on words is as bad as. */
const WORDS = 4;
/** px at the upper and lower border of a label, and of a box, that others may cover: no letter reaches into them. */
const LABEL_BORDER = 2;
const BOX_BORDER = 4;

export interface Spot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly text: string;
}

interface Labelled {
  readonly box: number;
  readonly text: string;
  /** What is written where there is no room for all; empty to be left out then. Without it, all of it is always written. */
  readonly short?: string;
}

const known = new WeakMap<readonly Labelled[], { readonly visible: VisibleGraph; readonly spots: readonly Spot[] }>();

/** A place for the label of each mark; found once for a scene and its marks. One without words has no place. */
export function labelSpots(scene: Scene, marks: readonly Labelled[]): readonly Spot[] {
  const found = known.get(marks);
  if (found?.visible === scene.visible) {
    return found.spots;
  }
  const spots =
    marks.length <= MOST_PLACED ? placed(scene, marks) : marks.map(({ box, text }) => places(scene, box, text)[0]);
  known.set(marks, { visible: scene.visible, spots });
  return spots;
}

function placed(scene: Scene, marks: readonly Labelled[]): Spot[] {
  const boxes = solid(scene);
  const taken = [...boxes, ...bundleAreas(scene), ...cableAreas(scene)];
  const spots: Spot[] = [];
  for (const { box, text } of marks) {
    spots.push(bestSpot(scene, box, text, taken, spots));
  }
  const words = boxes.map(area => inner(area, BOX_BORDER));
  partLabels(scene, marks, taken, words, spots);
  return spots;
}

/** Moves labels that stand on other words, else writes them shorter, else leaves them out if that may be: first those that say least. */
function partLabels(
  scene: Scene,
  marks: readonly Labelled[],
  taken: readonly Area[],
  words: readonly Area[],
  spots: Spot[]
): void {
  const told = (at: number): number => (marks[at].short ?? '').length;
  const others = (at: number): Spot[] => spots.filter((spot, other) => other !== at && isWritten(spot));
  const isClear = (spot: Spot, labels: readonly Spot[]): boolean =>
    ![...words, ...labels.map(areaOf)].some(area => meet(inner(areaOf(spot), LABEL_BORDER), area));
  for (const at of [...marks.keys()].sort((a, b) => told(a) - told(b))) {
    const { box, text, short = text } = marks[at];
    const labels = others(at);
    if (!isClear(spots[at], labels)) {
      const found = [text, short].map(text => bestSpot(scene, box, text, taken, labels));
      const clear = found.find(spot => isClear(spot, labels));
      spots[at] = clear ?? (short === text ? found[0] : { ...spots[at], text: '' });
    }
  }
}

function inner({ left, right, top, bottom }: Area, border: number): Area {
  return { left, right, top: top + border, bottom: bottom - border };
}

/** The place where a label covers least. */
function bestSpot(scene: Scene, box: number, text: string, taken: readonly Area[], labels: readonly Spot[]): Spot {
  const found = places(scene, box, text);
  const around = hull(found.map(areaOf));
  const [things, written] = [taken, labels.map(areaOf)].map(areas => areas.filter(area => meet(around, area)));
  let best: Spot | undefined;
  let least = Infinity;
  found.forEach((spot, at) => {
    const area = areaOf(spot);
    const sum = (others: readonly Area[]): number => others.reduce((all, other) => all + covered(area, other), 0);
    const cost = at * LATER + sum(things) + WORDS * sum(written) + BORDER * bordersUnder(scene, box, area);
    if (cost < least) {
      [best, least] = [spot, cost];
    }
  });
  return best as Spot;
}

/** How many sides of the frame around a box lie under an area. */
function bordersUnder({ visible, layout }: Scene, box: number, { left, right }: Area): number {
  const frame = visible.parent[box];
  const sides = frame < 0 ? [] : [layout.x[frame], layout.x[frame] + layout.width[frame]];
  return sides.filter(side => left < side && right > side).length;
}

/** The least area around all. */
function hull(areas: readonly Area[]): Area {
  return {
    left: Math.min(...areas.map(({ left }) => left)),
    right: Math.max(...areas.map(({ right }) => right)),
    top: Math.min(...areas.map(({ top }) => top)),
    bottom: Math.max(...areas.map(({ bottom }) => bottom))
  };
}

/** False for what has no words, which takes no room. */
export function isWritten({ text }: Spot): boolean {
  return text !== '';
}

/** At the upper right corner, where a stack has the number of its copies; the upper left; below; and at the sides. */
function places({ visible, layout, width: whole, height: high }: Scene, box: number, text: string): Spot[] {
  const width = measure(text, 'chip') + 2 * LABEL_INSET;
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
    ...(stacked ? [x - OUTSIDE, ...corners] : corners).map(left => ({ left, top: above })),
    ...sides.map(left => ({ left, top: middle })),
    ...corners.map(left => ({ left, top: below }))
  ];
  // What stands at an end of the picture has no room beside it.
  return all.map(({ left, top }) => ({
    left: Math.max(-MARGIN + OUTSIDE, Math.min(left, whole - MARGIN - OUTSIDE - width)),
    top: Math.max(-MARGIN, Math.min(top, high - MARGIN - LABEL_HEIGHT)),
    width,
    text
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
