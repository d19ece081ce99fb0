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
  made.title = title;
  made.setAttribute('aria-label', title);
  made.addEventListener('click', onClick);
  return made;
}
