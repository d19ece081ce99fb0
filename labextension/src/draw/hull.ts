/**
 * Paints hulls: an area behind the boxes that run in one kernel and behind the edges between them, so that it holds
 * nothing else, however far apart they stand. First a little larger in the colour of the line, then in that of the area.
 */
import type { Hull } from '../view/hulls.ts';
import { Shape } from '../view/visible.ts';
import { MARGIN, routeOf, type Painter, type Scene } from './scene.ts';
import { measure } from './text.ts';

/** px from a box to the line around it. */
const ROOM = 5;
/** px from the line to the foot of its words, and how high they are. */
const ABOVE = 3;
const LETTERS = 8;
/** Hulls that stand side by side have other colours. */
const HUES = 4;

type Layer = 'line' | 'area';

export function paintHulls(painter: Painter, scene: Scene): void {
  for (const layer of ['line', 'area'] as const) {
    scene.hulls.forEach((hull, i) => paintHull(painter, scene, hull, i % HUES, layer));
  }
  wordsOf(scene).forEach(({ x, y, text }, i) => {
    painter.text(`hull-${(i % HUES) as 0 | 1 | 2 | 3}`, x, y, text);
  });
}

interface Words {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

const known = new WeakMap<Scene, readonly Words[]>();

/** The words at each hull: its name, and the bytes behind it where these cover nothing. */
function wordsOf(scene: Scene): readonly Words[] {
  let words = known.get(scene);
  if (!words) {
    const { x, y } = scene.layout;
    const places = scene.hulls.map(({ label, boxes: [first] }) => {
      return { x: x[first] - ROOM + 4, y: y[first] - ROOM - ABOVE, text: label };
    });
    words = places.map((place, i) => {
      const text = `${place.text}  ${scene.hulls[i].note}`;
      const bytes = { ...place, x: place.x + measure(place.text, 'chip') };
      const right = place.x + measure(text, 'chip');
      const others = places.filter((_, other) => other !== i);
      const free = isFree(scene, bytes, right) && !others.some(other => overlap(bytes, right, other));
      return free ? { ...place, text } : place;
    });
    known.set(scene, words);
  }
  return words;
}

/** Whether no box stands from words on to the right, and the picture goes that far. Frames are behind everything. */
function isFree({ layout, visible }: Scene, { x, y }: Words, right: number): boolean {
  if (right > layout.totalWidth + MARGIN) {
    return false;
  }
  return !visible.shape.some(
    (shape, box) =>
      shape !== Shape.frame &&
      layout.x[box] < right &&
      layout.x[box] + layout.width[box] > x &&
      layout.y[box] < y &&
      layout.y[box] + layout.height[box] > y - LETTERS
  );
}

function overlap({ x, y }: Words, right: number, other: Words): boolean {
  const end = other.x + measure(other.text, 'chip');
  return other.x < right && end > x && Math.abs(other.y - y) < LETTERS;
}

function paintHull(painter: Painter, scene: Scene, { boxes, edges }: Hull, hue: number, layer: Layer): void {
  const name = `hull-${layer}-${hue as 0 | 1 | 2 | 3}` as const;
  const { x, y, width, height } = scene.layout;
  const room = layer === 'line' ? ROOM + 1 : ROOM;
  for (const edge of edges) {
    painter.route(`hull-way-${layer}-${hue as 0 | 1 | 2 | 3}`, routeOf(scene.layout, edge));
  }
  for (const box of boxes) {
    painter.rect(name, x[box] - room, y[box] - room, width[box] + 2 * room, height[box] + 2 * room, 8);
  }
}
