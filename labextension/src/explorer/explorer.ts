/**
 * The explorer: the bar, the picture and the details of one document, put together. The same in a cell, in a file that
 * was opened and in a page of its own; it knows nothing of its host but the element that it stands in.
 */
import { follow } from '../document/follow.ts';
import type { Document, Finding, Graph, Stage } from '../document/graph.ts';
import { makeScene, MARGIN, type Scene } from '../draw/scene.ts';
import { measure } from '../draw/text.ts';
import { palettes, type Theme } from '../draw/theme.ts';
import type { LayoutClient, LayoutJob } from '../layout/client.ts';
import { layout } from '../layout/layout.ts';
import { counterparts } from '../view/counterparts.ts';
import { hullsOf } from '../view/hulls.ts';
import { kernelTreeOf, withKernelTree } from '../view/kernelTree.ts';
import { aspectOf, firstView, openEverything, type Space } from '../view/first.ts';
import { rowOpens, rowsOf, type Rows } from '../view/outline.ts';
import { placesBefore, toLayout } from '../view/place.ts';
import { boxOfItem, boxOfNode } from '../view/seen.ts';
import { show } from '../view/view.ts';
import { copyTable } from '../view/differences.ts';
import { makeBar, type Bar } from './bar.ts';
import { Colours } from './colours.ts';
import { crumbsOf, Trail } from './trail.ts';
import { relate } from './relate.ts';
import { makeCopies } from './copies.ts';
import { details } from './details.ts';
import { itemFor, itemLabel, nodesOf, rowDetails } from './row.ts';
import { element } from './elements.ts';
import { FindingStrip, nodesOfFinding } from './findings.ts';
import { makeHelp } from './help.ts';
import { hearKeys } from './hearing.ts';
import { Keeping } from './keeping.ts';
import type { Command } from './keys.ts';
import { Openings } from './openings.ts';
import { Grip } from './grip.ts';
import type { SavedView } from './saved.ts';
import { SourcePane } from './source.ts';
import { Inspection } from './inspection.ts';
import { Legend, LEGEND_HEIGHT } from './legend.ts';
import { marksOf } from './marks.ts';
import { PassSlider } from './passes.ts';
import { Picture } from './picture.ts';
import { stackAround } from '../view/copies.ts';
import { followTheme } from './theme.ts';
import { Search } from './search.ts';
import { fillTree, selectInTree } from './tree.ts';
import { walk, type Direction } from './walk.ts';
import { openRowAround } from './where.ts';
import { WholeWindow } from './whole.ts';

export interface ExplorerOptions {
  readonly document: Document;
  readonly layouts: LayoutClient;
  /** Height in px; without it the explorer is as high as its picture needs, within bounds. */
  readonly height?: number;
  /** Kind of the stage that is shown first; the first of the document where it is absent. */
  readonly stage?: string;
  /** What was seen when the notebook was saved. */
  readonly view?: SavedView;
  /** Called when the person has changed what is seen, for the host to keep it. */
  readonly save?: (view: SavedView) => void;
  /** True where the host gives the height, as for a file in a tab of its own. */
  readonly fill?: boolean;
}

/** Height of a picture in a cell, in px. */
const LEAST_HEIGHT = 90;
const MOST_HEIGHT = 460;
/** The first view of a cell is chosen for this height. */
const FIRST_HEIGHT = MOST_HEIGHT - LEGEND_HEIGHT;
const FIRST_WIDTH = 760;

/** Begins the name of a stage that is a pass, before the number of its graph. */
const PASS = 'pass-';

let count = 0;

