/** How high a picture is: as high as it needs within bounds, as its host says, or as the person chose. */
import type { Scene } from '../draw/scene.ts';
import { MARGIN } from '../draw/scene.ts';
import type { Space } from '../view/space.ts';
import { LEGEND_HEIGHT } from './picture/legend.ts';
import { HEAD_HEIGHT } from './compare/paneHead.ts';
import { TRAIL_HEIGHT } from './picture/trail.ts';

/** Height of a picture in a cell, in px. */
const LEAST_HEIGHT = 114;
const MOST_HEIGHT = 484;
/** The first view of a cell is chosen for this space. */
const FIRST_HEIGHT = MOST_HEIGHT - LEGEND_HEIGHT - TRAIL_HEIGHT;
const FIRST_WIDTH = 760;
/** Of two pictures one above the other, each may have so much with its head. */
const MOST_STACKED = 320;

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
      const wanted = Math.max(LEAST_HEIGHT, TRAIL_HEIGHT + scene.height + foot);
      const needed = this.stacked ? 2 * Math.min(MOST_STACKED, wanted) : Math.min(MOST_HEIGHT, wanted);
      // It grows with what is opened and never shrinks: what is below in the notebook must not jump about.
      const { style } = this.area();
      style.height = `${height ?? Math.max(this.now, Math.ceil(needed))}px`;
    }
  }

  /** In px, as it is set; 0 where it is not. */
  get now(): number {
    return parseFloat(this.area().style.height) || this.least;
  }

  /** Goes on from the height in px that another picture had in the same place. */
  goOn(before: number): void {
    this.least = before;
  }

  /** The room for a picture that stands in `stage`; `whole` while there is the whole window. */
  space({ clientWidth, clientHeight }: HTMLElement, whole: boolean): Space {
    const high = this.fills || whole ? clientHeight : this.inCell;
    return {
      width: (clientWidth || FIRST_WIDTH) - 2 * MARGIN,
      height: (high ? high - TRAIL_HEIGHT : FIRST_HEIGHT) - 2 * MARGIN
    };
  }

  /** The height of one picture in a cell; 0 where it is as high as it needs. */
  private get inCell(): number {
    const given = this.chosen ?? this.given ?? 0;
    return this.stacked ? (given ? given / 2 : MOST_STACKED - LEGEND_HEIGHT) - HEAD_HEIGHT : given;
  }

  /** True where two pictures stand one above the other, as they do in a narrow cell. */
  private get stacked(): boolean {
    const area = this.area();
    return area.classList.contains('jv-beside') && getComputedStyle(area).flexDirection === 'column';
  }
}
