/** Elements by tag, class and text. Text is always set as text, never as markup. */

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  text?: string
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

export function button(className: string, text: string, title: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', className, text);
  made.type = 'button';
  describe(made, title);
  made.addEventListener('click', onClick);
  return made;
}

/**
 * Says what an element does: under the pointer, and to whoever listens. Its name begins with the words that are seen on
 * it, by which it is also spoken to; where it has none as yet, those that it gets are its name.
 */
export function describe(made: HTMLElement, title: string): void {
  const seen = (made.textContent ?? '').trim();
  made.title = title;
  if (!seen) {
    made.removeAttribute('aria-label');
  } else if (!WORDS.test(seen) || title.toLowerCase().includes(seen.toLowerCase())) {
    made.setAttribute('aria-label', title);
  } else {
    made.setAttribute('aria-label', `${seen}: ${title}`);
  }
}

const WORDS = /[\p{L}\p{N}]/u;