export class Explorer {
  readonly root = element('div', 'jv-root');
  private readonly options: ExplorerOptions;
  /** The stage on the screen: the number of its graph, and the graph. */
  private at = 0;
  private graph: Graph;
  /** Nodes that belong with the selection: a line's, or those that a selection in another stage became. */
  private linked: readonly number[] = [];
  private readonly pythonPane: SourcePane;
  private readonly passes: PassSlider;
  private readonly search: Search;
  private readonly colours: Colours;
  private readonly stage = element('div', 'jv-stage-area');
  private readonly inspection = new Inspection();
  private readonly legend = new Legend();
  private readonly note = element('div', 'jv-note');
  private readonly trail = new Trail({ leaveTo: row => this.leaveTo(row) });
  private readonly tree = element('div', 'jv-tree');
  private readonly help: HTMLElement;
  private readonly bar: Bar;
  private readonly picture: Picture;
  private readonly prefix = `jv-${++count}-`;
  private readonly stopFollowing: () => void;
  private readonly stopHearing: () => void;
  private theme: Theme = 'light';
  private readonly openings: Openings;
  private scene: Scene | null = null;
  /** The scene that was shown last, also while another stage is on its way. */
  private last: Scene | null = null;
  private job: LayoutJob | null = null;
  private kernels = false;
  /** What is selected: an item of the view, which may be hidden in a closed row. */
  private selected: number | null = null;
  /** Where the ways to the selection begin that are shown; null where none are asked for. */
  private origin: number | null = null;
  private readonly whole = new WholeWindow(this.root);
  private readonly grip = new Grip(
    () => this.stage.offsetHeight,
    height => this.resize(height)
  );
  /** The height that the person chose, in px. */
  private height: number | null = null;
  private readonly keeping: Keeping;

  constructor(host: HTMLElement, given: ExplorerOptions) {
    this.options = { ...given, document: withKernelTree(given.document) };
    const { document: source, ...options } = this.options;
    const { stages } = source.programs[0];
    this.at = (stages.find(({ kind }) => kind === options.stage) ?? stages[0]).graph;
    this.graph = source.graphs[this.at];
    this.openings = new Openings(source, this.graph);
    this.pythonPane = new SourcePane(source, {
      pick: nodes => this.pick(nodes),
      close: () => this.obey('source')
    });
    this.keeping = new Keeping({
      document: source,
      ...(options.save ? { save: options.save } : {}),
      now: () => this.view,
      restore: view => {
        this.restore(view);
        this.focus();
      },
      say: text => this.say(text),
      offer: text => this.search.open(this.graph, text)
    });
    this.passes = new PassSlider(source, {
      enter: graph => this.enter(graph),
      stage: kind => this.obey(kind),
      light: nodes => this.pick(nodes),
      say: text => this.say(text)
    });
    this.search = new Search(source, {
      paste: text => this.keeping.paste(text),
      changed: () => this.relate(),
      goTo: item => this.goTo(item),
      close: () => this.leaveSearch()
    });
    this.colours = new Colours(source, () => this.recolour());
    this.colours.setGraph(this.graph);
    this.bar = makeBar(source, { obey: this.obey, stage: index => this.setStage(index) }, this.passes.root, [
      this.colours.root
    ]);
    this.help = makeHelp(() => this.obey('help'));
    this.build(host);
    this.stopHearing = hearKeys({
      root: this.root,
      stage: this.stage,
      parts: [this.search, this.grip, { press: event => this.picture.hear(event) }],
      obey: this.obey
    });
    this.picture = new Picture(this.stage, palettes[this.theme], {
      select: (box, more) => this.click(box, more),
      toggle: box => box >= 0 && this.scene && this.toggle(this.scene.visible.item[box]),
      spread: box => this.scene && this.spread(this.scene.visible.item[box])
    });
    this.stopFollowing = followTheme(theme => this.setTheme(theme));
    if (options.fill) {
      this.showSource(true);
    }
    if (options.view) {
      this.restore(options.view);
    } else {
      this.start();
      void this.layOut();
    }
  }

  dispose(): void {
    this.job?.cancel();
    this.stopFollowing();
    this.stopHearing();
    this.picture.dispose();
    this.root.remove();
    this.whole.dispose();
  }

  /** Where the first box of a label stands, from the corner of the picture; for scripts of the page and for tests. */
  locate(label: string): { x: number; y: number } | null {
    const box = this.scene?.visible.label.indexOf(label) ?? -1;
    return this.picture.locate(box);
  }

