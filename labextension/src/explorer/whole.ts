/**
 * The whole window, and back. The explorer moves to the end of the page meanwhile: inside a notebook, fixed places are
 * relative to the scrolling cell.
 */
export class WholeWindow {
  private placeholder: Comment | null = null;

  constructor(private readonly root: HTMLElement) {}

  get on(): boolean {
    return this.placeholder !== null;
  }

  set(whole: boolean): void {
    if (whole && !this.placeholder) {
      this.placeholder = document.createComment('jaxviz');
      this.root.replaceWith(this.placeholder);
      document.body.append(this.root);
    } else if (!whole && this.placeholder) {
      this.placeholder.replaceWith(this.root);
      this.placeholder = null;
    }
    this.root.classList.toggle('jv-whole', whole);
  }

  dispose(): void {
    this.placeholder?.remove();
  }
}

/** True where the page stands in another one, which may be what the wheel is meant for. */
export function isFramed(): boolean {
  const view = document.defaultView;
  return view !== null && view.parent !== view;
}
