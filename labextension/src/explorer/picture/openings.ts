/**
 * What the person has opened: of each stage its open rows and spread stacks. What is opened or closed in one stage is
 * so in the others too, in the rows that are the same there; and a pass of the compiler begins as the one seen before it.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { placeOf } from '../../document/states.ts';
import { rowsLike } from '../../view/counterparts.ts';
import { openEverything, openRow } from '../../view/opening.ts';
import { Apart, Brevity, type ViewState } from '../../view/folds.ts';
import { rowOpens, rowsOf, type Rows } from '../../view/outline.ts';
import type { Versioned, Versions } from '../versions/earlier.ts';
import { openAroundItem } from './where.ts';

type Opened = Required<Pick<ViewState, 'open' | 'spread' | 'brevity' | 'types' | 'long' | 'apart'>>;

/** Something that the person did, to be done in the other stages when they are entered. */
export interface Change {
  readonly graph: Graph;
  readonly row: number;
  readonly does: 'open' | 'close' | 'spread' | 'fold';
  /** Where it is about everything (row 0): whether every equation is a box now. */
  readonly all?: boolean;
}

const NONE: ReadonlySet<number> = new Set();

export class Openings {
  /** Every equation is a box; in all stages. */
  all = false;
  /** True once anything was opened or closed. */
  touched = false;
  private readonly known = new Map<Graph, Opened>();
  private readonly changes: Change[] = [];
  /** How many of the changes have been made in a stage. */
  private readonly made = new Map<Graph, number>();

  /** `graph` is the stage that is seen; `changed` hears what the person opens and closes. */
  constructor(
    private readonly document: Document,
    private graph: Graph,
    private readonly changed: (change: Change) => void = () => undefined
  ) {}

  get state(): ViewState {
    return { ...this.opened, all: this.all };
  }

  get open(): ReadonlySet<number> {
    return this.opened.open;
  }

  get spread(): ReadonlySet<number> {
    return this.opened.spread;
  }

  /** Another stage, or the same one in another space: `first` gives how it is seen at first. */
  enter(graph: Graph, first: () => ViewState): void {
    const before = this.graph;
    this.graph = graph;
    if (!this.touched || !this.known.has(graph)) {
      this.known.set(
        graph,
        this.carried(before, graph) ?? {
          spread: NONE,
          brevity: Brevity.none,
          types: false,
          long: false,
          apart: Apart.none,
          ...first()
        }
      );
    }
    for (const change of this.changes.slice(this.made.get(graph) ?? 0)) {
      if (change.graph !== graph) {
        this.follow(change);
      }
    }
    this.made.set(graph, this.changes.length);
  }

  /** True for a graph of which it is known what is open in it, by what was done here or in a pass of the compiler. */
  knows(number: number): boolean {
    const graph = this.document.graphs[number];
    return (this.touched && this.known.has(graph)) || this.carried(this.graph, graph) !== undefined;
  }

  /** Opens a row or closes it, and its twin with it: forward and backward show the same. */
  toggle(row: number): void {
    const closes = this.open.has(row);
    this.set(closes ? this.without(row) : { open: openRow(this.rows, this.open, row) });
    this.note({ graph: this.graph, row, does: closes ? 'close' : 'open' });
  }

  /** Shows all copies of a stack, or the first one alone again; those of its twin with them. */
  toggleSpread(stack: number): void {
    const folds = this.spread.has(stack);
    this.set(folds ? this.folded(stack) : this.spreadOut(stack));
    this.note({ graph: this.graph, row: stack, does: folds ? 'fold' : 'spread' });
  }

  /** Opens everything; `all`: with the equations that only reshape or copy. */
  openAll(all: boolean): void {
    this.all = all;
    this.set({ open: openEverything(this.rows, true) });
    this.note({ graph: this.graph, row: 0, does: 'open', all });
  }

  closeAll(): void {
    this.all = false;
    this.set({ open: NONE, spread: NONE });
    this.note({ graph: this.graph, row: 0, does: 'close', all: false });
  }

  /** Opens what was open when a view was saved. */
  restore(open: readonly number[], spread: readonly number[], all = false): void {
    this.all = all;
    const { count } = this.rows;
    const known = (rows: readonly number[]): Set<number> =>
      new Set(rows.filter(row => row > 0 && row < count && rowOpens(this.rows, row)));
    this.set({ open: known(open), spread: known(spread) });
    this.touched = true;
  }

  /** Goes on from what a person did while less of the same program was there. */
  goOn(before: Openings): void {
    this.touched = before.touched;
    this.all = before.all && this.same(before, before.graph) !== undefined;
    for (const change of before.changes) {
      const graph = this.same(before, change.graph);
      if (graph) {
        this.changes.push({ ...change, graph });
      }
    }
    this.made.set(this.graph, this.changes.length);
  }

  /**
   * Goes on from what a person did with an earlier version of the program. What is new in the stage on the screen is
   * open as it would be at first; all of it where all of the earlier one was.
   */
  goOnFrom(before: Openings, versions: Versions): void {
    if (!before.touched) {
      return;
    }
    this.touched = true;
    this.all = before.all;
    const changes = before.changes.map(change => this.inVersion(change, versions));
    for (const [graph, opened] of before.known) {
      const now = versions.of(graph);
      if (now && (now.graph === this.graph || !this.known.has(now.graph))) {
        this.known.set(now.graph, this.openedIn(now, opened, before, graph));
        const made = changes.slice(0, before.made.get(graph) ?? 0).filter(change => change !== null);
        this.made.set(now.graph, made.length);
      }
    }
    this.changes.push(...changes.filter(change => change !== null));
  }

