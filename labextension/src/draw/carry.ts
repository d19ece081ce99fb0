/**
 * Paints the way back into a loop: from what makes the value of the next turn, round the right side of the frame, to
 * where that turn begins. It runs behind boxes; several share the line at the side.
 */
import { BOX_HEIGHT, chipsWidth } from '../view/sizes.ts';
import type { Painter, Scene } from './scene.ts';
import { measure } from './text.ts';

/** px from the side of the frame to the line. */
const FROM_SIDE = 7;
/** Length of the two strokes of the arrow at its end. */
const ARROW = 4;

export function paintCarries(painter: Painter, scene: Scene): void {
  const { visible, layout } = scene;
  for (const { maker, turn } of visible.carries) {
    const frame = visible.parent[turn];
    const side = layout.x[frame] + layout.width[frame] - FROM_SIDE;
    const [x1, y1] = [rightOf(scene, maker), layout.y[maker] + BOX_HEIGHT / 2];
    const [x2, y2] = [rightOf(scene, turn), layout.y[turn] + BOX_HEIGHT / 2];
    painter.route('carry', Float64Array.from([x1, y1, side, y1, side, y2, x2, y2]));
    for (const way of [-ARROW, ARROW]) {
      painter.route('carry-head', Float64Array.from([x2 + ARROW, y2 + way, x2, y2 + way / 8]));
    }
  }
}

/** The right side of a box with its chips. */
function rightOf({ visible, layout }: Scene, box: number): number {
  const chips = (visible.chips.get(box) ?? []).filter(chip => chip.side === 'right').map(chip => chip.text);
  return layout.x[box] + layout.width[box] + chipsWidth(measure, chips);
}
