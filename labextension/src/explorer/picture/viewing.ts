/**
 * How a person looks at a document in one picture: the stage on the screen, what is open in it, what is selected and lit.
 * Knows nothing of the screen.
 */
import { follow, type Followed } from '../../document/follow.ts';
import type { Document, Graph, Stage } from '../../document/graph.ts';
import { graphName, graphNamed, programOf } from '../../document/programs.ts';
import { rowMostLike } from '../../view/counterparts.ts';
import type { ViewState } from '../../view/folds.ts';
import { kernelTreeOf } from '../../view/kernelTree.ts';
import { rowsOf, type Rows } from '../../view/outline.ts';
import { Openings, type Change } from './openings.ts';
import { itemFor, itemLabel, nodesOf } from '../details/row.ts';
import type { SavedView } from '../versions/saved.ts';

type Saved = Pick<SavedView, 'stage' | 'open' | 'spread' | 'all' | 'selected' | 'kernels'>;

/** An item of a graph of the document; null where nothing is selected in it. */
interface Selection {
  readonly at: number;
  readonly item: number | null;
}

export class Viewing {
  /** The graph on the screen, and what is open in it. */
  graph: Graph;
  readonly openings: Openings;
  /** What is selected: an item of the view, which may be hidden in a closed row. */
  selected: number | null = null;
  /** Nodes that belong with the selection: a line's, or those that a selection in another stage became. */
  linked: readonly number[] = [];
  /** What was lit that tells of its own graph alone, as what a pass of the compiler did: it goes along nowhere. */
  private passing: readonly number[] = [];
  /** Where the ways to the selection begin that are shown; null where none are asked for. */
  origin: number | null = null;
  /** True where kernels are shown. */
  kernels = false;
  /** What the person chose last, which is come back to whatever the graphs in between have of it. */
  private chosen: Selection | null = null;

  /** `at` is the number of the graph on the screen; `opened` hears what the person opens and closes. */
  constructor(
    private readonly document: Document,
    public at: number,
    opened?: (change: Change) => void
  ) {
    this.graph = document.graphs[at];
    this.openings = new Openings(document, this.graph, opened);
  }

  get rows(): Rows {
    return rowsOf(this.document, this.graph);
  }

  /** The nodes that the selection stands for. */
  get selectedNodes(): readonly number[] {
    return this.selected === null ? [] : nodesOf(this.graph, this.rows, this.selected);
  }

  /** The nodes that are selected or, without a selection, lit. */
  get told(): readonly number[] {
    return this.selected === null ? this.linked : this.selectedNodes;
  }

  /** The number of the graph of a stage: the optimized program is folded by its kernels while these are shown. */
  graphOf(stage: Stage): number {
    const tree = this.kernels && stage.kind === 'hlo' ? kernelTreeOf(this.document, stage.graph) : undefined;
    return tree ?? stage.graph;
  }

  /** True where the program was compiled, which makes its kernels. */
  get knowsKernels(): boolean {
    return this.stages.some(({ kind }) => kind === 'hlo');
  }

  /** The place of the stage on the screen among those of the program; -1 while a pass is shown. */
  get stageIndex(): number {
    return this.stages.findIndex(stage => this.graphOf(stage) === this.at);
  }

  /** The stage on the screen; none while a pass is shown. */
  get stage(): Stage | undefined {
    return this.stages[this.stageIndex];
  }

  /** Shows another graph, with what is open in it at first where it is new. */
  change(graph: number, first: () => ViewState): void {
    this.at = graph;
    this.graph = this.document.graphs[graph];
    this.openings.enter(this.graph, first);
  }

  /**
   * Shows another graph. The selection goes along the links, to `node` where that is given, and so does what was lit.
   * Returns the name of what was selected where it has no counterpart there.
   */
  goAlong(graph: number, node: number, first: () => ViewState): string {
    const from = this.startOf(graph);
    const before = this.document.graphs[from.at];
    const rows = rowsOf(this.document, before);
    const lit = this.linked === this.passing ? [] : this.linked;
    const nodes = from.item === null ? lit : nodesOf(before, rows, from.item);
    const found = nodes.flatMap(one => follow(this.document, from.at, one, graph));
    this.change(graph, first);
    this.origin = null;
    if (node >= 0) {
      this.choose(itemFor(this.graph, this.rows, node));
    } else if (from.at === graph) {
      this.selected = from.item;
    } else {
      this.selected = this.itemAmong(found, before, nodes.length > 1 ? from.item : null);
    }
    this.linked = from.at === graph ? [] : found.map(one => one.node);
    if (this.selected !== null) {
      this.openings.revealItem(this.selected);
      return '';
    }
    return from.item === null ? '' : itemLabel(this.document, before, rows, from.item);
  }

  /**
   * Where the way to another graph begins: at the selection; at what the person chose, where that has no counterpart
   * here or where this leads back to it.
   */
  private startOf(graph: number): Selection {
    const { at, chosen, linked, selected } = this;
    const lost = selected === null && !linked.length;
    return chosen && (lost || (selected !== null && chosen.at === graph)) ? chosen : { at, item: selected };
  }

  /** What is selected of what was found here: the like of `row` of the graph `before`, or what is surest. */
  private itemAmong(found: readonly Followed[], before: Graph, row: number | null): number | null {
    const like = row === null || row < 0 ? -1 : rowMostLike(this.document, before, row, this.graph);
    const surest = Math.min(...found.map(({ kind }) => kind));
    const first = found.find(({ kind }) => kind === surest);
    return like >= 0 ? like : first ? itemFor(this.graph, this.rows, first.node) : null;
  }

  select(item: number | null): void {
    this.choose(item);
    this.linked = [];
  }

  /** Selects an item; what is lit stays so. */
  choose(item: number | null): void {
    this.selected = item;
    this.chosen = item === null ? null : { at: this.at, item };
  }

  /** Lights nodes; those that are lit already go out. True where they are lit now. */
  light(nodes: readonly number[]): boolean {
    const same = this.linked.length > 0 && nodes[0] === this.linked[0] && nodes.length === this.linked.length;
    this.select(null);
    this.linked = same ? [] : nodes;
    return !same;
  }

  /** Lights nodes for as long as this graph is on the screen. */
  lightHere(nodes: readonly number[]): void {
    this.light(nodes);
    this.passing = this.linked;
  }

  /** As data, for the notebook or as text. */
  get saved(): Saved {
    return {
      stage: graphName(this.document, this.at, this.stage),
      open: [...this.openings.open],
      spread: [...this.openings.spread],
      ...(this.openings.all ? { all: true } : {}),
      selected: this.selected,
      kernels: this.kernels
    };
  }

  /** The graph that a view was saved of; the first stage where it is not there any more. */
  graphNamed(name: string): number {
    const found = graphNamed(this.document, name);
    return typeof found === 'number' ? found : this.graphOf(found.stage);
  }

  /** Opens and selects what was so in a view that was saved, on the graph on the screen. */
  restore({ open, spread, all, selected }: Saved): void {
    this.openings.restore(open, spread, all);
    const known = selected !== null && selected >= -this.graph.nodeCount && selected < this.rows.count;
    this.select(known ? selected : null);
    this.origin = null;
  }

  /** The number of the program that the graph on the screen belongs to. */
  get program(): number {
    return programOf(this.document, this.at);
  }

  private get stages(): readonly Stage[] {
    return this.document.programs[this.program].stages;
  }
}
