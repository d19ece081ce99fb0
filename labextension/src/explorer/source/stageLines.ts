/**
 * The text of a stage, line by line: linked both ways with the picture, and as fast with a hundred thousand lines as with
 * ten, because only the lines in view are elements.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { fatesOf, ghostWord } from '../../view/ghosts.ts';
import { measuredOf, timeText, withBodies, type Measured } from '../../view/measures.ts';
import type { Listing } from '../../text/listing.ts';
import type { Named } from '../../text/pieces.ts';
import { listingOf } from '../../text/stageText.ts';
import { element } from '../elements.ts';
import { Names } from './names.ts';
import { takesKeys } from '../ownKeys.ts';
import type { SourceActions } from './source.ts';
import { touchedBy, type LineMark } from './touched.ts';
import { isMarking, selectedText, selectionEnds } from './textSelection.ts';

/** px of a line; the style sheet says so too. */
export const LINE_HEIGHT = 18;
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
  private readonly page = element('div', 'jv-text-page');
  private readonly names = new Names(this.page);
  private readonly prefix = `jv-text-${++count}-`;
  private graph: Graph | null = null;
  private listing: Listing | null = null;
  private measured: Measured | null = null;
  private slowest = 0;
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
  /** Where each graph was read. */
  private readonly places = new WeakMap<Graph, number>();
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
    if (differing !== this.differing) {
      this.differing = differing;
      this.forget();
    }
    if (graph !== this.graph) {
      const listing = listingOf(this.source, graph);
      this.graph = graph;
      this.listing = listing;
      this.measured = measuredOf(this.source, graph);
      this.touched = touchedBy(this.source, graph);
      this.slowest = this.measured?.own.seconds.reduce((most, one) => Math.max(most, one), 0) ?? 0;
      this.marked = this.hinted = this.found = NONE;
      this.at = this.under = this.arrived = -1;
      this.trail = [];
      this.widest = 0;
      this.root.classList.toggle('jv-timed', this.slowest > 0);
      this.root.setAttribute('aria-label', `${listing.count} lines`);
      this.root.style.setProperty('--jv-digits', String(String(listing.count).length));
      this.page.style.height = `${listing.count * LINE_HEIGHT}px`;
      this.forget();
      this.root.scrollTop = this.places.get(graph) ?? this.start(listing) * LINE_HEIGHT;
      this.root.scrollLeft = 0;
    }
    this.draw();
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
    const { listing, root, page, rows, graph } = this;
    if (!listing || !graph || root.hidden) {
      return;
    }
    this.places.set(graph, root.scrollTop);
    const high = root.clientHeight || UNKNOWN_HEIGHT;
    const first = Math.max(0, Math.floor(root.scrollTop / LINE_HEIGHT) - AHEAD);
    const end = Math.min(listing.count, Math.ceil((root.scrollTop + high) / LINE_HEIGHT) + AHEAD);
    const held = selectionEnds(root);
    for (const [line, row] of rows) {
      if ((line < first || line >= end) && !held.includes(line)) {
        rows.delete(line);
        row.remove();
      }
    }
    // In the order of the text, which is that of a selection.
    let next = page.firstElementChild as HTMLElement | null;
    for (let line = first; line < end; line++) {
      while (next && Number(next.dataset.line) < line) {
        next = next.nextElementSibling as HTMLElement | null;
      }
      if (!rows.has(line)) {
        const row = this.row(listing, graph, line);
        rows.set(line, row);
        page.insertBefore(row, next);
      }
    }
    page.style.minWidth = `calc(${this.widest}ch + 120px)`;
    this.names.dress();
    this.dress();
  }

  private row(listing: Listing, graph: Graph, line: number): HTMLElement {
    const row = element('div', 'jv-text-line');
    row.id = this.prefix + line;
    row.dataset.line = String(line);
    row.style.top = `${line * LINE_HEIGHT}px`;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-setsize', String(listing.count));
    row.setAttribute('aria-posinset', String(line + 1));
    const nodes = listing.nodes(line);
    const code = element('code', '', ' '.repeat(listing.indent(line)));
    for (const { text, role, named } of listing.pieces(line)) {
      if (role === 'plain') {
        code.append(text);
        continue;
      }
      const piece = element('span', `jv-text-${role}`, text);
      const tint = role === 'op' && nodes.length ? this.actions.tint(graph, nodes[0]) : '';
      if (tint) {
        piece.style.setProperty('--jv-tint', `var(--jv-${tint})`);
      }
      if (named) {
        this.names.add(piece, named, this.leads(listing, named, line));
      }
      code.append(piece);
    }
    this.widest = Math.max(this.widest, code.textContent?.length ?? 0);
    row.append(this.gutter(listing, line, nodes), code);
    const gone = this.goneWord(graph, nodes);
    row.classList.toggle('jv-gone', gone !== '');
    // Beside another picture, what differs says more than what became of it.
    const mark = marked(this.differing, nodes) ?? (gone ? undefined : marked(this.touched, nodes));
    if (gone && !mark) {
      row.append(element('span', 'jv-text-word', gone));
    } else if (mark) {
      row.append(element('span', `jv-text-word jv-text-${mark.kind}`, mark.word));
    }
    return row;
  }

  /** The number of a line, and how long it took. */
  private gutter(listing: Listing, line: number, nodes: readonly number[]): HTMLElement {
    const gutter = element('span', 'jv-text-gutter');
    const seconds = nodes.length && listing.lines(nodes[0])[0] === line ? this.secondsOf(nodes) : 0;
    if (this.slowest > 0) {
      const time = element('span', 'jv-text-time', seconds > 0 ? timeText(seconds) : '');
      const heat = element('span', 'jv-heat jv-heat-time');
      heat.style.opacity = seconds > 0 ? String(0.12 + 0.88 * Math.min(1, seconds / this.slowest)) : '0';
      gutter.append(time, heat);
    }
    gutter.prepend(element('span', 'jv-text-number', String(line + 1)));
    return gutter;
  }

  private secondsOf(nodes: readonly number[]): number {
    const { measured, graph } = this;
    return measured && graph ? nodes.reduce((sum, node) => sum + withBodies(measured, graph, 'seconds', node), 0) : 0;
  }

  /** Why the compiler did not keep what a line is about; empty where it kept any of it. */
  private goneWord(graph: Graph, nodes: readonly number[]): string {
    const fates = fatesOf(this.source, graph);
    const words = fates ? nodes.map(node => ghostWord(fates, node)) : [];
    return words.length && words.every(word => word) ? words[0] : '';
  }

  /** Says of each line in view whether it is marked, lit or found. */
  private dress(): void {
    const { marked, hinted, found, at, arrived } = this;
    for (const [line, row] of this.rows) {
      row.classList.toggle('jv-marked', marked[line] === 1);
      row.classList.toggle('jv-hinted', hinted[line] === 1);
      row.classList.toggle('jv-found', found[line] === 1);
      row.classList.toggle('jv-at', line === at);
      row.classList.toggle('jv-arrived', line === arrived);
      row.setAttribute('aria-selected', String(marked[line] === 1));
    }
  }

  /** Brings a line into view, with some of what stands above it. */
  private reveal(line: number): void {
    const { root } = this;
    const [top, high] = [line * LINE_HEIGHT, root.clientHeight];
    if (top < root.scrollTop) {
      root.scrollTop = Math.max(0, top - CONTEXT * LINE_HEIGHT);
    } else if (top + LINE_HEIGHT > root.scrollTop + high) {
      root.scrollTop = top + LINE_HEIGHT - high + CONTEXT * LINE_HEIGHT;
    }
    this.draw();
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
    if (line >= 0 && !isMarking(this.root)) {
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
    const y = to * LINE_HEIGHT - root.scrollTop;
    if (y < 0 || y + LINE_HEIGHT > root.clientHeight) {
      root.scrollTop = Math.max(0, to - CONTEXT) * LINE_HEIGHT;
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

  /** The arrow keys go from line to line, into the body that a line calls and back; Enter selects. */
  private press(key: string): boolean {
    const { listing, root } = this;
    const page = Math.max(1, Math.floor(root.clientHeight / LINE_HEIGHT) - 1);
    const last = (listing?.count ?? 0) - 1;
    // Without one, the first in view.
    const from = this.at < 0 ? Math.ceil(root.scrollTop / LINE_HEIGHT) - 1 : this.at;
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
    } else if (key === 'ArrowRight') {
      return this.goInto();
    } else if (key === 'ArrowLeft' || key === 'Backspace') {
      return this.goBack();
    } else if (key in to && last >= 0) {
      this.at = Math.max(0, Math.min(last, to[key]));
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

/** What is told of the first of the nodes of a line of which anything is. */
function marked(marks: ReadonlyMap<number, LineMark>, nodes: readonly number[]): LineMark | undefined {
  return marks.get(nodes.find(node => marks.has(node)) ?? -1);
}
