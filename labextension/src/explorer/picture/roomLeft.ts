/**
 * Where names can no longer be read in the room that is left, what is open is chosen anew for it; and so it is where
 * there is more room again.
 */
import { READABLE } from './camera.ts';

/** ms in which the room has not changed: whoever drags a border is not kept waiting. */
const REST = 150;

export interface RoomParts {
  /** px of the picture. */
  readonly width: () => number;
  /** The scale at which it is seen. */
  readonly zoom: () => number;
  /** True where the person has chosen what is open or where the camera stands. */
  readonly own: () => boolean;
  /** True while another picture is on its way. */
  readonly busy: () => boolean;
  readonly choose: () => void;
}

/** What goes on in a picture that takes the place of another. */
export interface RoomStand {
  /** px of width that what is open was chosen for. */
  readonly chosenFor: number;
  /** True once it was chosen anew. */
  readonly gaveWay: boolean;
}

export class RoomLeft {
  private chosenFor = 0;
  private gaveWay = false;
  private waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: RoomParts) {}

  /** True where nothing is about to be chosen. */
  get atRest(): boolean {
    return this.waiting === undefined;
  }

  get stand(): RoomStand {
    return { chosenFor: this.chosenFor, gaveWay: this.gaveWay };
  }

  goOn({ chosenFor, gaveWay }: RoomStand): void {
    [this.chosenFor, this.gaveWay] = [chosenFor, gaveWay];
  }

  /** What is open was chosen for the room that there is now. */
  chosen(): void {
    this.chosenFor = this.parts.width();
  }

  /** There may be other room than before. */
  follow(): void {
    this.leave();
    if (this.suits) {
      return;
    }
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      if (this.parts.busy()) {
        this.follow();
      } else if (!this.suits) {
        this.gaveWay = true;
        this.parts.choose();
      }
    }, REST);
  }

  /** Nothing more is waited for. */
  leave(): void {
    clearTimeout(this.waiting);
    this.waiting = undefined;
  }

  private get suits(): boolean {
    const { width, zoom, own } = this.parts;
    return !width() || width() === this.chosenFor || own() || (zoom() >= READABLE && !this.gaveWay);
  }
}
