/**
 * The text of a stage, line by line: linked both ways with the picture, and as fast with a hundred thousand lines as with
 * ten, because only the lines in view are elements.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { getOrMake } from '../../maps.ts';
import { Folding } from '../../text/folding.ts';
import type { Listing } from '../../text/listing.ts';
import type { Named } from '../../text/pieces.ts';
import { listingOf } from '../../text/stageText.ts';
import { button, element } from '../elements.ts';
import { Names } from './names.ts';
import { takesKeys } from '../ownKeys.ts';
import type { SourceActions } from './source.ts';
import { LINE_HEIGHT, StageRows } from './stageRow.ts';
import { touchedBy, type LineMark } from './touched.ts';
import { isMarking, selectedText, selectionEnds } from './textSelection.ts';

/** Lines that are made above and below those in view. */
const AHEAD = 20;
/** px that are filled where the height is not known yet. */
const UNKNOWN_HEIGHT = 600;
/** Lines that stand above what is brought into view. */
const CONTEXT = 3;

/** Characters of a line that a name tells of where it leads. */
const MOST_TOLD = 200;
/** Places that are remembered to go back to. */
const MOST_PLACES = 100;

/** Where the text was read: px above and left of what is in view, and the line that keys were about. */
interface Place {
  readonly top: number;
  readonly left: number;
  readonly at: number;
}

const NONE: Uint8Array = new Uint8Array(0);

let count = 0;

export class StageLines {
  readonly root = element('div', 'jv-text');
  /** Folds all that can be, or shows it again. */
  readonly fold = button('jv-link', '', 'All that stands inside something; one by its triangle, or Space', () =>
    this.foldAll()
  );
  private readonly page = element('div', 'jv-text-page');
  private readonly names = new Names(this.page);
  private readonly prefix = `jv-text-${++count}-`;
  private graph: Graph | null = null;
  private listing: Listing | null = null;
  private folding: Folding | null = null;
  private maker: StageRows | null = null;
  /** By node, what a pass did, and what differs from the picture beside. */
  private touched: ReadonlyMap<number, LineMark> = new Map();
  private differing: ReadonlyMap<number, LineMark> = new Map();
  private readonly rows = new Map<number, HTMLElement>();
  /** 1 for each line of what is selected, of what is pointed at in the picture, of what is searched for. */
  private marked = NONE;
  private hinted = NONE;
  private found = NONE;
  /** The line that keys are about. */
  private at = -1;
  private under = -1;
  /** The line that a name led to, until something else is done. */
  private arrived = -1;
  /** From where names were followed, the last behind the others. */
  private trail: Place[] = [];
  private widest = 0;
  private frame = 0;
  /** Where each graph was read, and what is folded of it. */
  private readonly places = new WeakMap<Graph, number>();
  private readonly foldings = new WeakMap<Graph, Folding>();
  private resized: ResizeObserver | null = null;
  /** What was chosen here is in view already. */
  private still = false;

  constructor(
    private readonly source: Document,
    private readonly actions: SourceActions
  ) {
    const { root, page } = this;
    root.hidden = true;
    root.tabIndex = 0;
    root.setAttribute('role', 'listbox');
    root.setAttribute('aria-multiselectable', 'true');
    root.append(page);
    root.addEventListener('scroll', () => this.drawSoon());
    root.addEventListener('click', event => this.click(event));
    root.addEventListener('pointermove', event => this.hover(lineOf(event.target), event.target));
    root.addEventListener('pointerleave', () => this.hover(-1));
    root.addEventListener('copy', event => this.copy(event));
    takesKeys(root, key => this.press(key));
  }

  /** Shows the text of `graph`, where it was read before. */
  fill(graph: Graph): void {
    if (!this.resized) {
      this.resized = new ResizeObserver(() => this.drawSoon());
      this.resized.observe(this.root);
    }
    const differing = this.actions.differing();
    const other = graph !== this.graph;
    if (other) {
      this.begin(graph);
    }
    if (other || differing !== this.differing) {
      this.differing = differing;
      this.maker = this.makerOf(graph);
      this.forget();
    }
    this.draw();
  }

