/** All passes that changed something, in the order of reading, with what each did: asked for beside the line on one of them. */
import { CHANGE_KINDS, changesOf, type ChangeKind, type Changes } from '../../document/changes.ts';
import type { Document, Passes } from '../../document/graph.ts';
import { pause } from '../../document/pause.ts';
import { button, element } from '../elements.ts';
import { CHANGE_WORDS } from '../picture/marks.ts';

/** How many of a kind, as short as can be. */
const COUNTS: Readonly<Record<ChangeKind, (count: number) => string>> = {
  added: count => `+${count}`,
  removed: count => `−${count}`,
  changed: count => `~${count}`,
  fused: count => `${count} fused`,
  moved: count => `${count} moved`
};

export class PassList {
  readonly opener = button('jv-link jv-pass-all', 'all passes', 'All passes, and what each of them did', () =>
    this.toggle()
  );
  readonly root = element('div', 'jv-pass-list');
  private passes: Passes | null = null;
  private items: readonly HTMLElement[] = [];
  private number = 0;

  /** `go` shows the program after the pass with a number. */
  constructor(
    private readonly document: Document,
    private readonly go: (number: number) => void
  ) {
    this.root.hidden = true;
    this.root.setAttribute('role', 'group');
    this.root.setAttribute('aria-label', 'passes');
    this.opener.setAttribute('aria-expanded', 'false');
  }

  /** Shows which pass is on the screen. */
  show(passes: Passes, number: number): void {
    this.number = number;
    if (passes !== this.passes) {
      this.passes = passes;
      this.items = [];
    }
    if (!this.root.hidden) {
      this.fill();
    }
  }

  private toggle(): void {
    this.root.hidden = !this.root.hidden;
    this.opener.setAttribute('aria-expanded', String(!this.root.hidden));
    if (!this.root.hidden) {
      this.fill();
    }
  }

  private fill(): void {
    const { passes, root } = this;
    if (passes && !this.items.length) {
      this.items = passes.states.map((state, number) => {
        const item = button('jv-pass-item', '', `Go to ${state.name}`, () => this.go(number));
        item.append(element('span', 'jv-pass-name', number ? state.name : 'before the passes'));
        return item;
      });
      root.replaceChildren(...this.items);
      void this.count(passes, this.items);
    }
    this.items.forEach((item, number) => {
      const here = number === this.number;
      item.classList.toggle('jv-on', here);
      item.setAttribute('aria-pressed', String(here));
      if (here) {
        item.scrollIntoView?.({ block: 'nearest' });
      }
    });
  }

  /** What a pass did is worked out of two states of the program, which takes a while where these are large. */
  private async count(passes: Passes, items: readonly HTMLElement[]): Promise<void> {
    for (let number = 1; number < items.length && items === this.items; number++) {
      const changes = this.changes(passes, number);
      if (!changes) {
        return;
      }
      const kinds = CHANGE_KINDS.filter(kind => changes[kind].length);
      const words = kinds.map(kind => `${changes[kind].length} ${CHANGE_WORDS[kind]}`).join(', ');
      for (const kind of kinds) {
        items[number].append(element('small', `jv-count-${kind}`, COUNTS[kind](changes[kind].length)));
      }
      items[number].title = `Go to ${passes.states[number].name}: ${words}`;
      await pause();
    }
  }

  /** None where the document is damaged there: whoever goes to that pass is told. */
  private changes(passes: Passes, number: number): Changes | null {
    try {
      return changesOf(this.document, passes, number);
    } catch {
      return null;
    }
  }
}
