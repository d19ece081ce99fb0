/** How high a picture is: as high as it needs within bounds, as its host says, or as the person chose. */
import type { Scene } from '../draw/scene.ts';
import { MARGIN } from '../draw/scene.ts';
import type { Space } from '../view/first.ts';
import { LEGEND_HEIGHT } from './legend.ts';
import { TRAIL_HEIGHT } from './trail.ts';

/** Height of a picture in a cell, in px. */
const LEAST_HEIGHT = 114;
const MOST_HEIGHT = 484;
/** The first view of a cell is chosen for this space. */
const FIRST_HEIGHT = MOST_HEIGHT - LEGEND_HEIGHT - TRAIL_HEIGHT;
const FIRST_WIDTH = 760;

export class Height {
  /** What the person chose, in px. */
  chosen: number | null = null;
  /** What it has had before, in px: it never shrinks by itself. */
  private least = 0;

  /** `given` is what the host asks for; `fills` tells whether the height is the host's own. */
  constructor(
    private readonly area: () => HTMLElement,
    private readonly given: number | undefined,
    private readonly fills: boolean
  ) {}

  set(height: number): void {
    this.chosen = height;
    this.area().style.height = `${height}px`;
  }

  /** Makes room for a scene and for `foot` px below it. */
  fit(scene: Scene, foot: number): void {
    if (!this.fills) {
      const height = this.chosen ?? this.given;
      const needed = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, TRAIL_HEIGHT + scene.height + foot));
      // It grows with what is opened and never shrinks: what is below in the notebook must not jump about.
      const { style } = this.area();
      style.height = `${height ?? Math.max(this.now, Math.ceil(needed))}px`;
    }
  }

  /** In px, as it is set; 0 where it is not. */
  get now(): number {
    return parseFloat(this.area().style.height) || this.least;
  }

  /** Goes on from the height that another picture had in the same place. */
  goOn(before: Height): void {
    this.least = before.now;
  }

  /** The room for a picture that stands in `stage`; `whole` while there is the whole window. */
  space({ clientWidth, clientHeight }: HTMLElement, whole: boolean): Space {
    const high = this.fills || whole ? clientHeight : (this.chosen ?? this.given ?? 0);
    return {
      width: (clientWidth || FIRST_WIDTH) - 2 * MARGIN,
      height: (high ? high - TRAIL_HEIGHT : FIRST_HEIGHT) - 2 * MARGIN
    };
  }
}