  private begin(graph: Graph): void {
    const { root } = this;
    const listing = listingOf(this.source, graph);
    this.graph = graph;
    this.listing = listing;
    this.folding = getOrMake(this.foldings, graph, () => new Folding(listing));
    this.touched = touchedBy(this.source, graph);
    this.marked = this.hinted = this.found = NONE;
    this.at = this.under = this.arrived = -1;
    this.trail = [];
    this.widest = 0;
    root.setAttribute('aria-label', `${listing.count} lines`);
    root.style.setProperty('--jv-digits', String(String(listing.count).length));
    this.size();
    root.scrollTop = this.places.get(graph) ?? this.start(listing) * LINE_HEIGHT;
    root.scrollLeft = 0;
  }

  private makerOf(graph: Graph): StageRows | null {
    const { source: document, listing, folding, names, touched, differing } = this;
    return (
      listing &&
      folding &&
      new StageRows({
        ...{ document, graph, listing, folding, names, touched, differing },
        tint: this.actions.tint,
        leads: (named, line) => this.leads(listing, named, line)
      })
    );
  }

  /** As high as what is seen of the text. */
  private size(): void {
    const { folding, fold, page } = this;
    page.style.height = `${(folding?.count ?? 0) * LINE_HEIGHT}px`;
    fold.textContent = folding?.any ? 'unfold' : 'fold';
    fold.hidden = !folding?.any && !folding?.foldable.length;
  }

  /** Something is folded, or no longer: what stood in this row stands where it stood. */
  private refold(line: number, change: (folding: Folding) => void): void {
    const { root, folding } = this;
    if (folding) {
      const y = folding.row(line) * LINE_HEIGHT - root.scrollTop;
      change(folding);
      this.forget();
      this.size();
      root.scrollTop = folding.row(line) * LINE_HEIGHT - y;
      this.draw();
      this.tellCursor();
    }
  }

  private foldAll(): void {
    const { root, folding } = this;
    const first = folding?.line(Math.min(folding.count - 1, Math.floor(root.scrollTop / LINE_HEIGHT))) ?? 0;
    this.refold(first, folding => (folding.any ? folding.unfoldAll() : folding.foldAll()));
  }

  /** Folds what stands around a line, or shows what is folded behind it; false where nothing can be. */
  private toggleFold(line: number): boolean {
    const head = this.folding?.around(line) ?? -1;
    if (head >= 0) {
      this.at = head;
      this.refold(head, folding => folding.toggle(head));
      this.reveal(head);
    }
    return head >= 0;
  }

  /** A line that is folded away is seen. */
  private unfold(line: number): void {
    if (this.folding?.show(line)) {
      this.forget();
      this.size();
    }
  }

  /** Where reading begins: of a state of the compiler, at what the pass did. */
  private start(listing: Listing): number {
    const first = listing.linesOf([...this.touched.keys()]).indexOf(1);
    return first < 0 ? listing.start : Math.max(0, first - CONTEXT);
  }

  /** Marks the lines of nodes; the first of them is brought into view. */
  mark(_graph: Graph, nodes: readonly number[]): void {
    this.marked = this.linesOf(nodes);
    this.arrived = -1;
    this.dress();
    const first = this.marked.indexOf(1);
    if (first >= 0 && !this.still) {
      this.at = first;
      this.reveal(first);
    }
    this.tellCursor();
  }

  /** Lights the lines of what the pointer is on in the picture. */
  hint(_graph: Graph, nodes: readonly number[]): void {
    this.hinted = this.linesOf(nodes);
    this.dress();
  }

  /** Marks what was searched for. */
  find(nodes: readonly number[]): void {
    this.found = this.linesOf(nodes);
    this.dress();
  }

  /** Operations have other colours. */
  recolour(): void {
    if (this.listing && !this.root.hidden) {
      this.forget();
      this.draw();
    }
  }

  private linesOf(nodes: readonly number[]): Uint8Array {
    return nodes.length && this.listing ? this.listing.linesOf(nodes) : NONE;
  }

  private forget(): void {
    this.rows.clear();
    this.page.replaceChildren();
  }

