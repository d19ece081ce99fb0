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

/**
 * Keys that are pressed in an element of ours are not shortcuts of the notebook, where a single letter cuts a cell.
 * JupyterLab looks for this mark from the focused element outward, and obeys what it finds on the way: so the mark
 * stands on every element that takes the focus.
 */
export function keepKeys(focusable: HTMLElement): void {
  focusable.setAttribute('data-lm-suppress-shortcuts', 'true');
}

export function button(className: string, text: string, title: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', className, text);
  made.type = 'button';
  made.title = title;
  made.setAttribute('aria-label', title);
  made.addEventListener('click', onClick);
  keepKeys(made);
  return made;
}
