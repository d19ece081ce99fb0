/** The head of a strip: a line of words that opens what is below it, and closes it again. */
import { button, element } from '../elements.ts';

export interface Fold {
  /** Head and content, for the strip to hold. */
  readonly parts: readonly [HTMLElement, HTMLElement];
  readonly title: HTMLButtonElement;
  /** The line, for what stands beside the words. */
  readonly head: HTMLElement;
  readonly more: HTMLElement;
  readonly open: boolean;
  set(open: boolean): void;
}

/** `words` are seen, `about` is said of them; `changed` hears when it was opened or closed. */
export function fold(words: string, about: string, changed?: (open: boolean) => void): Fold {
  const head = element('div', 'jv-run-head');
  const more = element('div', 'jv-run-more');
  more.hidden = true;
  const set = (open: boolean): void => {
    more.hidden = !open;
    title.setAttribute('aria-expanded', String(open));
    changed?.(open);
  };
  const title = button('jv-finding-title', words, about, () => set(more.hidden));
  title.setAttribute('aria-expanded', 'false');
  head.append(title);
  return {
    parts: [head, more],
    title,
    head,
    more,
    get open() {
      return !more.hidden;
    },
    set
  };
}
