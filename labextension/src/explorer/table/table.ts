/**
 * The operations of the stage on the screen as a table below the picture: which take longest, which move most. Linked
 * both ways: what is picked in it is selected in the picture, what is selected there is marked in it.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { canRun } from '../../document/programs.ts';
import { placeOf } from '../../document/states.ts';
import { itemOfNode } from '../../view/folds.ts';
import { kernelCount } from '../../view/kernels.ts';
import { eachOf, groupings, groupsOf, type Grouping, type Listing } from '../../view/listing.ts';
import { measuredOf } from '../../view/measures.ts';
import { hasKernels } from '../../view/operations.ts';
import type { Search } from '../bar/search.ts';
import type { Beside } from '../compare/beside.ts';
import { numberText } from '../../view/words.ts';
import { button, element } from '../elements.ts';
import { selectNodes } from '../going.ts';
import { Grip } from '../grip.ts';
import { takesKeys } from '../ownKeys.ts';
import type { Pane } from '../picture/pane.ts';
import type { SavedTable } from '../versions/saved.ts';
import { fold } from '../strips/fold.ts';
import { asText } from './asText.ts';
import { besidesOf } from './beside.ts';
import { columnsOf, type Column } from './columns.ts';
import { footOf, operationsIn } from './foot.ts';
import { Grid } from './grid.ts';
import { sorted, type Sorting } from './sorting.ts';

/** A program of no more operations is seen at a look: its table is there for those who ask for it. */
const FEW = 10;
/** px of the rows in sight at first. */
const HEIGHT = 200;
/** Boxes of so many operations are marked at once. */
const POINTED = 400;
const EACH = 'each';
const COPY = 'copy';

export interface TableParts {
  /** The picture with the focus, and where the one beside it is found. */
  pane(): Pane;
  beside(): Pick<Beside, 'other'>;
  /** Something of it is otherwise that is kept with the view. */
  changed(): void;
}

/** How it stands, for the picture that takes the place of this one. */
export interface TableStand {
  readonly open: boolean;
  readonly by: string;
  readonly sorting: Sorting | null;
  readonly height: number;
}

interface Rows {
  readonly graph: Graph;
  readonly by: string;
  readonly there: Graph | undefined;
  readonly listing: Listing;
  readonly grouping: Grouping | undefined;
  readonly columns: readonly Column[];
}

const NO_ROWS = { members: new Int32Array(0), first: new Int32Array(0) };

export class OperationTable {
  readonly root = element('section', 'jv-table');
  private readonly strip = fold('', 'The operations, sorted by what they take (o)', () => this.change());
  private readonly grid: Grid;
  private readonly foot = element('p', 'jv-table-foot');
  private readonly by = element('select', 'jv-select');
  private readonly tools = element('span', 'jv-table-tools');
  private readonly copier = button('jv-link', COPY, 'Copy the rows for a spreadsheet', () => this.copy());
  private readonly grip: Grip;
  private graph: Graph | null = null;
  /** What the person chose to sort by. */
  private chosen: Sorting | null = null;
  private height = HEIGHT;
  private rows: Rows | null = null;
  private order: Int32Array = new Int32Array(0);

  constructor(
    private readonly source: Document,
    private readonly search: Pick<Search, 'nodes'>,
    private readonly parts: TableParts
  ) {
    const { root, strip, by, tools, foot } = this;
    root.setAttribute('aria-label', 'operations');
    root.hidden = !isWorthTelling(source);
    by.setAttribute('aria-label', 'rows');
    by.title = 'What is a row: each operation, or all that have something in common';
    by.append(...[{ key: EACH, label: EACH }, ...groupings].map(one => option(one.key, one.label)));
    by.addEventListener('change', () => this.change());
    for (const kind of ['focus', 'pointerdown']) {
      by.addEventListener(kind, () => this.offer());
    }
    tools.append(by, this.copier);
    strip.head.append(tools);
    this.grid = new Grid({
      sort: key => this.sort(key),
      pick: row => this.pick(row),
      point: row => this.point(row),
      leave: () => parts.pane().focus()
    });
    takesKeys(this.grid.root, key => this.grid.press(key));
    this.grip = new Grip(
      () => this.height,
      height => this.setHeight(height),
      'table',
      () => root.closest('.jv-fill, .jv-whole') !== null
    );
    strip.more.classList.add('jv-table-more');
    strip.more.append(this.grid.root, foot);
    root.append(...strip.parts, this.grip.root);
    this.setHeight(HEIGHT);
  }

