/** What stands in place of a picture: that it is on its way, or why there is none. */
import { element } from '../elements.ts';

/** `words` may be changed for as long as it stands there. */
export interface Opening {
  readonly root: HTMLElement;
  readonly words: HTMLElement;
}

export function opening(text: string): Opening {
  const [root, words] = [element('div', 'jv-opening'), element('span', 'jv-opening-words', text)];
  words.setAttribute('role', 'status');
  root.append(wheel(), words);
  return { root, words };
}

/** What turns while something is waited for. */
export function wheel(): HTMLElement {
  const made = element('span', 'jv-wheel');
  made.setAttribute('aria-hidden', 'true');
  return made;
}

/** Says what cannot be shown, and why: the name of a file goes before that. */
export function refusal(what: string, error: unknown, file = ''): HTMLElement {
  const why = error instanceof Error && error.message ? error.message : String(error);
  const root = element('div', 'jv-error');
  root.setAttribute('role', 'alert');
  root.append(element('strong', '', what), element('span', 'jv-error-why', file ? `${file}: ${why}` : why));
  return root;
}
