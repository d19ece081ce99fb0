/** What becomes of a view: the host keeps it when it has changed, it is copied as text, and text is pasted back. */
import type { Document } from '../../document/graph.ts';
import { parseView, viewText, type SavedView } from './saved.ts';

export interface Kept {
  readonly document: Document;
  readonly save?: (view: SavedView) => void;
  now(): SavedView;
  restore(view: SavedView): void;
  say(text: string): void;
  /** Shows a text that could not be copied, so that the person can do it. */
  offer(text: string): void;
}

export class Keeping {
  /** The view that the host has, as text. */
  private kept: string | null = null;

  constructor(private readonly of: Kept) {}

  /** Tells the host what is seen, where that is not what it has. The first view needs no keeping. */
  keep(): void {
    const view = this.of.now();
    const text = JSON.stringify(view);
    if (this.kept !== null && this.kept !== text) {
      this.of.save?.(view);
    }
    this.kept = text;
  }

  copy(): void {
    const text = viewText(this.of.document, this.of.now());
    // A page that came over plain http from another machine has no clipboard.
    const { clipboard } = navigator as { clipboard?: Clipboard };
    const done = clipboard ? clipboard.writeText(text) : Promise.reject(new Error('there is no clipboard here'));
    void done
      .then(() => this.of.say('copied: whoever pastes it into the search of this program sees the same'))
      .catch(() => this.of.offer(text));
  }

  /** Gives what is wrong with a text that stands for a view; nothing where it is shown. */
  paste(text: string): string {
    const view = parseView(this.of.document, text);
    if ('fault' in view) {
      return view.fault;
    }
    this.of.restore(view);
    return '';
  }
}
