/** Marks on boxes that a pass of the compiler touched, or that an error is about: an outline, and in a word what happened. */
import { BOX_HEIGHT } from '../view/sizes.ts';
import { Shape } from '../view/visible.ts';
import { MARGIN, type Painter, type Scene } from './scene.ts';
import { measure } from './text.ts';
import type { Ink, LookName } from './theme.ts';

/** The kinds of marks; each has a colour and a line of its own. */
export const MARK_KINDS = ['added', 'changed', 'fused', 'moved', 'removed', 'stopped'] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

export interface Mark {
  readonly box: number;
  readonly kind: MarkKind;
  readonly text: string;
}

const LABEL_HEIGHT = 13;
const LABEL_INSET = 5;
/** px that an outline stands away from its box. */
const OUTSIDE = 2;

/** px of a box's upper edge that its label covers: little, for edges come in there. */
const LABEL_OVERLAP = 12;

/** Paints outlines and, where words can be read, labels at the upper right corners; of a stack, at the left. */
export function paintMarks(painter: Painter, scene: Scene, marks: readonly Mark[], words: boolean): void {
  for (const { box, kind } of marks) {
    const { x, y, width, height } = scene.layout;
    const tall = scene.visible.shape[box] === Shape.frame ? height[box] : BOX_HEIGHT;
    painter.rect(
      `mark-${kind}` as LookName,
      x[box] - OUTSIDE,
      y[box] - OUTSIDE,
      width[box] + 2 * OUTSIDE,
      tall + 2 * OUTSIDE,
      7
    );
  }
  if (words) {
    for (const { box, kind, text } of marks) {
      const width = measure(text, 'chip') + 2 * LABEL_INSET;
      const frame = scene.visible.shape[box] === Shape.frame;
      // At the right stands how many copies there are.
      const stacked = scene.visible.times[box] > 1;
      const right = scene.layout.x[box] + scene.layout.width[box];
      const corner = right - (frame ? width + LABEL_OVERLAP : LABEL_OVERLAP);
      const beside = stacked ? scene.layout.x[box] - OUTSIDE : corner;
      // What stands at the end of the picture has no room beside it.
      const left = Math.max(-MARGIN + OUTSIDE, Math.min(beside, scene.width - MARGIN - OUTSIDE - width));
      const top = scene.layout.y[box] - OUTSIDE - LABEL_HEIGHT + 3;
      painter.rect(`label-${kind}` as LookName, left, top, width, LABEL_HEIGHT, LABEL_HEIGHT / 2);
      painter.text(`marked-${kind}` as Ink, left + LABEL_INSET, top + 9.8, text);
    }
  }
}