  private inVersion(change: Change, versions: Versions): Change | null {
    const now = versions.of(change.graph);
    const row = now && change.row > 0 ? now.rows.now[change.row] : 0;
    return now && row >= 0 ? { ...change, graph: now.graph, row } : null;
  }

  /** What is open of another version of a graph, of which `opened` was. */
  private openedIn({ graph, rows: same }: Versioned, opened: Opened, before: Openings, was: Graph): Opened {
    const [rowsBefore, rows] = [rowsOf(before.document, was), rowsOf(this.document, graph)];
    const kept = (some: Iterable<number>): number[] =>
      [...some].map(row => same.now[row]).filter(row => row > 0 && rowOpens(rows, row));
    const spread = new Set(kept(opened.spread).filter(row => rows.outline.count[row] > 1));
    const everything = openEverything(rowsBefore, true);
    if (everything.size && [...everything].every(row => opened.open.has(row))) {
      return { ...opened, open: openEverything(rows, true), spread };
    }
    const first = this.known.get(graph)?.open ?? NONE;
    const fresh = [...first].filter(row => same.before[row] < 0);
    return { ...opened, open: new Set([...kept(opened.open), ...fresh]), spread };
  }

  /** The graph that stands here where one stood before; none where it is another program's. */
  private same(before: Openings, graph: Graph): Graph | undefined {
    const here = this.document.graphs[before.document.graphs.indexOf(graph)];
    return here?.nodeCount === graph.nodeCount ? here : undefined;
  }

  /** Opens what is around an item; true if anything was closed. */
  revealItem(item: number): boolean {
    const open = openAroundItem(this.rows, this.open, item);
    const changes = open !== this.open;
    this.touched ||= changes;
    this.set({ open });
    return changes;
  }

  /** A pass begins as the one that was seen before it, so that only what it changed looks different. */
  private carried(before: Graph, graph: Graph): Opened | undefined {
    const { document } = this;
    const there = this.known.get(before);
    const isPass = (one: Graph): boolean => placeOf(document, document.graphs.indexOf(one)) !== undefined;
    if (!there || before === graph || !isPass(before) || !isPass(graph)) {
      return undefined;
    }
    const rows = rowsOf(document, graph);
    const like = (open: ReadonlySet<number>): Set<number> =>
      new Set([...open].flatMap(row => rowsLike(document, before, row, graph)).filter(row => rowOpens(rows, row)));
    const spread = [...like(there.spread)].filter(row => rows.outline.count[row] > 1);
    const open = like(there.open);
    return open.size || !there.open.size ? { ...there, open, spread: new Set(spread) } : undefined;
  }

  private get rows(): Rows {
    return rowsOf(this.document, this.graph);
  }

  private get opened(): Opened {
    return (
      this.known.get(this.graph) ?? {
        open: NONE,
        spread: NONE,
        brevity: Brevity.none,
        types: false,
        long: false,
        apart: Apart.none
      }
    );
  }

  private set(change: Partial<Opened>): void {
    // What a person opens tells apart what it shows, whatever the room.
    this.known.set(this.graph, { ...this.opened, apart: Apart.beside, ...change });
  }

  private note(change: Change): void {
    this.touched = true;
    this.changes.push(change);
    this.made.set(this.graph, this.changes.length);
    this.changed(change);
  }

  /** Does what was done in the picture beside; false where there is nothing of the kind here. */
  copy(change: Change): boolean {
    const { open, spread } = this.opened;
    this.touched = true;
    this.all = change.all ?? this.all;
    this.follow(change);
    return open !== this.open || spread !== this.spread;
  }

  private without(row: number): Partial<Opened> {
    const shut = new Set([row, this.rows.outline.twin[row]]);
    return { open: new Set([...this.open].filter(one => !shut.has(one))) };
  }

  /** A stack that is spread is open. */
  private spreadOut(stack: number): Partial<Opened> {
    return { open: openRow(this.rows, this.open, stack), spread: new Set([...this.spread, ...this.withTwin(stack)]) };
  }

  private folded(stack: number): Partial<Opened> {
    const both = this.withTwin(stack);
    return { spread: new Set([...this.spread].filter(row => !both.includes(row))) };
  }

  private withTwin(stack: number): number[] {
    const { twin, count } = this.rows.outline;
    return twin[stack] >= 0 && count[twin[stack]] > 1 ? [stack, twin[stack]] : [stack];
  }

  private openAroundRow(row: number): void {
    const { parent } = this.rows.outline;
    const open = new Set(this.open);
    for (let at = parent[row]; at > 0; at = parent[at]) {
      if (rowOpens(this.rows, at)) {
        open.add(at);
      }
    }
    this.set({ open });
  }

  /** Does here what was done in another stage. */
  private follow({ graph, row, does }: Change): void {
    if (row === 0) {
      this.set(does === 'open' ? { open: openEverything(this.rows, true) } : { open: NONE, spread: NONE });
      return;
    }
    for (const like of rowsLike(this.document, graph, row, this.graph).filter(one => rowOpens(this.rows, one))) {
      if (does === 'close') {
        this.set(this.without(like));
      } else if (does === 'fold') {
        this.set(this.folded(like));
      } else {
        this.openAroundRow(like);
        const many = this.rows.outline.count[like] > 1;
        this.set(does === 'spread' && many ? this.spreadOut(like) : { open: openRow(this.rows, this.open, like) });
      }
    }
  }
}
