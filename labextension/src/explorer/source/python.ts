/** The person's lines, each with how many operations come from it; linked both ways with the picture. */
import type { Document, Graph } from '../../document/graph.ts';
import { element } from '../elements.ts';
import { namedFiles, sourceFiles, type SourceFile, type SourceLine } from './lines.ts';
import { breakInWords } from '../wordBreaks.ts';
import { measuredOf, timeText, whyLonger } from '../../view/measures.ts';
import { ownSpot } from '../../view/spots.ts';
import { stacksOf } from '../../view/stacks.ts';
import type { SourceActions, SourceSpot } from './source.ts';

/** Characters before a line at most: what continues a call far to the right would have no room to stand in. */
const MOST_INDENT = 16;
/** Characters by which the further lines of one are indented. */
const FURTHER = 2;

export class PythonLines {
  readonly root = element('div', 'jv-source-scroll');
  private readonly rows = new Map<string, HTMLElement>();
  private marked: readonly HTMLElement[] = [];
  private hinted: readonly HTMLElement[] = [];

  constructor(
    private readonly source: Document,
    private readonly actions: SourceActions
  ) {}

  /** Shows the lines as they are in `graph`. */
  fill(graph: Graph): void {
    this.rows.clear();
    this.marked = this.hinted = [];
    const files = sourceFiles(this.source, graph);
    const lines = files.flatMap(file => file.lines);
    const most = Math.max(1, ...lines.map(line => line.nodes.length));
    const slowest = Math.max(0, ...lines.map(line => line.seconds));
    const shown: HTMLElement[] = [];
    if (!files.length) {
      shown.push(element('p', 'jv-source-none', whyNone(this.source)));
    }
    for (const file of files) {
      const title = element('div', 'jv-source-file', file.label);
      title.title = file.path;
      shown.push(title, ...file.lines.map(line => this.row(file, line, most, slowest)));
    }
    const measured = measuredOf(this.source, graph);
    const why = measured && whyLonger(measured, slowest);
    if (why) {
      shown.push(element('p', 'jv-source-why', why));
    }
    this.root.replaceChildren(...shown);
  }

  /** Marks the lines that nodes come from; the first of them is brought into view. */
  mark(graph: Graph, nodes: readonly number[]): void {
    this.marked.forEach(row => row.classList.remove('jv-marked'));
    this.marked = this.rowsOf(graph, nodes);
    this.marked.forEach(row => row.classList.add('jv-marked'));
    if (this.marked.length) {
      reveal(this.marked[0]);
    }
  }

  /** Lights the lines of what the pointer is on in the picture. */
  hint(graph: Graph, nodes: readonly number[]): void {
    this.hinted.forEach(row => row.classList.remove('jv-hinted'));
    this.hinted = this.rowsOf(graph, nodes);
    this.hinted.forEach(row => row.classList.add('jv-hinted'));
  }

  private rowsOf(graph: Graph, nodes: readonly number[]): HTMLElement[] {
    const { files, strings } = this.source;
    const found = new Set<HTMLElement>();
    for (const stack of new Set(nodes.flatMap(node => stacksOf(this.source, graph, node)))) {
      const spot = ownSpot(this.source, stack);
      const row = spot && this.rows.get(`${strings[files.path[spot.file]]}:${spot.line}`);
      if (row) {
        found.add(row);
      }
    }
    return [...found];
  }

  private row({ path, label }: SourceFile, line: SourceLine, most: number, slowest: number): HTMLElement {
    const count = line.nodes.length;
    const row = element(count ? 'button' : 'div', 'jv-line');
    row.classList.toggle('jv-gone', count > 0 && line.gone === count);
    const heat = element('span', 'jv-heat');
    if (slowest > 0) {
      heat.classList.add('jv-heat-time');
      heat.style.opacity = line.seconds > 0 ? String(0.12 + (0.88 * line.seconds) / slowest) : '0';
    } else {
      // A line of one operation is still seen beside one of a thousand.
      heat.style.opacity = count ? String(0.25 + (0.75 * Math.log1p(count)) / Math.log1p(most)) : '0';
    }
    const counts = element('span', 'jv-line-count', count ? String(count) : '');
    if (line.seconds > 0) {
      counts.prepend(element('span', 'jv-line-time', timeText(line.seconds)), ' · ');
    }
    if (line.gone) {
      counts.append(element('span', 'jv-line-gone', line.gone === count ? ' gone' : ` ${line.gone} gone`));
    }
    const { goToLine } = this.actions;
    const spot = { path, label, line: line.number, text: line.text };
    row.append(
      goToLine ? goToButton(spot, goToLine) : element('span', 'jv-line-number', String(line.number)),
      heat,
      codeOf(line.text),
      counts
    );
    if (count) {
      const took = line.seconds > 0 ? `${timeText(line.seconds)} in a run, ` : '';
      row.title = `${took}${count} operation${count === 1 ? '' : 's'}${goneText(line)}`;
      row.addEventListener('click', () => this.actions.pick(line.nodes));
      row.addEventListener('pointerenter', () => this.actions.hint(line.nodes));
      row.addEventListener('pointerleave', () => this.actions.hint([]));
    }
    this.rows.set(`${path}:${line.number}`, row);
    return row;
  }
}

/** The text of a line: where it takes several on the screen, they begin below its first word. */
function codeOf(text: string): HTMLElement {
  const words = text.trimStart();
  const indent = words ? Math.min(text.length - words.length, MOST_INDENT) : 0;
  const code = breakInWords(element('code', '', ' '.repeat(indent) + words || ' '));
  code.style.setProperty('--jv-indent', String(indent + FURTHER));
  return code;
}

/** The number of a line, which leads to where it was written. It stands in a button, so it is none for the keyboard. */
function goToButton(spot: SourceSpot, goToLine: (spot: SourceSpot) => void): HTMLElement {
  const number = element('span', 'jv-line-number jv-line-link', String(spot.line));
  number.title = `Go to line ${spot.line} of ${spot.label}`;
  number.addEventListener('click', event => {
    event.stopPropagation();
    goToLine(spot);
  });
  return number;
}

function goneText({ nodes, gone }: SourceLine): string {
  return gone === 0 ? '' : `, ${gone === nodes.length ? 'none' : nodes.length - gone} of them kept by the compiler`;
}

/** Scrolls the pane alone: the notebook around it stays where it is. */
function reveal(row: HTMLElement): void {
  const scroll = row.parentElement;
  if (scroll) {
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < scroll.scrollTop) {
      scroll.scrollTop = top - 8;
    } else if (bottom > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = bottom - scroll.clientHeight + 8;
    }
  }
}

/** Why no line can be shown. */
function whyNone(document: Document): string {
  const named = namedFiles(document);
  return named.length
    ? `The lines of this program are in ${named.join(', ')}, of which nothing is here: it lies elsewhere, or was written to since.`
    : 'The source of this program is not at hand: it was typed where nothing keeps it, or the file is gone.';
}
