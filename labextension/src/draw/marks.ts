/** Marks on boxes that a pass of the compiler touched, or that an error is about: an outline, and in a word what happened. */
import { BOX_HEIGHT } from '../view/sizes.ts';
import { paintBadge } from './badge.ts';
import { Shape } from '../view/visible.ts';
import { isWritten, LABEL_HEIGHT, LABEL_INSET, labelSpots, OUTSIDE } from './labelSpots.ts';
import type { Painter, Scene } from './scene.ts';
import type { Ink, LookName } from './theme.ts';

/** The kinds of marks; each has a colour and a line of its own. */
export const MARK_KINDS = ['added', 'changed', 'fused', 'moved', 'removed', 'stopped'] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

export interface Mark {
  readonly box: number;
  readonly kind: MarkKind;
  readonly text: string;
  /** What is written where there is no room for all; empty to be left out then. Without it, all of it is always written. */
  readonly short?: string;
}

/** Paints outlines and, where words can be read, labels at their corners and the numbers of copies that stand there. */
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
    marks.forEach(({ box }) => paintBadge(painter, scene, box));
    labelSpots(scene, marks).forEach((spot, at) => {
      if (isWritten(spot)) {
        const { kind } = marks[at];
        const { left, top, width, text } = spot;
        painter.rect(`label-${kind}` as LookName, left, top, width, LABEL_HEIGHT, LABEL_HEIGHT / 2);
        painter.text(`marked-${kind}` as Ink, left + LABEL_INSET, top + 9.8, text);
      }
    });
  }
}