  /** The labels of the boxes on the screen. */
  get labels(): readonly string[] {
    return this.scene?.visible.label ?? [];
  }

  private build(host: HTMLElement): void {
    const { root, stage, tree } = this;
    root.classList.toggle('jv-fill', this.options.fill === true);
    stage.tabIndex = 0;
    stage.setAttribute('role', 'application');
    stage.setAttribute('aria-roledescription', 'graph');
    stage.setAttribute('aria-label', `${this.options.document.programs[0]?.call ?? 'program'}; ? for keys`);
    tree.setAttribute('role', 'tree');
    tree.id = `${this.prefix}tree`;
    tree.setAttribute('aria-label', 'operations');
    stage.setAttribute('aria-controls', tree.id);
    stage.append(this.legend.root, this.note, this.trail.root, tree);
    const body = element('div', 'jv-body');
    body.append(this.pythonPane.root, stage, this.inspection.root, this.help);
    const findings = new FindingStrip(this.options.document, { show: finding => this.showFinding(finding) });
    root.append(this.bar.root, this.passes.line, this.search.root, body, this.grip.root, findings.root);
    this.grip.root.hidden = this.options.fill === true;
    Object.assign(root, { explorer: this });
    host.append(root);
  }

  private start(): void {
    const { document: source } = this.options;
    this.openings.enter(this.graph, () => firstView(source, this.graph, this.space(), measure, layout).open);
    this.bar.setRegions(openEverything(this.rows, true).size > 0);
    this.bar.setStage(this.stageIndex);
    this.passes.show(this.at);
    if (this.pythonPane.shown) {
      this.pythonPane.fill(this.graph);
    }
  }

  /** The room for the picture. */
  private space(): Space {
    const { height, fill } = this.options;
    const whole = fill === true || this.whole.on;
    return {
      width: (this.stage.clientWidth || FIRST_WIDTH) - 2 * MARGIN,
      height: (whole ? this.stage.clientHeight || FIRST_HEIGHT : (height ?? FIRST_HEIGHT)) - 2 * MARGIN
    };
  }

  private get rows(): Rows {
    return rowsOf(this.options.document, this.graph);
  }

  /** The nodes that the selection stands for. */
  private get selectedNodes(): readonly number[] {
    return this.selected === null ? [] : nodesOf(this.graph, this.rows, this.selected);
  }

  /** Shows another stage. The selection goes along the links, and so does what was lit. */
  private setStage(index: number, node = -1): void {
    const stage = this.options.document.programs[0].stages[index];
    if (stage) {
      this.enter(this.graphOf(stage), node);
    }
  }

  /** The number of the graph of a stage: the optimized program is folded by its kernels while these are shown. */
  private graphOf(stage: Stage): number {
    const { document: source } = this.options;
    const tree = this.kernels && stage.kind === 'hlo' ? kernelTreeOf(source) : undefined;
    return tree ? source.graphs.indexOf(tree) : stage.graph;
  }

  /** The place of the stage on the screen among those of the program; -1 while a pass is shown. */
  private get stageIndex(): number {
    return this.options.document.programs[0].stages.findIndex(stage => this.graphOf(stage) === this.at);
  }

  /** Shows another graph. The selection goes along the links, and so does what was lit. */
  private enter(graph: number, node = -1): void {
    const { document: source } = this.options;
    if (graph === this.at) {
      return;
    }
    const from = this.at;
    const left = this.selected;
    const leftName = left === null ? '' : itemLabel(source, this.graph, this.rows, left);
    const found = this.selectedNodes.flatMap(one => follow(source, from, one, graph));
    this.change(graph);
    const surest = Math.min(...found.map(({ kind }) => kind));
    const to = node >= 0 ? node : (found.find(({ kind }) => kind === surest)?.node ?? -1);
    this.origin = null;
    this.linked = found.map(one => one.node);
    this.selected = to < 0 ? null : itemFor(this.graph, this.rows, to);
    this.openings.reveal(to);
    void this.layOut(this.selected, this.graph === kernelTreeOf(source)).then(() => {
      if (left !== null && to < 0) {
        this.say(`${leftName} has no counterpart here`);
      }
    });
    this.focus();
  }

