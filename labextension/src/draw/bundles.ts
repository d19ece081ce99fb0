/**
 * Paints what goes to and from a phase as one thick line, and beside it how many values it stands for.
 */
import { Shape, type Bundle } from '../view/visible.ts';
import { anyBadgeIn } from './badge.ts';
import { residualsText } from './cableStubs.ts';
import { edgeLook, MARGIN, routeOf, titleGround, type Painter, type Scene } from './scene.ts';
import { meet, withChips, type Area } from './solid.ts';
import { measure } from './text.ts';

/** From the line to the words, and from the end of the line to the foot of the words. */
const BESIDE = 6;
const FROM_END = 5;
const HEIGHT = 10;
/** What letters such as g have below their foot, and a px of air. */
const DESCENT = 4;
/** The least that words need above and below their foot: beside a short line, between what it joins. */
const LEAST_HEIGHT = 8;
const LEAST_DESCENT = 2;

export function paintBundles(painter: Painter, scene: Scene): void {
  for (const { edge } of scene.visible.bundles) {
    if (edgeLook(scene, edge) === 'edge') {
      painter.route('bundle', routeOf(scene.layout, edge));
    }
  }
}

/** The areas of the words. */
export function bundleAreas(scene: Scene): Area[] {
  return spotsOf(scene).map(areaOf);
}

function areaOf({ x, y, text }: Words): Area {
  return { left: x, right: x + measure(text, 'title'), top: y - LEAST_HEIGHT, bottom: y + LEAST_DESCENT };
}

/** The words stand at the end of the line that has room for them; where there is none, the line alone tells. */
export function paintBundleLabels(painter: Painter, scene: Scene): void {
  for (const { x, y, text } of spotsOf(scene)) {
    painter.text('title', x, y, text);
  }
}

interface Words {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

function spotsOf(scene: Scene): Words[] {
  const spots: Words[] = [];
  const areas: Area[] = [];
  for (const bundle of scene.visible.bundles) {
    const route = routeOf(scene.layout, bundle.edge);
    const spot = route.length >= 4 ? spotFor(scene, route, words(bundle), areas) : null;
    if (spot) {
      spots.push(spot);
      areas.push(areaOf(spot));
    }
  }
  return spots;
}

function words({ values, gradients, bytes }: Bundle): string {
  return bytes !== undefined ? residualsText({ values, bytes }) : `${values} ${gradients ? 'gradients' : 'values'}`;
}

/** Where there is room for the words of a line, beside what others have taken. */
function spotFor(scene: Scene, route: Float64Array, text: string, taken: readonly Area[]): Words | null {
  const width = measure(text, 'title');
  const [endX, endY] = route.slice(-2);
  const middle = middleOf(route);
  const spots = [
    { x: route[0], y: route[1] + FROM_END + HEIGHT, above: HEIGHT, below: DESCENT },
    { x: endX, y: endY - FROM_END, above: HEIGHT, below: DESCENT },
    { x: middle.x, y: middle.y + (LEAST_HEIGHT - LEAST_DESCENT) / 2, above: LEAST_HEIGHT, below: LEAST_DESCENT }
  ];
  for (const { x, y, above, below } of spots) {
    for (const left of [x + BESIDE, x - BESIDE - width]) {
      const [top, high] = [y - above, above + below];
      const area = [left, top, width, high] as const;
      const spot = { x: left, y, text };
      const isTaken = taken.some(other => meet(areaOf(spot), other));
      if (!isTaken && isFree(scene, ...area) && !anyBadgeIn(scene, ...area) && !isCrossed(scene, ...area)) {
        return spot;
      }
    }
  }
  return null;
}

/** The middle of the longest way down or up: between its ends, a line that leads around others may run elsewhere. */
function middleOf(route: Float64Array): { x: number; y: number } {
  let longest = 2;
  for (let i = 4; i < route.length; i += 2) {
    const rises = (at: number): number => Math.abs(route[at + 1] - route[at - 1]);
    longest = rises(i) > rises(longest) ? i : longest;
  }
  return { x: (route[longest - 2] + route[longest]) / 2, y: (route[longest - 1] + route[longest + 1]) / 2 };
}

/** True where no box stands, nor a chip, but frames that hold all of the area, clear of their titles. */
function isFree(scene: Scene, x: number, y: number, wide: number, high: number): boolean {
  const { visible, layout, width } = scene;
  if (x < 0 || x + wide > width - MARGIN) {
    return false;
  }
  for (let box = 0; box < visible.count; box++) {
    const [left, right] = withChips(scene, box);
    const [top, bottom] = [layout.y[box], layout.y[box] + layout.height[box]];
    const apart = x >= right || x + wide <= left || y >= bottom || y + high <= top;
    const isFrame = visible.shape[box] === Shape.frame;
    const inside = isFrame && x > left && x + wide < right && y > top && y + high < bottom;
    if (!apart && (!inside || isOnTitle(scene, box, x, y, wide, high))) {
      return false;
    }
  }
  return true;
}

function isOnTitle(scene: Scene, box: number, x: number, y: number, wide: number, high: number): boolean {
  if (scene.visible.shape[box] !== Shape.frame) {
    return false;
  }
  const [left, top, width, height] = titleGround(scene, box);
  return x < left + width && x + wide > left && y < top + height && y + high > top;
}

/** Places on a curve that are looked at, from end to end. */
const SAMPLES = 24;

/** True where an edge runs through the area. */
function isCrossed({ visible, layout }: Scene, x: number, y: number, wide: number, high: number): boolean {
  const hit = (atX: number, atY: number): boolean => atX > x && atX < x + wide && atY > y && atY < y + high;
  for (let edge = 0; edge < visible.source.length; edge++) {
    const points = routeOf(layout, edge);
    for (let i = 2; i < points.length; i += 2) {
      const [x1, y1, x2, y2] = points.subarray(i - 2, i + 2);
      if (Math.min(y1, y2) > y + high || Math.max(y1, y2) < y || Math.min(x1, x2) > x + wide || Math.max(x1, x2) < x) {
        continue;
      }
      for (let sample = 0; sample <= SAMPLES; sample++) {
        // As a curve that begins and ends upright is drawn: its handles reach to the middle height.
        const t = sample / SAMPLES;
        const along = t * t * (3 - 2 * t);
        const down = 1.5 * t * (1 - t) + t * t * t;
        if (hit(x1 + (x2 - x1) * along, y1 + (y2 - y1) * down)) {
          return true;
        }
      }
    }
  }
  return false;
}
