/** What is said over the picture: that it is empty, being placed, stopped or not possible, and what can be done then. */
import { button, element } from '../elements.ts';
import { wheel } from './inPlace.ts';

/** `said` passes by; `busy` is waited for; `empty` and `failed` stand in place of a picture. */
export type NoteKind = 'said' | 'busy' | 'empty' | 'failed';

export interface NoteAction {
  readonly label: string;
  readonly title: string;
  does(): void;
}

export class Note {
  readonly root = element('div', 'jv-note');
  private readonly words = element('span', '');

  constructor() {
    this.root.hidden = true;
    this.words.setAttribute('role', 'status');
    // What is under a button is not meant by a click on it.
    for (const kind of ['pointerdown', 'pointerup', 'dblclick'] as const) {
      this.root.addEventListener(kind, event => event.stopPropagation());
    }
  }

  /** Stands below what is said at the top, so many px from it. */
  standBelow(top: number): void {
    this.root.style.setProperty('--jv-above', `${top}px`);
  }

  /** Without words there is none. */
  say(text: string, kind: NoteKind = 'said', actions: readonly NoteAction[] = []): void {
    const { root, words } = this;
    root.className = `jv-note jv-note-${kind}`;
    root.hidden = !text;
    words.textContent = text;
    root.replaceChildren(
      ...(kind === 'busy' ? [wheel()] : []),
      words,
      ...actions.map(({ label, title, does }) => button('jv-link', label, title, does))
    );
  }
}