  /** Shows another graph as it was left, or for the first time. */
  private change(graph: number): void {
    this.at = graph;
    this.graph = this.options.document.graphs[graph];
    this.scene = null;
    this.search.setGraph(this.graph);
    this.colours.setGraph(this.graph);
    this.start();
  }

  /** What is seen, for the notebook or as text. */
  get view(): SavedView {
    return {
      stage: this.options.document.programs[0].stages[this.stageIndex]?.kind ?? `${PASS}${this.at}`,
      open: [...this.openings.open],
      spread: [...this.openings.spread],
      selected: this.selected,
      kernels: this.kernels,
      colour: this.colours.key,
      search: this.search.query,
      height: this.height
    };
  }

  /** Shows a view that was saved or copied. */
  restore(view: SavedView): void {
    const { document: source } = this.options;
    const { stages } = source.programs[0];
    this.kernels = view.kernels;
    this.bar.setKernels(view.kernels);
    const pass = view.stage.startsWith(PASS) ? Number(view.stage.slice(PASS.length)) : -1;
    this.change(source.graphs[pass] ? pass : this.graphOf(stages.find(({ kind }) => kind === view.stage) ?? stages[0]));
    this.openings.restore(view.open, view.spread);
    const { selected } = view;
    const known = selected !== null && selected >= -this.graph.nodeCount && selected < this.rows.count;
    this.selected = known ? selected : null;
    this.origin = null;
    this.linked = [];
    this.height = view.height ?? this.height;
    this.colours.choose(view.colour);
    this.search.restore(view.search);
    void this.layOut(this.selected);
  }

  private resize(height: number): void {
    this.height = height;
    this.stage.style.height = `${height}px`;
    this.keeping.keep();
  }

  private boxOf(node: number): number {
    return this.scene ? boxOfNode(this.rows, this.scene.visible, node) : -1;
  }

  /** The box of the selection, or of the closed row around it. */
  private selectedBox(): number {
    return this.selected === null ? -1 : this.boxOfItem(this.selected);
  }

  private boxOfItem(item: number): number {
    return this.scene ? boxOfItem(this.rows, this.scene.visible, item) : -1;
  }

  /** Lights what a line of the source became; a second click lets go. */
  private pick(nodes: readonly number[]): void {
    const same = this.linked.length > 0 && nodes[0] === this.linked[0] && nodes.length === this.linked.length;
    this.linked = same ? [] : nodes;
    this.selected = null;
    this.mark();
    const box = same ? -1 : this.boxOf(nodes[0]);
    if (box >= 0) {
      this.picture.reveal(box);
    }
  }

  /** Lights what a finding is about; where nothing is left of that, in the stage that it was found in. */
  private showFinding(finding: Finding): void {
    const { document: source } = this.options;
    const nodes = nodesOfFinding(finding);
    const here = nodes.flatMap(node => follow(source, finding.graph, node, this.at).map(to => to.node));
    if (here.length) {
      this.pick(here);
      return;
    }
    this.enter(finding.graph);
    this.linked = nodes;
  }