  dispose(): void {
    this.grid.dispose();
  }

  get standing(): TableStand {
    const { strip, by, chosen, height } = this;
    return { open: strip.open, by: by.value, sorting: chosen, height };
  }

  stand({ open, by, sorting, height }: TableStand): void {
    this.by.value = by;
    this.chosen = sorting;
    this.setHeight(height);
    if (open) {
      this.root.hidden = false;
      this.strip.set(true);
    }
  }

  /** What is kept of it with the view; undefined while it is closed. */
  get saved(): SavedTable | undefined {
    const { strip, by, chosen } = this;
    return strip.open ? { by: by.value, ...(chosen ? { sorting: chosen } : {}) } : undefined;
  }

  /** Shows it as it was saved; where it was not, it stays as it is. */
  restore(saved: SavedTable | undefined): void {
    if (saved) {
      const { sorting = null } = saved;
      const by = groupings.some(({ key }) => key === saved.by) ? saved.by : EACH;
      this.stand({ open: true, by, sorting, height: this.height });
    }
  }

  /** Opens it for the keyboard, or closes it. */
  toggle(): void {
    const { root, strip, grid } = this;
    if (strip.open) {
      strip.set(false);
      this.parts.pane().focus();
    } else {
      root.hidden = false;
      strip.set(true);
      grid.focus();
      root.scrollIntoView?.({ block: 'nearest' });
    }
  }

  /** Handles a key that was pressed on the grip; false for any other. */
  press(event: KeyboardEvent): boolean {
    return this.grip.press(event);
  }

  /** The person has it otherwise. */
  private change(): void {
    this.show();
    this.parts.changed();
  }

  /** Another stage is on the screen, or other operations are searched for. */
  show(): void {
    const { strip, parts, by, grid, tools, foot } = this;
    const document = this.source;
    this.graph = parts.pane().viewing.graph;
    strip.title.textContent = titleOf(document, this.graph);
    tools.hidden = this.grip.root.hidden = !strip.open;
    if (!strip.open) {
      return;
    }
    const { graph } = this;
    const listed = this.list(graph, by.value);
    const { listing, columns, grouping } = listed;
    const sorting = this.sorting;
    const matches = this.search.nodes;
    const shown = sorted(columns, listing.count, sorting);
    const found = matches.length ? rowsWith(listing, matches) : null;
    this.order = found ? shown.filter(row => found[row]) : shown;
    const { order } = this;
    grid.fill({ columns, order, sorting }, `operations of ${strip.title.textContent}`);
    this.copier.textContent = COPY;
    const asked = groupings.find(({ key }) => key === by.value);
    const alone = asked && !grouping ? `by ${asked.label} all are one group: each by itself · ` : '';
    foot.textContent = alone + footOf(document, graph, listing, order, grouping?.label);
    this.mark();
  }

  /** The rows and columns of a stage, worked out once as long as both stay. */
  private list(graph: Graph, by: string): Rows {
    const { parts, source: document } = this;
    const pane = parts.pane();
    const there = parts.beside().other(pane)?.viewing;
    if (this.rows?.graph !== graph || this.rows.by !== by || this.rows.there !== there?.graph) {
      const asked = groupings.find(({ key }) => key === by);
      const groups = asked && groupsOf(document, graph, asked);
      const grouping = groups ? asked : undefined;
      const listing = groups ?? eachOf(document, graph);
      const besides = besidesOf(document, pane.viewing, there, listing, grouping);
      const columns = columnsOf({ document, graph, listing, grouping, besides });
      this.rows = { graph, by, there: there?.graph, listing, grouping, columns };
    }
    return this.rows;
  }