  private drawSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Makes the lines in view, and lets go of the others but those in which a selection of text begins or ends. */
  private draw(): void {
    const { folding, maker, root, page, rows, graph } = this;
    if (!folding || !maker || !graph || root.hidden) {
      return;
    }
    this.places.set(graph, root.scrollTop);
    const high = root.clientHeight || UNKNOWN_HEIGHT;
    const first = Math.max(0, Math.floor(root.scrollTop / LINE_HEIGHT) - AHEAD);
    const end = Math.min(folding.count, Math.ceil((root.scrollTop + high) / LINE_HEIGHT) + AHEAD);
    const held = selectionEnds(root);
    for (const [line, row] of rows) {
      const at = folding.row(line);
      if ((at < first || at >= end) && !held.includes(line)) {
        rows.delete(line);
        row.remove();
      }
    }
    // In the order of the text, which is that of a selection.
    let next = page.firstElementChild as HTMLElement | null;
    for (let at = first; at < end; at++) {
      const line = folding.line(at);
      while (next && Number(next.dataset.line) < line) {
        next = next.nextElementSibling as HTMLElement | null;
      }
      if (!rows.has(line)) {
        const row = maker.make(line);
        row.id = this.prefix + line;
        this.widest = Math.max(this.widest, row.querySelector('code')?.textContent?.length ?? 0);
        rows.set(line, row);
        page.insertBefore(row, next);
      }
    }
    page.style.minWidth = `calc(${this.widest}ch + 120px)`;
    this.names.dress();
    this.dress();
  }

  /** Says of each line in view whether it is marked, lit or found. */
  private dress(): void {
    const { marked, hinted, found, at, arrived, folding } = this;
    for (const [line, row] of this.rows) {
      const isIn = (lines: Uint8Array): boolean => folding?.isMarked(lines, line) ?? false;
      row.classList.toggle('jv-marked', isIn(marked));
      row.classList.toggle('jv-hinted', isIn(hinted));
      row.classList.toggle('jv-found', isIn(found));
      row.classList.toggle('jv-at', line === at);
      row.classList.toggle('jv-arrived', line === arrived);
      row.setAttribute('aria-selected', String(marked[line] === 1));
    }
  }

  /** Brings a line into view, with some of what stands above it. */
  private reveal(line: number): void {
    const { root } = this;
    this.unfold(line);
    const [top, high] = [this.rowOf(line) * LINE_HEIGHT, root.clientHeight];
    if (top < root.scrollTop) {
      root.scrollTop = Math.max(0, top - CONTEXT * LINE_HEIGHT);
    } else if (top + LINE_HEIGHT > root.scrollTop + high) {
      root.scrollTop = top + LINE_HEIGHT - high + CONTEXT * LINE_HEIGHT;
    }
    this.draw();
  }

  private rowOf(line: number): number {
    return this.folding?.row(line) ?? line;
  }

  private tellCursor(): void {
    if (this.rows.has(this.at)) {
      this.root.setAttribute('aria-activedescendant', this.prefix + this.at);
    } else {
      this.root.removeAttribute('aria-activedescendant');
    }
  }

  private click({ target }: Event): void {
    const line = lineOf(target);
    // Whoever marks text to copy it selects nothing.
    if (line >= 0 && (target as HTMLElement).closest('.jv-text-fold')) {
      this.toggleFold(line);
    } else if (line >= 0 && !isMarking(this.root)) {
      const named = this.names.at(target);
      if (!named || !this.follow(named, line)) {
        this.at = line;
        this.choose(line);
      }
    }
  }

  private leads(listing: Listing, named: Named, line: number): boolean {
    const to = listing.lineOf(named);
    return to >= 0 && (to !== line || 'body' in named);
  }

  /** Where a name in a line leads, in words; empty where it leads nowhere. */
  private tellOf(named: Named, line: number): string {
    const { listing } = this;
    if (!listing || !this.leads(listing, named, line)) {
      return '';
    }
    const to = listing.lineOf(named);
    if (to !== line) {
      return listing.text(to).trim().slice(0, MOST_TOLD);
    }
    const calls = 'body' in named ? listing.callers(named.body).length : 0;
    return calls === 1 ? 'to what calls it' : `to the ${calls} operations that call it`;
  }

  /** Goes to where what is named is made or begins, and from there to what calls it; false where it leads nowhere. */
  private follow(named: Named, from: number): boolean {
    const { listing } = this;
    const to = listing?.lineOf(named) ?? -1;
    if (!listing || to < 0) {
      return false;
    }
    if (to !== from) {
      this.go(to, from, listing.nodes(to));
      return true;
    }
    const callers = 'body' in named ? listing.callers(named.body) : [];
    if (callers.length) {
      this.go(listing.lines(callers[0])[0], from, callers);
    }
    return callers.length > 0;
  }

