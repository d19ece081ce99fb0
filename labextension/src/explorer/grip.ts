/** A grip at the border of a picture or a table: dragged, or moved with the arrow keys, it gives that another height. */
import { element } from './elements.ts';

const STEP = 20;
const LEAST = 90;
const MOST = 4_000;

export class Grip {
  readonly root = element('div', 'jv-grip');

  /**
   * `height` gives the present height in px, `set` changes it; `what` has it. Where `above`, it stands at the upper border:
   * up makes it higher.
   */
  constructor(
    private readonly height: () => number,
    private readonly set: (height: number) => void,
    what = 'picture',
    private readonly above: () => boolean = () => false
  ) {
    const { root } = this;
    root.tabIndex = 0;
    root.title = `Height of the ${what}`;
    root.setAttribute('role', 'separator');
    root.setAttribute('aria-orientation', 'horizontal');
    root.setAttribute('aria-label', `height of the ${what}`);
    root.setAttribute('aria-valuemin', String(LEAST));
    root.setAttribute('aria-valuemax', String(MOST));
    root.setAttribute('aria-valuenow', String(LEAST));
    let from: { y: number; height: number } | null = null;
    root.addEventListener('pointerdown', event => {
      root.setPointerCapture(event.pointerId);
      from = { y: event.clientY, height: height() };
    });
    root.addEventListener('pointermove', event => {
      if (from && event.buttons) {
        this.change(from.height + this.sign * (event.clientY - from.y));
      }
    });
    root.addEventListener('pointerup', () => (from = null));
  }

  /** Handles a key that was pressed on the grip; false for one that is not meant for it. */
  press(event: KeyboardEvent): boolean {
    if (event.target !== this.root || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) {
      return false;
    }
    event.preventDefault();
    this.change(this.height() + this.sign * (event.key === 'ArrowDown' ? STEP : -STEP));
    return true;
  }

  private get sign(): number {
    return this.above() ? -1 : 1;
  }

  private change(to: number): void {
    const held = Math.round(Math.min(MOST, Math.max(LEAST, to)));
    this.root.setAttribute('aria-valuenow', String(held));
    this.set(held);
  }
}
