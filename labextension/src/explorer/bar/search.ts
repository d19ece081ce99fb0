/** The search: a field for the query, how many places match, and steps from one to the next. */
import type { Document, Graph } from '../../document/graph.ts';
import { fadedBoxes } from '../../view/faded.ts';
import { rowsOf } from '../../view/outline.ts';
import { EXAMPLES, parseQuery } from '../../view/query.ts';
import { findMatches, NONE, prepareSearch, type Matches } from '../../view/search.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import { button, element } from '../elements.ts';
import { SCHEME } from '../versions/saved.ts';

export interface SearchActions {
  /** A view that was copied was pasted; gives what is wrong with it, if anything. */
  paste(view: string): string;
  /** What matches has changed. */
  changed(): void;
  /** Shows a match, wherever it is hidden. */
  goTo(item: number): void;
  close(): void;
}

export class Search {
  readonly root = element('div', 'jv-search');
  private readonly input = element('input', 'jv-search-input');
  private readonly count = element('span', 'jv-search-count');
  private readonly examples = element('dl', 'jv-details jv-examples');
  private readonly steps: readonly HTMLButtonElement[];
  private matches: Matches = NONE;
  private at = -1;
  private graph: Graph | null = null;

  constructor(
    private readonly source: Document,
    private readonly actions: SearchActions
  ) {
    const { root, input, count } = this;
    root.hidden = true;
    root.setAttribute('role', 'search');
    input.type = 'search';
    input.placeholder = 'search';
    input.spellcheck = false;
    input.autocomplete = 'off';
    input.setAttribute('aria-label', 'Search: words, /regular expression/, op:, line:, fate:, type:, bytes>');
    count.setAttribute('role', 'status');
    input.addEventListener('input', () => this.ask());
    this.steps = [
      button('jv-button', '↑', 'The match before (Shift+Enter)', () => this.step(-1)),
      button('jv-button', '↓', 'The next match (Enter)', () => this.step(1))
    ];
    const line = element('div', 'jv-search-line');
    line.append(
      input,
      count,
      ...this.steps,
      button('jv-close', '×', 'Close the search (Escape)', () => actions.close())
    );
    this.examples.append(...EXAMPLES.flatMap(([query, meaning]) => this.example(query, meaning)));
    root.append(line, this.examples);
  }

  /** What is asked for; empty while the search is closed. */
  get query(): string {
    return this.root.hidden ? '' : this.input.value;
  }

  /** Opens the field, with the words of `query` in it where they are given. */
  open(graph: Graph, query = this.input.value): void {
    this.root.hidden = false;
    this.input.value = query;
    this.setGraph(graph);
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  /** Opens the field for a person who goes on typing. */
  resume(graph: Graph): void {
    this.open(graph);
    const { length } = this.input.value;
    this.input.setSelectionRange(length, length);
  }

  /** As it was when a view was saved: closed without a query. */
  restore(query: string): void {
    this.root.hidden = !query;
    this.input.value = query;
    this.ask();
  }

  close(): void {
    this.root.hidden = true;
    this.ask();
  }

  /** Searches another stage for the same. */
  setGraph(graph: Graph): void {
    this.graph = graph;
    if (!this.root.hidden) {
      prepareSearch(this.source, graph);
    }
    this.ask();
  }

  /** Handles a key that was pressed in the field; false for one that is not of the search. */
  press(event: KeyboardEvent): boolean {
    const closes = event.key === 'Escape' && this.root.contains(event.target as Node);
    if (!closes && (event.target !== this.input || event.key !== 'Enter')) {
      return false;
    }
    event.preventDefault();
    if (closes) {
      this.actions.close();
    } else {
      this.step(event.shiftKey ? -1 : 1);
    }
    return true;
  }

  /** 1 for each node that is searched for; empty where nothing is. */
  get nodes(): Uint8Array {
    return this.matches.nodes;
  }

  /** 1 for each box that holds no match; null where nothing is asked for or found. */
  faded(visible: VisibleGraph): Uint8Array | null {
    return visible.graph === this.graph
      ? fadedBoxes(rowsOf(this.source, visible.graph), visible, this.matches.items)
      : null;
  }

  private ask(): void {
    const text = this.query;
    let query = parseQuery(text);
    if (text.trim().startsWith(SCHEME)) {
      // What is shown then has a search of its own.
      this.input.value = '';
      const fault = this.actions.paste(text);
      if (!fault) {
        return;
      }
      this.input.value = text;
      query = { fault };
    }
    this.matches = this.graph ? findMatches(this.source, this.graph, query) : NONE;
    this.at = -1;
    this.tell();
    this.actions.changed();
  }

  private step(by: number): void {
    const { length } = this.matches.items;
    if (length) {
      this.at = this.at < 0 ? (by > 0 ? 0 : length - 1) : (this.at + by + length) % length;
      this.tell();
      this.actions.goTo(this.matches.items[this.at]);
    }
  }

  private tell(): void {
    const { items, total, fault } = this.matches;
    const asked = this.query.trim() !== '';
    const found = total === 0 ? 'no match' : total === 1 ? '1 match' : `${total} matches`;
    const folded = total > items.length ? ` in ${items.length} place${items.length === 1 ? '' : 's'}` : '';
    const place = this.at >= 0 ? `${this.at + 1} of ${items.length}` : found + folded;
    this.count.textContent = fault || (asked ? place : '');
    this.root.classList.toggle('jv-fault', fault !== '');
    this.input.setAttribute('aria-invalid', String(fault !== ''));
    this.examples.hidden = asked;
    this.steps.forEach(one => (one.disabled = items.length === 0));
  }

  private example(query: string, meaning: string): HTMLElement[] {
    const term = element('dt', '');
    term.append(
      button('jv-link', query, `Search for ${query}`, () => {
        this.input.value = query;
        this.input.focus({ preventScroll: true });
        this.ask();
      })
    );
    return [term, element('dd', '', meaning)];
  }
}
