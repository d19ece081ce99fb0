/** The line over the picture while something is selected: the regions around it, which lead out again, and what is lit. */
import { RowKind, type Document, type Graph } from '../../document/graph.ts';
import { rowLabel, type Rows } from '../../view/outline.ts';
import { button, element } from '../elements.ts';
import { breakInWords } from '../wordBreaks.ts';

/** Room for one line above the picture, in px: there whether anything is selected or not, so that nothing moves then. */
export const TRAIL_HEIGHT = 24;

export interface TrailActions {
  /** Selects a region around the selection; null for the program as a whole. */
  leaveTo(row: number | null): void;
}

export interface Crumb {
  readonly row: number;
  readonly text: string;
}

/** The regions around an item, outermost first; those that are never drawn as frames are left out. */
export function crumbsOf(document: Document, graph: Graph, rows: Rows, item: number): Crumb[] {
  const { parent, kind, count } = rows.outline;
  const found: Crumb[] = [];
  for (let row = item >= 0 ? parent[item] : rows.leaf[-1 - item]; row > 0; row = parent[row]) {
    if (kind[row] !== RowKind.statement && kind[row] !== RowKind.copy) {
      const times = count[row] > 1 ? ` x${count[row]}` : '';
      found.unshift({ row, text: rowLabel(document, graph, rows, row) + times });
    }
  }
  return found;
}

export class Trail {
  readonly root = element('div', 'jv-trail');
  private readonly crumbs = element('nav', 'jv-crumbs');
  private readonly words = element('span', 'jv-words');

  constructor(private readonly actions: TrailActions) {
    this.root.hidden = true;
    this.crumbs.setAttribute('aria-label', 'regions around the selection');
    this.words.setAttribute('role', 'status');
    this.root.append(this.crumbs, this.words);
    // What is under the line is not meant by a click on it.
    for (const kind of ['pointerdown', 'pointerup', 'dblclick'] as const) {
      this.crumbs.addEventListener(kind, event => event.stopPropagation());
    }
  }

  /** What it covers of the picture, in px from above; where it has one line, that is free always. */
  get height(): number {
    return Math.max(TRAIL_HEIGHT, this.root.hidden ? 0 : this.root.offsetTop + this.root.offsetHeight);
  }

  /** Where its words end, in px from above; 0 without any. */
  get below(): number {
    return this.root.hidden ? 0 : this.height;
  }

  show(program: string, crumbs: readonly Crumb[], words: string): void {
    this.root.hidden = !words;
    this.words.textContent = words;
    this.crumbs.hidden = !crumbs.length;
    const links = [{ row: null, text: program }, ...crumbs].map(({ row, text }) =>
      breakInWords(
        button('jv-link', text, row === null ? 'The whole program' : `Out to ${text}`, () => this.actions.leaveTo(row))
      )
    );
    this.crumbs.replaceChildren(...links.flatMap(link => [link, element('span', 'jv-muted', ' › ')]).slice(0, -1));
  }
}