  /** Goes to a line, and selects nodes unless they are selected already. */
  private go(to: number, from: number, nodes: readonly number[]): void {
    const { root } = this;
    this.trail = [...this.trail, { top: root.scrollTop, left: root.scrollLeft, at: from }].slice(-MOST_PLACES);
    this.at = to;
    if (this.marked[to] !== 1) {
      this.chooseNodes(nodes);
    }
    this.arrived = to;
    this.unfold(to);
    const row = this.rowOf(to);
    const y = row * LINE_HEIGHT - root.scrollTop;
    if (y < 0 || y + LINE_HEIGHT > root.clientHeight) {
      root.scrollTop = Math.max(0, row - CONTEXT) * LINE_HEIGHT;
    }
    root.scrollLeft = 0;
    this.draw();
    this.tellCursor();
  }

  /** Goes back to where a name was followed from; false where none was. */
  private goBack(): boolean {
    const place = this.trail.pop();
    if (!place) {
      return false;
    }
    this.unfold(place.at);
    this.root.scrollTop = place.top;
    this.root.scrollLeft = place.left;
    this.at = this.arrived = place.at;
    this.draw();
    this.tellCursor();
    return true;
  }

  /** Goes from the line that keys are about into the first body that it names; false where it names none. */
  private goInto(): boolean {
    const { at, listing } = this;
    const pieces = at < 0 || !listing ? [] : listing.pieces(at);
    const named = pieces.map(piece => piece.named).find(one => one && 'body' in one && listing?.lineOf(one) !== at);
    return named !== undefined && this.follow(named, at);
  }

  private choose(line: number): void {
    this.arrived = -1;
    this.chooseNodes(this.listing?.nodes(line) ?? []);
    this.dress();
    this.tellCursor();
  }

  /** Selects nodes, without moving the text. */
  private chooseNodes(nodes: readonly number[]): void {
    if (nodes.length) {
      this.still = true;
      this.actions.choose(nodes);
      this.still = false;
    }
  }

  private hover(line: number, target: EventTarget | null = null): void {
    const named = this.names.at(target);
    this.names.light(named);
    if (named) {
      (target as HTMLElement).title ||= this.tellOf(named, line);
    }
    if (line !== this.under) {
      this.under = line;
      this.actions.hint(line < 0 ? [] : (this.listing?.nodes(line) ?? []));
    }
  }

  /** The arrow keys go from line to line, into the body that a line calls and back; Enter selects, Space folds. */
  private press(key: string): boolean {
    const { folding, root } = this;
    const page = Math.max(1, Math.floor(root.clientHeight / LINE_HEIGHT) - 1);
    const last = (folding?.count ?? 0) - 1;
    // Without one, the first in view.
    const from = this.at < 0 ? Math.ceil(root.scrollTop / LINE_HEIGHT) - 1 : this.rowOf(this.at);
    const to: Readonly<Record<string, number>> = {
      ArrowUp: from - 1,
      ArrowDown: from + 1,
      PageUp: from - page,
      PageDown: from + page,
      Home: 0,
      End: last
    };
    if (key === 'Enter' && this.at >= 0) {
      this.choose(this.at);
    } else if (key === ' ') {
      return this.toggleFold(Math.max(0, this.at));
    } else if (key === 'ArrowRight') {
      return this.goInto();
    } else if (key === 'ArrowLeft' || key === 'Backspace') {
      return this.goBack();
    } else if (key in to && folding && last >= 0) {
      this.at = folding.line(Math.max(0, Math.min(last, to[key])));
      this.reveal(this.at);
      this.tellCursor();
      this.hover(this.at);
    } else {
      return false;
    }
    return true;
  }

  /** What is copied is the text, with the lines that are out of view and without what stands beside it. */
  private copy(event: ClipboardEvent): void {
    const text = this.listing && selectedText(this.root, this.listing);
    if (text) {
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    }
  }
}

function lineOf(target: EventTarget | null): number {
  const row = (target as HTMLElement | null)?.closest<HTMLElement>('.jv-text-line');
  return row ? Number(row.dataset.line) : -1;
}
