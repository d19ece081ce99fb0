/** The names in the lines of a text that are in view: the same one is lit wherever it stands, and each knows what it stands for. */
import type { Named } from '../../text/pieces.ts';

export class Names {
  private readonly known = new WeakMap<Element, Named>();
  private lit: Named | null = null;

  /** `page` holds the lines. */
  constructor(private readonly page: HTMLElement) {}

  /** An element of a line is a name, which leads somewhere or not. */
  add(element: HTMLElement, named: Named, leads: boolean): void {
    this.known.set(element, named);
    element.classList.add('jv-text-name');
    element.classList.toggle('jv-leads', leads);
  }

  /** What the name at `target` stands for; null where there is none. */
  at(target: EventTarget | null): Named | null {
    return this.known.get(target as Element) ?? null;
  }

  /** The pointer is on this name, or on none any more. */
  light(named: Named | null): void {
    if (keyOf(named) !== keyOf(this.lit)) {
      this.lit = named;
      this.dress();
    }
  }

  /** Lights the names in view: lines are new. */
  dress(): void {
    const lit = keyOf(this.lit);
    for (const element of this.page.querySelectorAll('.jv-text-name')) {
      element.classList.toggle('jv-same', lit !== '' && keyOf(this.at(element)) === lit);
    }
  }
}

function keyOf(named: Named | null): string {
  return !named ? '' : 'node' in named ? `${named.node}` : `body ${named.body}`;
}
