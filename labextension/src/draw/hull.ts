/**
 * Paints hulls: an area behind the boxes that run in one kernel and behind the edges between them, so that it holds
 * nothing else, however far apart they stand. First a little larger in the colour of the line, then in that of the area.
 */
import type { Hull } from '../view/hulls.ts';
import { ROOM, wordsOf } from './hullWords.ts';
import { routeOf, type Painter, type Scene } from './scene.ts';

/** Hulls that stand side by side have other colours. */
const HUES = 4;

type Layer = 'line' | 'area';

export function paintHulls(painter: Painter, scene: Scene): void {
  for (const layer of ['line', 'area'] as const) {
    scene.hulls.forEach((hull, i) => paintHull(painter, scene, hull, i % HUES, layer));
  }
}

/** Paints the names of hulls, over the edges. */
export function paintHullWords(painter: Painter, scene: Scene): void {
  wordsOf(scene).forEach(({ x, y, text }, i) => {
    painter.text(`hull-${(i % HUES) as 0 | 1 | 2 | 3}`, x, y, text);
  });
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
