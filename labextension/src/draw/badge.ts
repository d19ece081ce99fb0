/** The badge of a stack: how many copies it stands for, at its upper right corner. A click on it shows all of them. */
import { Shape } from '../view/visible.ts';
import { countText } from '../view/words.ts';
import type { Painter, Scene } from './scene.ts';
import { measure } from './text.ts';

export const BADGE_HEIGHT = 14;
const INSET = 5;
/** From the right side of a frame to the badge, and how far the badge stands out above it. */
const FROM_CORNER = 6;
const ABOVE = 9;
/** Of a box it stands out further, to the right over the copies behind it: its name comes near to the corner. */
const BEYOND_BOX = 4;
const ABOVE_BOX = 11;
/** A badge is easier to hit than it is large, in px. */
const REACH = 4;

export function paintBadge(painter: Painter, scene: Scene, box: number): void {
  const area = badgeOf(scene, box);
  if (area) {
    const all = scene.visible.spread[box] === 1;
    painter.rect(all ? 'badge-spread' : 'badge', area.x, area.y, area.width, BADGE_HEIGHT, BADGE_HEIGHT / 2);
    painter.text(all ? 'spread' : 'count', area.x + INSET, area.y + 10.5, countText(scene.visible.times[box]));
  }
}

/** The box whose badge is at a point of the scene, or -1. */
export function badgeAt(scene: Scene, x: number, y: number): number {
  for (let box = scene.visible.count - 1; box >= 0; box--) {
    const area = badgeOf(scene, box);
    const hit =
      area &&
      x >= area.x - REACH &&
      x <= area.x + area.width + REACH &&
      y >= area.y - REACH &&
      y <= area.y + BADGE_HEIGHT + REACH;
    if (hit) {
      return box;
    }
  }
  return -1;
}

/** True where a badge stands in an area of the scene. */
export function anyBadgeIn(scene: Scene, x: number, y: number, width: number, height: number): boolean {
  for (let box = 0; box < scene.visible.count; box++) {
    const area = badgeOf(scene, box);
    if (area && x < area.x + area.width && x + width > area.x && y < area.y + BADGE_HEIGHT && y + height > area.y) {
      return true;
    }
  }
  return false;
}

/** Where the badge of a box stands; null for none. */
export function badgeOf(
  { visible, layout }: Scene,
  box: number
): { readonly x: number; readonly y: number; readonly width: number } | null {
  if (visible.times[box] < 2) {
    return null;
  }
  const width = Math.ceil(measure(countText(visible.times[box]), 'chip')) + 2 * INSET;
  const [right, top] = [layout.x[box] + layout.width[box], layout.y[box]];
  return visible.shape[box] === Shape.frame
    ? { x: right - FROM_CORNER - width, y: top - ABOVE, width }
    : { x: right + BEYOND_BOX - width, y: top - ABOVE_BOX, width };
}
