/**
 * A table of any length: only the rows in sight are on the page. The keyboard walks its rows; a click or Enter picks one.
 */
import { element } from '../elements.ts';
import type { Column } from './columns.ts';
import type { Sorting } from './sorting.ts';

/** px of a row, and of the head. */
export const ROW_HEIGHT = 22;
/** px behind the last column. */
const END = 8;
/** Rows beyond both ends of what is in sight. */
const BEYOND = 6;
/** px in which rows are shown where nothing has a size. */
const UNKNOWN_HEIGHT = 220;

export interface GridActions {
  /** A head was clicked. */
  sort(column: string): void;
  /** A row was clicked, or Enter was pressed on it. */
  pick(row: number): void;
  /** The pointer or the keyboard is on a row; -1 for none. */
  point(row: number): void;
  /** Keys are not meant for it any more. */
  leave(): void;
}

export interface GridContent {
  readonly columns: readonly Column[];
  /** The rows in the order in which they stand. */
  readonly order: Int32Array;
  readonly sorting: Sorting;
}

let count = 0;

export class Grid {
  readonly root = element('div', 'jv-grid');
  private readonly head = element('div', 'jv-grid-row jv-grid-head');
  private readonly body = element('div', 'jv-grid-body');
  private readonly prefix = `jv-grid-${++count}-`;
  private readonly shown = new Map<number, HTMLElement>();
  private content: GridContent = { columns: [], order: new Int32Array(0), sorting: { by: '', reversed: false } };
  /** The place that the keyboard is at; -1 for none. */
  private active = -1;
  private marked: ReadonlySet<number> = new Set();
  private readonly resized = new ResizeObserver(() => this.show());

  constructor(private readonly actions: GridActions) {
    const { root, head, body } = this;
    root.tabIndex = 0;
    root.setAttribute('role', 'grid');
    root.setAttribute('aria-readonly', 'true');
    head.setAttribute('role', 'row');
    head.setAttribute('aria-rowindex', '1');
    body.setAttribute('role', 'rowgroup');
    root.append(head, body);
    root.addEventListener('scroll', () => this.show());
    body.addEventListener('click', ({ target }) => {
      const place = placeOf(target);
      if (place >= 0) {
        this.setActive(place);
        actions.pick(this.content.order[place]);
      }
    });
    body.addEventListener('mouseover', ({ target }) => {
      const place = placeOf(target);
      actions.point(place < 0 ? -1 : this.content.order[place]);
    });
    body.addEventListener('mouseleave', () => actions.point(-1));
    root.addEventListener('blur', () => actions.point(-1));
    this.resized.observe(root);
  }

  dispose(): void {
    this.resized.disconnect();
  }

  fill(content: GridContent, label: string): void {
    const { root, body, head } = this;
    const same = this.content.order === content.order;
    this.content = content;
    root.setAttribute('aria-label', label);
    root.setAttribute('aria-rowcount', String(content.order.length + 1));
    root.setAttribute('aria-colcount', String(content.columns.length));
    const { columns } = content;
    const widths = columns.map(({ width, most, grows }) =>
      most ? `minmax(${width}px, ${most}px)` : grows ? `minmax(${width}px, ${grows}fr)` : `${width}px`
    );
    root.style.setProperty('--jv-columns', widths.join(' '));
    root.style.setProperty('--jv-least', `${columns.reduce((sum, { width }) => sum + width, END)}px`);
    head.replaceChildren(...content.columns.map(column => this.headOf(column)));
    body.style.height = `${content.order.length * ROW_HEIGHT}px`;
    this.shown.clear();
    body.replaceChildren();
    if (!same) {
      this.setActive(-1);
      root.scrollTop = 0;
    }
    this.show();
  }

  /** Marks rows; where none of them is in sight, the first is brought there. */
  mark(rows: ReadonlySet<number>): void {
    this.marked = rows;
    const places = rows.size ? this.placesOf(rows) : [];
    const [from, to] = [this.root.scrollTop / ROW_HEIGHT, (this.root.scrollTop + this.high) / ROW_HEIGHT - 2];
    if (places.length && !places.some(place => place >= from && place <= to)) {
      this.bring(places[0]);
    }
    this.shown.forEach((row, place) => this.dress(row, place));
  }

  /** Keys are meant for it: for the first row that is marked, or the first of all. */
  focus(): void {
    this.root.focus({ preventScroll: true });
    if (this.active < 0 && this.content.order.length) {
      this.setActive(this.placesOf(this.marked)[0] ?? 0);
      this.bring(this.active);
    }
  }

