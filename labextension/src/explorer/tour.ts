/**
 * The tour: five steps for a newcomer, one line each, between the bar and the picture, where it covers nothing. It is
 * there by itself once, goes when it is closed, and comes back from the help.
 */
import { button, element } from './elements.ts';

interface Step {
  readonly text: string;
  /** What it is about, which is outlined meanwhile: the first of these that is seen. */
  readonly of: readonly string[];
}

const STEPS: readonly Step[] = [
  {
    text: 'Each box is a piece of your own program, and lines lead from what is read to what is made. Double click a box with + to open it.',
    of: ['.jv-stage-area']
  },
  {
    text: 'Click a box for its type, its line and what became of it. Double click a frame to close it again.',
    of: ['.jv-stage-area']
  },
  {
    text: 'These are the steps from your function to the device. What you select is selected in the others too.',
    of: ['button.jv-stage[aria-pressed="true"]:not(.jv-python)']
  },
  {
    text: 'Under Python are your lines, with how many operations each became: click one there to see where it went. The text of each stage is there too (t).',
    of: ['.jv-python']
  },
  {
    text: 'Keys do everything: / searches, c colours, d compares, w takes the whole window. All of them, the marks and this tour are under ?.',
    of: ['.jv-bar > .jv-help-opener', '.jv-more']
  }
];

const KEY = 'jaxviz.tour';

/** One explorer of a page is enough. */
let shownHere = false;

export class Tour {
  readonly root = element('div', 'jv-tour');
  private at = 0;

  /** `around` is what the steps are about; `left` is called when the tour is closed. */
  constructor(
    private readonly around: HTMLElement,
    private readonly left: () => void
  ) {
    this.root.hidden = true;
    this.root.setAttribute('role', 'region');
    this.root.setAttribute('aria-label', 'tour');
  }

  /** Begins where nobody has seen it yet. */
  offer(): void {
    if (!shownHere && !wasSeen()) {
      shownHere = true;
      this.start();
    }
  }

  start(step = 0): void {
    remember();
    this.go(step);
  }

  /** The step that is shown; null where there is no tour. */
  get step(): number | null {
    return this.root.hidden ? null : this.at;
  }

  close(): void {
    this.root.hidden = true;
    this.outline([]);
  }

  private go(step: number): void {
    this.at = step;
    const { text, of } = STEPS[step];
    const words = element('span', 'jv-tour-words', text);
    words.setAttribute('role', 'status');
    const last = step === STEPS.length - 1;
    const end = (): void => {
      this.close();
      this.left();
    };
    const focused = this.root.contains(document.activeElement);
    this.root.hidden = false;
    this.root.replaceChildren(
      element('b', 'jv-tour-count', `${step + 1} of ${STEPS.length}`),
      words,
      ...(step ? [button('jv-button', 'back', 'The step before', () => this.go(this.at - 1))] : []),
      ...(last ? [] : [button('jv-button jv-tour-next', 'next', 'The next step', () => this.go(this.at + 1))]),
      button('jv-button', last ? 'done' : 'close', last ? 'Close the tour' : 'Close the tour; it is under ?', end)
    );
    this.outline(of);
    if (focused) {
      // The button that was pressed has gone: whoever goes on with keys goes on from the one in its place.
      (this.root.querySelector<HTMLElement>('.jv-tour-next') ?? (this.root.lastElementChild as HTMLElement)).focus();
    }
  }

  private outline(of: readonly string[]): void {
    this.around.querySelectorAll('.jv-toured').forEach(one => one.classList.remove('jv-toured'));
    const found = of.map(one => this.around.querySelector<HTMLElement>(one));
    found.find(one => one !== null && !one.hidden)?.classList.add('jv-toured');
  }
}

function wasSeen(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    // Where nothing can be remembered it would come again and again.
    return true;
  }
}

function remember(): void {
  try {
    localStorage.setItem(KEY, 'seen');
  } catch {
    // Then the page does not remember.
  }
}
