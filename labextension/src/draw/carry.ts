/**
 * Paints the way back into a loop: from what makes the value of the next turn, round the right side of the frame, to
 * where that turn begins: what the value is there, or beside the title. It runs behind boxes; several share the line at
 * the side. Where another box stands between an end and the side, the way runs below that row, or above it.
 */
import { BOX_HEIGHT, chipsWidth } from '../view/sizes.ts';
import { holds } from './cablePlaces.ts';
import type { Painter, Scene } from './scene.ts';
import { Shape } from '../view/visible.ts';
import { measure } from './text.ts';

/** px from the side of the frame to the line. */
const FROM_SIDE = 7;
/** Length of the two strokes of the arrow at its end. */
const ARROW = 4;
/** px from a row to the way past it, and from the corner of a box to where the way leaves or meets it. */
const FROM_ROW = 5.5;
const FROM_CORNER = 10;

/** px from the side, and from the top of a frame, to where a turn begins that has no box for what it begins with. */
const FROM_TITLE = 20;
const FROM_TOP = 8;

/** The points x, y, ... of each way: it runs straight from one to the next. */
export function carryWays(scene: Scene): number[][] {
  const { visible, layout } = scene;
  return visible.carries.map(({ maker, turn }) => {
    const frame = visible.shape[turn] === Shape.frame ? turn : visible.parent[turn];
    const side = layout.x[frame] + layout.width[frame] - FROM_SIDE;
    return [...leaving(scene, frame, maker, side), ...meeting(scene, frame, turn, side)];
  });
}

export function paintCarries(painter: Painter, scene: Scene): void {
  for (const points of carryWays(scene)) {
    painter.route('carry', Float64Array.from(points));
    const [x, y, fromX] = [points[points.length - 2], points[points.length - 1], points[points.length - 4]];
    const down = fromX === x;
    for (const way of [-ARROW, ARROW]) {
      const tail = down ? [x + way, y - ARROW] : [x + ARROW, y + way];
      const tip = down ? [x + way / 8, y] : [x, y + way / 8];
      painter.route('carry-head', Float64Array.from([...tail, ...tip]));
    }
  }
}

/** From a box to the line at the side. */
function leaving(scene: Scene, frame: number, maker: number, side: number): number[] {
  const { layout } = scene;
  const [x, y] = [rightOf(scene, maker), layout.y[maker] + BOX_HEIGHT / 2];
  if (isFree(scene, frame, maker, side)) {
    return [x, y, side, y];
  }
  const corner = layout.x[maker] + layout.width[maker] - FROM_CORNER;
  const bottom = layout.y[maker] + BOX_HEIGHT;
  return [corner, bottom, corner, bottom + FROM_ROW, side, bottom + FROM_ROW];
}

/** From the line at the side to a box. */
function meeting(scene: Scene, frame: number, turn: number, side: number): number[] {
  const { layout } = scene;
  if (turn === frame) {
    const y = layout.y[frame] + FROM_TOP;
    return [side, y, side - FROM_TITLE, y, side - FROM_TITLE, y + FROM_TOP];
  }
  const [x, y] = [rightOf(scene, turn), layout.y[turn] + BOX_HEIGHT / 2];
  if (isFree(scene, frame, turn, side)) {
    return [side, y, x, y];
  }
  const corner = layout.x[turn] + layout.width[turn] - FROM_CORNER;
  const top = layout.y[turn];
  return [side, top - FROM_ROW, corner, top - FROM_ROW, corner, top];
}

/** True where nothing stands between a box with its chips and the side. */
function isFree(scene: Scene, frame: number, box: number, side: number): boolean {
  const { visible, layout } = scene;
  const [from, y] = [rightOf(scene, box), layout.y[box] + BOX_HEIGHT / 2];
  for (let other = frame + 1; other < visible.count && holds(visible, frame, other); other++) {
    const apart =
      other === box ||
      holds(visible, other, box) ||
      layout.y[other] > y ||
      layout.y[other] + layout.height[other] < y ||
      rightOf(scene, other) <= from ||
      layout.x[other] - chipsOf(scene, other, 'left') >= side;
    if (!apart) {
      return false;
    }
  }
  return true;
}

/** The right side of a box with its chips. */
function rightOf(scene: Scene, box: number): number {
  return scene.layout.x[box] + scene.layout.width[box] + chipsOf(scene, box, 'right');
}

function chipsOf({ visible }: Scene, box: number, side: 'left' | 'right'): number {
  const chips = (visible.chips.get(box) ?? []).filter(chip => chip.side === side).map(chip => chip.text);
  return chipsWidth(measure, chips);
}
