/** What words in the picture must not cover: boxes with their chips, badges, and the titles of frames. */
import { BOX_HEIGHT, chipWidth } from '../view/sizes.ts';
import { Shape } from '../view/visible.ts';
import { BADGE_HEIGHT, badgeOf } from './badge.ts';
import { placeChips, titleGround, type Scene } from './scene.ts';
import { measure } from './text.ts';

export interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export function meet(one: Area, other: Area): boolean {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}

/** The areas, a box and its chips as one. */
export function solid(scene: Scene): Area[] {
  const { visible, layout } = scene;
  const badges = Array.from(visible.shape, (_, box) => badgeOf(scene, box)).flatMap(area =>
    area ? [{ left: area.x, right: area.x + area.width, top: area.y, bottom: area.y + BADGE_HEIGHT }] : []
  );
  const parts = Array.from(visible.shape).flatMap((shape, box) => {
    const [x, y] = [layout.x[box], layout.y[box]];
    if (shape === Shape.frame) {
      const [ground, top, wide, high] = titleGround(scene, box);
      return [{ left: x, right: ground + wide, top, bottom: top + high }];
    }
    const [left, right] = withChips(scene, box);
    return [{ left, right, top: y, bottom: y + BOX_HEIGHT }];
  });
  return [...badges, ...parts];
}

/** Where a box with its chips begins and ends, from left to right. */
export function withChips({ visible, layout }: Scene, box: number): readonly [left: number, right: number] {
  const [x, width] = [layout.x[box], layout.width[box]];
  const chips = placeChips(visible.chips.get(box) ?? [], x, width);
  return [
    Math.min(x, ...chips.map(chip => chip.left)),
    Math.max(x + width, ...chips.map(({ chip, left }) => left + chipWidth(measure, chip.text)))
  ];
}