  /** Handles a key; false for one that is not of the table. */
  press(key: string): boolean {
    const page = Math.max(1, Math.floor(this.high / ROW_HEIGHT) - 2);
    const last = this.content.order.length - 1;
    const to: Readonly<Record<string, number>> = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: last
    };
    if (key in to) {
      const place = Math.min(last, Math.max(0, to[key]));
      this.setActive(place);
      this.bring(place);
      this.actions.point(this.content.order[place] ?? -1);
    } else if (key === 'ArrowLeft' || key === 'ArrowRight') {
      this.root.scrollLeft += key === 'ArrowLeft' ? -80 : 80;
    } else if ((key === 'Enter' || key === ' ') && this.active >= 0) {
      this.actions.pick(this.content.order[this.active]);
    } else if (key === 'Escape') {
      this.actions.leave();
    } else {
      return false;
    }
    return true;
  }

  private get high(): number {
    return this.root.clientHeight || UNKNOWN_HEIGHT;
  }

  private placesOf(rows: ReadonlySet<number>): number[] {
    const places: number[] = [];
    this.content.order.forEach((row, place) => rows.has(row) && places.push(place));
    return places;
  }

  /** Scrolls so far that a place is in sight, below the head. */
  private bring(place: number): void {
    const { root } = this;
    const top = place * ROW_HEIGHT;
    if (top < root.scrollTop) {
      root.scrollTop = top;
    } else if (top + 2 * ROW_HEIGHT > root.scrollTop + this.high) {
      root.scrollTop = top + 2 * ROW_HEIGHT - this.high;
    }
    this.show();
  }

  private setActive(place: number): void {
    const before = this.active;
    this.active = place;
    if (place >= 0) {
      this.root.setAttribute('aria-activedescendant', this.prefix + String(place));
    } else {
      this.root.removeAttribute('aria-activedescendant');
    }
    for (const one of [before, place]) {
      const row = this.shown.get(one);
      if (row) {
        this.dress(row, one);
      }
    }
  }

  /** Has the rows in sight on the page, and no others. */
  private show(): void {
    const { root, shown, body } = this;
    const { length } = this.content.order;
    const first = Math.max(0, Math.floor(root.scrollTop / ROW_HEIGHT) - BEYOND);
    const end = Math.min(length, Math.ceil((root.scrollTop + this.high) / ROW_HEIGHT) + BEYOND);
    for (const [place, row] of shown) {
      if (place < first || place >= end) {
        row.remove();
        shown.delete(place);
      }
    }
    for (let place = first; place < end; place++) {
      if (!shown.has(place)) {
        const row = this.row(place);
        shown.set(place, row);
        // In the order of the table, for who listens.
        body.insertBefore(row, shown.get(place + 1) ?? null);
      }
    }
  }

  private headOf({ key, label, title, numbers }: Column): HTMLElement {
    const { by, reversed } = this.content.sorting;
    const cell = element('div', 'jv-grid-cell');
    const sorted = by === key;
    cell.setAttribute('role', 'columnheader');
    const falling = (numbers !== undefined && key !== 'order') !== reversed;
    cell.setAttribute('aria-sort', sorted ? (falling ? 'descending' : 'ascending') : 'none');
    cell.classList.toggle('jv-is-number', numbers !== undefined);
    const sort = element('button', 'jv-grid-sort', label);
    sort.type = 'button';
    sort.title = `${title}; a click sorts by it${sorted ? ' the other way round' : ''}`;
    if (sorted) {
      const sign = element('span', 'jv-grid-sign', falling ? '▾' : '▴');
      sign.setAttribute('aria-hidden', 'true');
      sort.append(sign);
    }
    sort.addEventListener('click', () => {
      this.actions.sort(key);
      this.focusHead(key);
    });
    sort.dataset.column = key;
    cell.append(sort);
    return cell;
  }

  /** The heads are others than those that were clicked. */
  private focusHead(key: string): void {
    for (const one of this.head.querySelectorAll('button')) {
      if (one.dataset.column === key) {
        one.focus({ preventScroll: true });
      }
    }
  }

  private row(place: number): HTMLElement {
    const at = this.content.order[place];
    const row = element('div', 'jv-grid-row');
    row.setAttribute('role', 'row');
    row.setAttribute('aria-rowindex', String(place + 2));
    row.id = this.prefix + String(place);
    row.dataset.place = String(place);
    row.style.top = `${place * ROW_HEIGHT}px`;
    row.append(...this.content.columns.map(column => cellOf(column, at)));
    this.dress(row, place);
    return row;
  }

  private dress(row: HTMLElement, place: number): void {
    const marked = this.marked.has(this.content.order[place]);
    row.classList.toggle('jv-marked', marked);
    row.classList.toggle('jv-active', place === this.active);
    row.setAttribute('aria-selected', String(marked));
  }
}

function cellOf({ key, text, numbers, bar }: Column, row: number): HTMLElement {
  const words = text(row);
  const cell = element('div', 'jv-grid-cell');
  cell.setAttribute('role', 'gridcell');
  cell.classList.toggle('jv-is-number', numbers !== undefined);
  cell.classList.toggle('jv-is-name', key === 'name');
  if (bar) {
    const filled = element('span', 'jv-grid-bar');
    filled.style.width = `${100 * Math.min(1, bar(row))}%`;
    cell.append(filled);
  }
  cell.append(element('span', 'jv-grid-text', words));
  if (!numbers && words) {
    cell.title = words;
  }
  return cell;
}

function placeOf(target: EventTarget | null): number {
  const row = (target as Element | null)?.closest<HTMLElement>('[data-place]');
  return row ? Number(row.dataset.place) : -1;
}
