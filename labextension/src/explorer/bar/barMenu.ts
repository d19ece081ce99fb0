/** What has no room in the bar: folded into a second line behind a button, the least needed first. */
import { button, element } from '../elements.ts';

export interface Foldable {
  readonly element: HTMLElement;
  /** True for what a cell of a notebook has folded however much room there is. */
  readonly wide: boolean;
  /** True for what goes only after the counts of the stages. */
  readonly late?: boolean;
}

export class BarMenu {
  /** The bar with its second line. */
  readonly root = element('div', 'jv-top');
  private readonly more = element('div', 'jv-bar-more');
  private readonly opener = button('jv-button jv-more', '⋯', 'More', () => this.toggle());
  /** Marks of the places in the bar that what is folded comes back to, in their order. */
  private readonly places = new Map<HTMLElement, Comment>();

  /** `foldable` in the order in which they go; the button stands before `next`. */
  constructor(
    private readonly bar: HTMLElement,
    private readonly foldable: readonly Foldable[],
    next: HTMLElement
  ) {
    this.more.hidden = true;
    this.opener.setAttribute('aria-expanded', 'false');
    const folding = new Set(foldable.map(one => one.element));
    for (const one of [...bar.children] as HTMLElement[]) {
      if (folding.has(one)) {
        const place = document.createComment('');
        one.before(place);
        this.places.set(one, place);
      }
    }
    (this.places.get(next) ?? next).before(this.opener);
    this.root.append(bar, this.more);
    this.more.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.toggle();
        this.opener.focus();
      }
    });
    new ResizeObserver(() => this.fit()).observe(bar);
  }

  /** Folds as much as must be, and no more. */
  fit(): void {
    const { bar, foldable, more, opener } = this;
    const focused = document.activeElement as HTMLElement | null;
    bar.classList.remove('jv-tight', 'jv-wraps');
    const inCell = this.root.closest('.jv-whole, .jv-fill') === null;
    const always = (one: Foldable): boolean => one.wide && inCell && !one.element.classList.contains('jv-on');
    for (const one of foldable) {
      if (always(one)) {
        more.append(one.element);
      } else {
        this.places.get(one.element)?.after(one.element);
      }
    }
    opener.hidden = !this.hasAny;
    this.fold(foldable.filter(one => !one.late && !always(one)));
    if (this.overflows) {
      bar.classList.add('jv-tight');
    }
    this.fold(foldable.filter(one => one.late));
    for (const one of this.places.keys()) {
      if (one.parentElement === more) {
        // In the order in which they stand in the bar, and not in that in which they went.
        more.append(one);
      }
    }
    // Where not even the rest has room, there are two lines.
    if (this.overflows) {
      bar.classList.add('jv-wraps');
    }
    if (opener.hidden && !more.hidden) {
      this.toggle();
    }
    if (focused !== document.activeElement && bar.contains(focused)) {
      focused?.focus();
    }
  }

  /** One after the other goes, until the rest has room. */
  private fold(these: readonly Foldable[]): void {
    for (const { element: one } of these) {
      if (!this.overflows) {
        break;
      }
      this.more.append(one);
      this.opener.hidden = !this.hasAny;
    }
  }

  private get hasAny(): boolean {
    return [...this.more.children].some(one => !(one as HTMLElement).hidden);
  }

  private get overflows(): boolean {
    return this.bar.scrollWidth > this.bar.clientWidth;
  }

  private toggle(): void {
    this.more.hidden = !this.more.hidden;
    this.opener.setAttribute('aria-expanded', String(!this.more.hidden));
  }
}