  /** Lays out what is visible now and shows it. `around` is the item that stays where it is; `afresh`, nothing else does. */
  private async layOut(around: number | null = null, afresh = false): Promise<void> {
    const { document: source, layouts } = this.options;
    const visible = show(source, this.graph, this.openings.state);
    this.job?.cancel();
    const { last } = this;
    const from = last ? counterparts(source, last.visible, visible) : undefined;
    const before = last && from && !afresh ? { before: placesBefore(from, last.layout) } : {};
    const job = layouts.layout(toLayout(visible, measure, { aspect: aspectOf(this.space()), ...before }));
    this.job = job;
    // Only what takes long is said to take long.
    const slow = setTimeout(() => this.say(`placing ${visible.count} boxes`), 300);
    try {
      const hulls = this.kernels ? hullsOf(source, visible) : [];
      const scene = makeScene(visible, await job.result, this.colours.colour(visible).looks, hulls);
      if (this.job !== job) {
        return;
      }
      this.say(visible.count ? scene.layout.simplified.join('; ') : 'This program is empty: it has no operations.');
      this.showScene(scene, from, around);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'AbortError') {
        this.say(`This picture could not be placed: ${error instanceof Error ? error.message : String(error)}`);
      }
    } finally {
      clearTimeout(slow);
    }
  }

  private showScene(scene: Scene, from: Int32Array | undefined, around: number | null): void {
    this.scene = scene;
    this.last = scene;
    fillTree(this.tree, scene.visible, this.prefix);
    this.fillLegend(scene);
    this.picture.setFoot(this.legend.height);
    this.setHeight(scene);
    this.picture.show(scene, from, around === null ? -1 : this.boxOfItem(around));
    this.picture.setMarks(marksOf(this.options.document, scene.visible));
    this.root.dataset.boxes = String(scene.visible.count);
    this.mark();
  }

  private fillLegend({ visible }: Scene): void {
    const { title, legend } = this.colours.colour(visible);
    this.legend.fill(title, legend, palettes[this.theme]);
  }

  /** The same picture in other colours. */
  private recolour(): void {
    if (this.scene) {
      this.scene = { ...this.scene, looks: this.colours.colour(this.scene.visible).looks };
      this.fillLegend(this.scene);
      this.picture.setFoot(this.legend.height);
      this.picture.recolour(this.scene);
      this.keeping.keep();
    }
  }

  private setHeight(scene: Scene): void {
    if (!this.options.fill) {
      const height = this.height ?? this.options.height;
      const needed = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, scene.height + this.legend.height));
      // It grows with what is opened and never shrinks: what is below in the notebook must not jump about.
      const now = parseFloat(this.stage.style.height) || 0;
      this.stage.style.height = `${height ?? Math.max(now, Math.ceil(needed))}px`;
    }
  }

  /** A click leaves the picture as it is; the details come at the side where they do not cover the box. */
  private click(box: number, more: boolean): void {
    this.origin = more ? this.selected : null;
    this.inspection.comeBeside(this.picture, box);
    this.select(box < 0 || !this.scene ? null : this.scene.visible.item[box]);
  }

  private select(item: number | null): void {
    this.selected = item;
    this.linked = [];
    this.mark();
  }

  /** Shows the selection everywhere: in the picture, in the tree, in the details. */
  private mark(): void {
    const { scene, selected } = this;
    const box = this.selectedBox();
    const lit = new Set(this.linked.map(node => this.boxOf(node)).filter(one => one >= 0));
    if (scene && this.origin !== null) {
      lit.add(boxOfItem(this.rows, scene.visible, this.origin));
    }
    this.picture.select(box, [...lit]);
    if (this.pythonPane.shown) {
      this.pythonPane.mark(this.graph, this.selected === null ? this.linked : this.selectedNodes);
    }
    this.relate();
    selectInTree(this.tree, this.prefix, box);
    if (box >= 0) {
      this.stage.setAttribute('aria-activedescendant', `${this.prefix}${box}`);
    } else {
      this.stage.removeAttribute('aria-activedescendant');
    }
    this.root.classList.toggle('jv-inspecting', selected !== null);
    this.inspect();
  }

  private inspect(): void {
    const { selected } = this;
    const { document: source } = this.options;
    const shown =
      selected === null
        ? null
        : selected >= 0
          ? rowDetails(source, this.graph, selected)
          : details(source, this.graph, -1 - selected);
    this.inspection.show(this.picture, shown, selected !== null && this.openings.open.has(selected), {
      select: node => this.goTo(itemFor(this.graph, this.rows, node), true),
      follow: (stage, node) => this.setStage(stage, node),
      pass: number => this.passes.go(number),
      toggle: () => selected !== null && this.toggle(selected),
      close: () => {
        this.select(null);
        this.focus();
      }
    });
    if (selected !== null) {
      this.showCopies(selected);
    }
  }

  /** Lights what belongs with the selection or is searched for, and says what is lit. */
  private relate(): void {
    const { scene, selected, origin } = this;
    const { spread } = this.openings;
    if (!scene) {
      return;
    }
    const { document: source } = this.options;
    const { faded, ways, words } = relate(
      { document: source, visible: scene.visible, spread },
      selected,
      origin,
      this.linked
    );
    this.picture.relate(this.search.faded(scene.visible) ?? faded, ways);
    this.keeping.keep();
    const crumbs = selected === null ? [] : crumbsOf(source, this.graph, this.rows, selected);
    this.trail.show(source.programs[0].name, crumbs, words);
  }

  /** Out of the region around the selection: to one further out, or to the program as a whole. */
  private leaveTo(row: number | null): void {
    if (row !== null) {
      this.goTo(row, true);
    } else {
      this.select(null);
      this.picture.fit();
      this.focus();
    }
  }

  /** Under the title of a stack, what differs between its copies. */
  private showCopies(item: number): void {
    if (item > 0 && this.rows.outline.count[item] > 1) {
      const table = copyTable(this.options.document, this.graph, item);
      const copies = makeCopies(table, this.openings.spread.has(item), {
        spread: () => this.spread(item),
        select: row => {
          if (!this.openings.spread.has(item)) {
            this.openings.toggleSpread(item);
          }
          this.selected = row;
          void this.layOut(row);
        }
      });
      this.inspection.root.querySelector('dl')?.prepend(...copies);
    }
  }

  private leaveSearch(): void {
    this.search.close();
    this.focus();
  }

  /** Selects an item that may be hidden: the regions around it are opened. */
  private goTo(item: number, focus = false): void {
    this.selected = item;
    this.linked = [];
    const reveal = (): void => {
      const box = this.selectedBox();
      if (box >= 0) {
        this.picture.reveal(box);
      }
    };
    if (this.openings.revealItem(item)) {
      void this.layOut(item).then(reveal);
    } else {
      this.mark();
      reveal();
    }
    if (focus) {
      this.focus();
    }
  }

  private toggle(item: number): void {
    const { rows } = this;
    if (item < 0 || !rowOpens(rows, item)) {
      return;
    }
    this.openings.toggle(item);
    this.selected = item;
    void this.layOut(item);
  }

  /** Shows what runs as one kernel: areas behind the boxes, or, of the optimized program, the boxes themselves. */
  private showKernels(shown: boolean): void {
    const stage = this.options.document.programs[0].stages[this.stageIndex];
    this.kernels = shown;
    this.bar.setKernels(shown);
    const graph = stage ? this.graphOf(stage) : this.at;
    if (graph === this.at) {
      void this.layOut(this.selected);
    } else {
      this.enter(graph);
    }
  }

  /** Shows all copies of the stack that an item is or stands in, or one for all of them again. */
  private spread(item: number | null): void {
    const stack = item === null ? -1 : stackAround(this.rows, item);
    if (stack > 0) {
      this.openings.toggleSpread(stack);
      this.selected = stack;
      void this.layOut(stack);
    }
  }

  /** What each key and each button of the bar does. */
  private readonly commands: Readonly<Record<Command, () => void>> = {
    up: () => this.walk('up'),
    down: () => this.walk('down'),
    left: () => this.walk('left'),
    right: () => this.walk('right'),
    toggle: () => this.selected !== null && this.toggle(this.selected),
    closeRegion: () => this.closeRegion(),
    spread: () => this.spread(this.selected),
    kernels: () => this.showKernels(!this.kernels),
    passes: () => this.passes.enter(),
    passBefore: () => this.passes.step(-1),
    passAfter: () => this.passes.step(1),
    leave: () => this.leave(),
    source: () => this.showSource(!this.pythonPane.shown),
    jaxpr: () => this.setStageOf('jaxpr'),
    stablehlo: () => this.setStageOf('stablehlo'),
    hlo: () => this.setStageOf('hlo'),
    fit: () => this.picture.fit(),
    zoomIn: () => this.picture.zoomBy(1.25),
    zoomOut: () => this.picture.zoomBy(0.8),
    openAll: () => this.openWhole(!this.openings.all),
    closeAll: () => this.closeWhole(),
    expand: () => this.expand(!this.whole.on),
    path: () => this.setOrigin(this.origin === null ? this.selected : null),
    colour: () => this.colours.next(),
    copy: () => this.keeping.copy(),
    search: () => this.search.open(this.graph),
    help: () => (this.help.hidden = !this.help.hidden)
  };

  private readonly obey = (command: Command): void => this.commands[command]();

  private setStageOf(kind: string): void {
    this.setStage(this.options.document.programs[0].stages.findIndex(stage => stage.kind === kind));
  }

  /** `all`: with the equations that only reshape or copy. */
  private openWhole(all: boolean): void {
    this.openings.all = all;
    this.openings.openAll();
    this.layOutWhole();
  }

  private closeWhole(): void {
    this.openings.all = false;
    this.openings.closeAll();
    this.layOutWhole();
  }

  /** Where the ways to the selection begin. */
  private setOrigin(item: number | null): void {
    this.origin = item;
    this.mark();
  }

  private walk(direction: Direction): void {
    if (this.scene) {
      const to = walk(this.scene, this.selectedBox(), direction);
      if (to >= 0) {
        this.select(this.scene.visible.item[to]);
        this.picture.reveal(to);
      }
    }
  }

  /** Closes the selected row if it is open, else the row that the selection stands in. */
  private closeRegion(): void {
    const { selected, rows } = this;
    if (selected === null) {
      return;
    }
    const row = openRowAround(
      rows,
      selected,
      one => this.openings.open.has(one) && this.scene?.visible.item.includes(one) === true
    );
    if (row > 0) {
      this.toggle(row);
    }
  }

  /** Lets go of one thing at a time: the help, the selection, the whole window. */
  private leave(): void {
    if (!this.help.hidden) {
      this.help.hidden = true;
    } else if (this.origin !== null) {
      this.setOrigin(null);
    } else if (this.selected !== null || this.linked.length) {
      this.select(null);
    } else if (this.search.query) {
      this.leaveSearch();
    } else if (this.whole.on) {
      this.expand(false);
    }
  }

  private showSource(shown: boolean): void {
    this.pythonPane.root.hidden = !shown;
    this.root.classList.toggle('jv-reading', shown);
    this.bar.setSource(shown);
    if (shown) {
      this.pythonPane.fill(this.graph);
      this.pythonPane.mark(this.graph, this.selected === null ? this.linked : this.selectedNodes);
    }
  }

  private layOutWhole(): void {
    void this.layOut(null, true).then(() => this.picture.fit());
  }

  private expand(whole: boolean): void {
    this.whole.set(whole);
    if (whole) {
      this.showSource(true);
    }
    this.bar.setExpanded(whole);
    if (!this.openings.touched) {
      // More room shows more, as long as the person has not chosen what to see.
      this.start();
      void this.layOut();
    }
    this.picture.fit();
    this.focus();
  }

  private setTheme(theme: Theme): void {
    this.theme = theme;
    this.root.dataset.theme = theme;
    for (const [role, colour] of Object.entries(palettes[theme])) {
      this.root.style.setProperty(`--jv-${role}`, colour);
    }
    this.picture.setPalette(palettes[theme]);
    if (this.scene) {
      this.fillLegend(this.scene);
    }
  }

  /** Keys are meant for the picture again. */
  private focus(): void {
    this.stage.focus({ preventScroll: true });
  }

  private say(text: string): void {
    this.note.textContent = text;
    this.note.hidden = !text;
  }
}
