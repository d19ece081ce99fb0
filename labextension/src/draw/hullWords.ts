/**
 * Where the words of hulls stand: at a box of the hull where they cover nothing, with the bytes where there is room for
 * them too.
 */
import { BOX_HEIGHT } from '../view/sizes.ts';
import { bundleAreas } from './bundles.ts';
import { cableAreas } from './cables.ts';
import { meet, solid, type Area } from './solid.ts';
import { eachSegment, MARGIN, routeOf, type Scene } from './scene.ts';
import { measure } from './text.ts';
import { getOrMake } from '../maps';

/** px from a box to the line around it. */
export const ROOM = 5;
/** px from the line to its words, and how high they are. */
const AWAY = 3;
const LETTERS = 8;
/** Boxes of a hull that are tried, from its first on. */
const MOST_TRIED = 6;
/** Where each segment of an edge is looked at. */
const LOOKS = 8;

/** What it costs to cover something; what it costs to leave the bytes out, and to stand at another place than the first. */
const COVERS = 1000;
const LEAVES = 300;
const CROSSES = 40;
const SAYS_LESS = 30;
const LATER = 1;

export interface Words {
  /** The left end, and the base line. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

const known = new WeakMap<Scene, readonly Words[]>();

/** The words at each hull: its name, and its bytes behind it. */
export function wordsOf(scene: Scene): readonly Words[] {
  return getOrMake(known, scene, () => placeAll(scene));
}

function placeAll(scene: Scene): Words[] {
  const taken = scene.hulls.length ? [...solid(scene), ...bundleAreas(scene), ...cableAreas(scene)] : [];
  return scene.hulls.map(({ label, note, boxes }, hull) => {
    const others = scene.hulls.flatMap((other, at) => (at === hull ? [] : other.boxes.map(box => around(scene, box))));
    const all = [...taken, ...others];
    let best: Words | undefined;
    let least = Infinity;
    const texts = note ? [`${label}  ${note}`, label] : [label];
    texts.forEach((text, less) => {
      places(scene, boxes.slice(0, MOST_TRIED), measure(text, 'chip')).forEach(({ x, y, box }, at) => {
        const cost = less * SAYS_LESS + at * LATER + costOf(scene, areaOf(x, y, text), scene.visible.parent[box], all);
        if (cost < least) {
          [best, least] = [{ x, y, text }, cost];
        }
      });
    });
    const words = best as Words;
    taken.push(areaOf(words.x, words.y, words.text));
    return words;
  });
}

/** Above each box, from its left end on or up to its right one; at its sides; and below it. */
function places({ layout }: Scene, boxes: readonly number[], width: number): { x: number; y: number; box: number }[] {
  return boxes.flatMap(box => {
    const [x, y] = [layout.x[box], layout.y[box]];
    const right = x + layout.width[box];
    const above = y - ROOM - AWAY;
    const below = y + BOX_HEIGHT + ROOM + AWAY + LETTERS;
    return [
      { x: x - 1, y: above, box },
      { x: right + 1 - width, y: above, box },
      { x: right + ROOM + AWAY, y: y + (BOX_HEIGHT + LETTERS) / 2, box },
      { x: x - ROOM - AWAY - width, y: y + (BOX_HEIGHT + LETTERS) / 2, box },
      { x: x - 1, y: below, box },
      { x: right + 1 - width, y: below, box }
    ];
  });
}

function areaOf(x: number, y: number, text: string): Area {
  return { left: x, right: x + measure(text, 'chip'), top: y - LETTERS, bottom: y + 1 };
}

function around({ layout }: Scene, box: number): Area {
  const [x, y] = [layout.x[box], layout.y[box]];
  return { left: x - ROOM, right: x + layout.width[box] + ROOM, top: y - ROOM, bottom: y + BOX_HEIGHT + ROOM };
}

function costOf(scene: Scene, area: Area, frame: number, taken: readonly Area[]): number {
  const { layout } = scene;
  const covers = taken.reduce((sum, other) => sum + (meet(area, other) ? 1 : 0), 0);
  const inside: Area =
    frame >= 0
      ? {
          left: layout.x[frame] + 2,
          right: layout.x[frame] + layout.width[frame] - 2,
          top: layout.y[frame],
          bottom: layout.y[frame] + layout.height[frame]
        }
      : { left: -MARGIN, right: layout.totalWidth + MARGIN, top: -MARGIN, bottom: layout.totalHeight + MARGIN };
  const leaves =
    area.left < inside.left || area.right > inside.right || area.top < inside.top || area.bottom > inside.bottom;
  return covers * COVERS + (leaves ? LEAVES : 0) + crossings(scene, area) * CROSSES;
}

/** How many edges go through an area. */
function crossings({ layout, visible }: Scene, area: Area): number {
  let count = 0;
  for (let edge = 0; edge < visible.source.length; edge++) {
    count += goesThrough(routeOf(layout, edge), area) ? 1 : 0;
  }
  return count;
}

function goesThrough(points: Float64Array, area: Area): boolean {
  let found = false;
  let [fromX, fromY] = [points[0], points[1]];
  const look = (x: number, y: number): void => {
    found ||= x > area.left - 2 && x < area.right + 2 && y > area.top - 1 && y < area.bottom + 1;
  };
  const line = (x: number, y: number): void => {
    // Straight lines are upright or level.
    const [low, high] = [Math.min(fromX, x), Math.max(fromX, x)];
    const [top, bottom] = [Math.min(fromY, y), Math.max(fromY, y)];
    found ||= high > area.left - 2 && low < area.right + 2 && bottom > area.top - 1 && top < area.bottom + 1;
    [fromX, fromY] = [x, y];
  };
  eachSegment(points, line, (middle, startX, x, y) => {
    const startY = fromY;
    for (let i = 0; i <= LOOKS; i++) {
      const t = i / LOOKS;
      const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
      look((a + b) * startX + (c + d) * x, a * startY + (b + c) * middle + d * y);
    }
    [fromX, fromY] = [x, y];
  });
  return found;
}