  /** Marks the rows of what is selected in the picture. */
  mark(): void {
    const { rows: listed, parts, strip } = this;
    const { graph, told } = parts.pane().viewing;
    if (strip.open && listed?.graph === graph) {
      const rows = new Set(told.map(node => listed.listing.rowOf[node]));
      rows.delete(-1);
      this.grid.mark(rows);
    }
  }

  /** What the person chose, where this stage has it; else what says most. */
  private get sorting(): Sorting {
    const { chosen, rows } = this;
    const has = (key: string): boolean => rows?.columns.some(column => column.key === key) ?? false;
    if (chosen && has(chosen.by)) {
      return chosen;
    }
    return { by: ['seconds', 'share', 'count', 'order'].find(has) ?? 'name', reversed: false };
  }

  private sort(key: string): void {
    const { by, reversed } = this.sorting;
    this.chosen = { by: key, reversed: by === key && !reversed };
    this.change();
  }

  private pick(row: number): void {
    selectNodes(this.parts.pane(), [...this.membersOf(row)]);
  }

  private membersOf(row: number): Int32Array {
    const { members, first } = this.rows?.listing ?? NO_ROWS;
    return members.subarray(first[row], first[row + 1]);
  }

  /** Marks where a row is in the picture. */
  private point(row: number): void {
    const pane = this.parts.pane();
    const nodes = row < 0 ? [] : this.membersOf(row).subarray(0, POINTED);
    const boxes = new Set(Array.from(nodes, node => pane.boxOfItem(itemOfNode(node))));
    boxes.delete(-1);
    pane.picture.point([...boxes]);
  }

  /** Only what makes several groups of this stage can be chosen. */
  private offer(): void {
    const { graph, source } = this;
    groupings.forEach((grouping, at) => {
      this.by.options[at + 1].disabled = !graph || !groupsOf(source, graph, grouping);
    });
  }

  private copy(): void {
    const { copier } = this;
    const { clipboard } = navigator;
    const done = clipboard
      ? clipboard.writeText(asText(this.rows?.columns ?? [], this.order))
      : Promise.reject(new Error('there is no clipboard here'));
    done.then(
      () => (copier.textContent = 'copied'),
      () => (copier.textContent = 'not copied: the browser does not allow it')
    );
  }

  private setHeight(height: number): void {
    this.height = height;
    this.grid.root.style.height = `${height}px`;
  }
}

function option(key: string, label: string): HTMLOptionElement {
  const made = element('option', '', key === EACH ? label : `by ${label}`);
  made.value = key;
  return made;
}

/** True for a program that is not seen at a look: of many operations, measured, or a file of the compiler's. */
function isWorthTelling(source: Document): boolean {
  const { graphs, programs, measures } = source;
  return (
    measures.length > 0 ||
    programs.some(
      ({ stages }, program) => !canRun(source, program) || stages.some(({ graph }) => operationsIn(graphs[graph]) > FEW)
    )
  );
}

function titleOf(document: Document, graph: Graph): string {
  const kernels = hasKernels(document, graph);
  const count = numberText(kernels ? kernelCount(document, graph) : operationsIn(graph));
  const what = kernels ? 'kernels' : 'operations';
  if (measuredOf(document, graph)) {
    return `${what}: which of ${count} take longest`;
  }
  // Of what the compiler had before, no bytes are counted.
  const counted = kernels && placeOf(document, document.graphs.indexOf(graph)) === undefined;
  return `${what}: which of ${count} ${counted ? 'read and write' : 'compute'} most`;
}

function rowsWith({ rowOf, count }: Listing, matches: Uint8Array): Uint8Array {
  const found = new Uint8Array(count);
  matches.forEach((one, node) => {
    if (one && rowOf[node] >= 0) {
      found[rowOf[node]] = 1;
    }
  });
  return found;
}
