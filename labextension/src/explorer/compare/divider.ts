/** The divider between two pictures: dragged, or moved with the arrow keys. Its place is remembered from page to page. */
import { element } from '../elements.ts';

/** Where the place is remembered for documents that have none of their own. */
const KEY = 'jaxviz.divider';
const LEAST = 0.15;
const STEP = 0.03;

export class Divider {
  readonly root = element('div', 'jv-divider');
  private place = remembered();

  /** `moved` is called with the share of the width that is at the left, while it is moved; `left` when it is let go. */
  constructor(
    private readonly moved: (place: number) => void,
    private readonly rested: () => void
  ) {
    const { root } = this;
    root.tabIndex = 0;
    root.title = 'Drag to give one side more room; double click for halves';
    root.setAttribute('role', 'separator');
    root.setAttribute('aria-orientation', 'vertical');
    root.setAttribute('aria-label', 'width of the left picture');
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
    root.addEventListener('dblclick', () => {
      this.move(0.5);
      this.rest();
    });
  }

  get at(): number {
    return this.place;
  }

  /** Moves to a place from 0 to 1. */
  move(to: number): void {
    this.place = Math.round(1000 * Math.min(1 - LEAST, Math.max(LEAST, to))) / 1000;
    this.tell();
    this.moved(this.place);
  }

  /** Obeys a key that was pressed on the divider; false for any other. */
  press(event: KeyboardEvent): boolean {
    const step = event.key === 'ArrowLeft' ? -STEP : event.key === 'ArrowRight' ? STEP : 0;
    if (event.target !== this.root || (!step && event.key !== 'Home')) {
      return false;
    }
    this.move(step ? this.place + step : 0.5);
    this.rest();
    return true;
  }

  private rest(): void {
    try {
      localStorage.setItem(KEY, String(this.place));
    } catch {
      // A page may not be allowed to remember anything.
    }
    this.rested();
  }

  private tell(): void {
    this.root.setAttribute('aria-valuenow', String(Math.round(100 * this.place)));
  }
}

function remembered(): number {
  try {
    const place = Number(localStorage.getItem(KEY));
    return place >= LEAST && place <= 1 - LEAST ? place : 0.5;
  } catch {
    return 0.5;
  }
}
