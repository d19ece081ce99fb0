/** A divider between two things side by side: dragged, or moved with the arrow keys. Its place is remembered from page to page. */
import { element } from './elements.ts';

const LEAST = 0.15;
const STEP = 0.03;

/** What stands at the left of a divider. */
export interface Divided {
  /** What it is, in words. */
  readonly what: string;
  /** Where its place is remembered for documents that have none of their own. */
  readonly key: string;
  /** The share of the width that it has by itself. */
  readonly own: () => number;
  /** Called while it is moved, with its share of the width; null where it has its own. */
  readonly moved: (place: number | null) => void;
  /** Called when it is let go. */
  readonly rested: () => void;
}

export class Divider {
  readonly root = element('div', 'jv-divider');
  private place: number | null;

  constructor(private readonly divided: Divided) {
    const { root } = this;
    this.place = remembered(divided.key);
    root.tabIndex = 0;
    root.title = 'Drag to give one side more room; double click for the usual share';
    root.setAttribute('role', 'separator');
    root.setAttribute('aria-orientation', 'vertical');
    root.setAttribute('aria-label', `width of the ${divided.what}`);
    root.setAttribute('aria-valuemin', String(100 * LEAST));
    root.setAttribute('aria-valuemax', String(100 * (1 - LEAST)));
    this.tell();
    root.addEventListener('pointerdown', event => {
      event.preventDefault();
      root.setPointerCapture(event.pointerId);
      root.focus({ preventScroll: true });
    });
    root.addEventListener('pointermove', event => {
      const around = root.parentElement?.getBoundingClientRect();
      if (event.buttons && around?.width) {
        this.move((event.clientX - around.left) / around.width);
      }
    });
    root.addEventListener('pointerup', () => this.rest());
    root.addEventListener('dblclick', () => this.reset());
  }

  /** The share of the width that is at the left. */
  get at(): number {
    return this.place ?? this.divided.own();
  }

  /** The same where a person has chosen it. */
  get chosen(): number | null {
    return this.place;
  }

  /** Moves to a place from 0 to 1. */
  move(to: number): void {
    this.put(Math.round(1000 * Math.min(1 - LEAST, Math.max(LEAST, to))) / 1000);
  }

  /** Obeys a key that was pressed on the divider; false for any other. */
  press(event: KeyboardEvent): boolean {
    const step = event.key === 'ArrowLeft' ? -STEP : event.key === 'ArrowRight' ? STEP : 0;
    if (event.target !== this.root || (!step && event.key !== 'Home')) {
      return false;
    }
    if (step) {
      this.move(this.at + step);
      this.rest();
    } else {
      this.reset();
    }
    return true;
  }

  /** Says where it stands. */
  tell(): void {
    this.root.setAttribute('aria-valuenow', String(Math.round(100 * this.at)));
  }

  private reset(): void {
    this.put(null);
    this.rest();
  }

  private put(place: number | null): void {
    this.place = place;
    this.divided.moved(place);
    this.tell();
  }

  private rest(): void {
    try {
      if (this.place === null) {
        localStorage.removeItem(this.divided.key);
      } else {
        localStorage.setItem(this.divided.key, String(this.place));
      }
    } catch {
      // A page may not be allowed to remember anything.
    }
    this.divided.rested();
  }
}

function remembered(key: string): number | null {
  try {
    const place = Number(localStorage.getItem(key));
    return place >= LEAST && place <= 1 - LEAST ? place : null;
  } catch {
    return null;
  }
}
