/**
 * The explorer: the bar, the picture and the details of one document, put together. The same in a cell, in a file that
 * was opened and in a page of its own; it knows nothing of its host but the element that it stands in.
 */
import type { Document, Finding } from '../document/graph.ts';
import { comparedLinks } from '../document/programs.ts';
import type { Scene } from '../draw/scene.ts';
import { palettes, type Theme } from '../draw/theme.ts';
import type { LayoutClient } from '../layout/client.ts';
import { withKernelTree } from '../view/kernelTree.ts';
import { goTo, letGo } from './acts.ts';
import { Beside } from './compare/beside.ts';
import { CheckpointStrip } from './strips/checkpoints.ts';
import { Colours } from './picture/colours.ts';
import { commandsOf } from './commands.ts';
import { element } from './elements.ts';
import { isFailure, makeFailure, nothingTraced } from './failure.ts';
import { Exports } from './exports.ts';
import { nodesOfFinding } from './strips/findings.ts';
import { keepFocus } from './focus.ts';
import { goToNodes, goToProgram, goToStage, selectNodes, waysInto, type Ground } from './going.ts';
import { Grip } from './grip.ts';
import { Height } from './height.ts';
import { hearKeys } from './hearing.ts';
import { makeHelp, toggleHelp } from './help.ts';
import { Inheriting } from './versions/inheriting.ts';
import { lineFor } from './kernelLine.ts';
import { Inspection } from './details/inspection.ts';
import { Keeping } from './versions/keeping.ts';
import { hasSource } from './source/lines.ts';
import type { Command } from './keys.ts';
import { isFigure, type ExplorerOptions } from './options.ts';
import { Pane } from './picture/pane.ts';
import { PassSlider } from './bar/passes.ts';
import type { Picture } from './picture/picture.ts';
import { followPrinting, putOnPaper } from './printing.ts';
import { ProgramBar } from './bar/programBar.ts';
import { linkedReading, nodesIn, type Reading } from './source/linked.ts';
import { stripsBelow } from './strips/strips.ts';
import { OperationTable } from './table/table.ts';
import type { SavedView } from './versions/saved.ts';
import { Search } from './bar/search.ts';
import { Tour } from './tour.ts';
import { dress, followTheme } from './theme.ts';
import { showView, viewOf, type Viewed } from './versions/views.ts';
import { isFramed, WholeWindow } from './whole.ts';
import { Working } from './working.ts';

export class Explorer {
  readonly root = element('div', 'jv-root');
  disposed = false;
  private readonly document: Document;
  private readonly fill: boolean;
  private readonly reading: Reading;
  private readonly passes: PassSlider;
  private readonly search: Search;
  private readonly table: OperationTable;
  private readonly colours: Colours;
  private readonly checkpoints: CheckpointStrip;
  /** The picture at the left, or the only one; both; and the one with the focus. */
  private readonly first: Pane;
  private readonly beside: Beside;
  private pane: Pane;
  private readonly height: Height;
  private readonly inspection: Inspection;
  private readonly ways = waysInto(() => this.ground);
  private readonly help: HTMLElement;
  private readonly tour: Tour;
  private readonly bar: ProgramBar;
  private working: Working;
  private readonly grip: Grip;
  private readonly keeping: Keeping;
  private readonly exports: Exports;
  private readonly whole = new WholeWindow(this.root);
  private readonly commands: Readonly<Record<Command, () => void>>;
  /** What it has from one whose place it takes, and leaves to the one that takes its own. */
  readonly inheriting: Inheriting;
  private theme: Theme = 'light';
  private readonly takeKeys: (() => void) | undefined;
  private readonly stops: readonly (() => void)[];

  constructor(host: HTMLElement, options: ExplorerOptions) {
    const source = withKernelTree(options.document);
    this.document = source;
    this.fill = options.fill === true;
    this.takeKeys = options.takeKeys;
    this.reading = linkedReading(source, {
      root: this.root,
      figure: isFigure(options),
      at: () => ({ pane: this.pane, beside: this.beside, search: this.search, colours: this.colours }),
      told: shown => this.bar.setSource(shown),
      changed: this.keep,
      goToLine: options.goToLine
    });
    this.keeping = this.makeKeeping(options);
    this.passes = new PassSlider(source, {
      enter: (graph, keys) => this.pane.enter(graph, -1, keys),
      stage: kind => this.obey(kind),
      light: nodes => this.pane.pick(nodes, true),
      say: text => this.pane.say(text)
    });
    this.search = new Search(source, {
      paste: text => this.keeping.paste(text),
      changed: () => {
        this.beside.panes.forEach(pane => pane.relate());
        this.table.show();
        this.reading.find();
      },
      goTo: item => goTo(this.pane, item),
      close: () => this.leaveSearch()
    });
    this.table = new OperationTable(source, this.search, {
      pane: () => this.pane,
      beside: () => this.beside,
      changed: this.keep
    });
    this.colours = new Colours(source, () => {
      this.checkpoints.mark(this.colours.key);
      this.beside.panes.forEach(pane => pane.recolour());
      this.reading.recolour();
    });
    this.checkpoints = new CheckpointStrip(source, {
      ...this.ways,
      colour: key => this.colours.choose(key)
    });
    this.inspection = new Inspection(source, {
      ...this.ways,
      pass: number => this.passes.go(number)
    });
    this.height = new Height(() => this.beside.root, options.height, this.fill);
    const stage = source.programs[0].stages.find(({ kind }) => kind === options.stage) ?? source.programs[0].stages[0];
    this.first = this.pane = this.makePane(options.layouts, stage.graph);
    this.beside = new Beside({
      document: source,
      first: this.first,
      make: graph => this.makePane(options.layouts, graph),
      active: () => this.pane,
      activate: pane => this.activate(pane),
      second: there => this.reading.setSecond(there),
      changed: () => {
        this.bar.setBeside(this.beside.on);
        this.reading.fill(this.pane.viewing.graph);
        this.table.show();
        this.keeping.keep();
      }
    });
    this.grip = new Grip(
      () => this.beside.root.offsetHeight,
      height => {
        this.height.set(height);
        this.keeping.keep();
      }
    );
    this.bar = this.makeBar(options.coming ?? []);
    if (options.coming?.length) {
      this.root.dataset.coming = options.coming.join(' ');
    }
    this.exports = new Exports({
      document: source,
      data: options.data,
      scene: () => this.pane.scene,
      viewing: () => this.pane.viewing,
      theme: () => this.theme,
      left: () => this.focus()
    });
    this.working = new Working(
      lineFor(source, options.kernel),
      busy => this.bar.setWorking(busy),
      source.measures.length > 0
    );
    this.tour = new Tour(this.root, () => this.pane.focus());
    this.help = makeHelp(
      () => this.obey('help'),
      () => {
        this.help.hidden = true;
        this.tour.start();
      }
    );
    this.inheriting = this.makeInheriting(options);
    this.commands = this.makeCommands();
    this.build(host, options);
    this.stops = [
      hearKeys({
        root: this.root,
        alone: options.alone === true,
        stages: () => [this.pane, ...this.beside.panes].map(pane => pane.stage),
        parts: () => [this.search, this.grip, this.table, this.reading.divider, this.beside.divider, this.picture],
        obey: this.obey
      }),
      keepFocus(this.root, () => this.focus()),
      followPrinting(() => putOnPaper(this.panes, this.exports, this.theme, this.setTheme)),
      followTheme(this.setTheme)
    ];
    const compared = comparedLinks(source).length > 0;
    if (options.fill && hasSource(source)) {
      this.reading.setRoom(true, compared);
    }
    if (options.view) {
      this.restore(options.view);
    } else if (options.earlier) {
      this.inheriting.goOnFrom(options.earlier);
    } else {
      if (options.colour) {
        this.colours.choose(options.colour);
      }
      void this.pane.begin();
      if (compared) {
        this.beside.open();
      }
      if (!isFailure(source) && !isFigure(options)) {
        this.tour.offer();
      }
    }
  }

  dispose(): void {
    this.disposed = true;
    this.stops.forEach(stop => stop());
    this.working.dispose();
    this.reading.dispose();
    this.table.dispose();
    this.beside.dispose();
    this.root.remove();
    this.whole.dispose();
  }

  get picture(): Picture {
    return this.pane.picture;
  }

  /** The pictures that stand side by side, or the only one. */
  get panes(): readonly Pane[] {
    return this.beside.panes;
  }

  /** Where the first box of a label stands, from the corner of the picture; for scripts of the page and for tests. */
  locate(label: string): { x: number; y: number } | null {
    return this.picture.locate(this.labels.indexOf(label));
  }

  /** True where all that was asked for is on the screen and nothing moves; for scripts of the page and for tests. */
  get atRest(): boolean {
    return this.panes.every(pane => pane.atRest);
  }

  /** The labels of the boxes on the screen. */
  get labels(): readonly string[] {
    return this.pane.scene?.visible.label ?? [];
  }

  private makeKeeping({ save }: ExplorerOptions): Keeping {
    return new Keeping({
      document: this.document,
      ...(save ? { save } : {}),
      now: () => this.view,
      restore: view => {
        this.restore(view);
        this.pane.focus();
      },
      say: text => this.pane.say(text),
      offer: text => this.search.open(this.pane.viewing.graph, text)
    });
  }

  private makeInheriting(asked: ExplorerOptions): Inheriting {
    const { document, viewed, help, tour, search, exports, whole } = this;
    const expand = (on: boolean): void => this.expand(on);
    return new Inheriting({ document, viewed, asked, help, tour, search, exports, whole, expand });
  }

  private makePane(layouts: LayoutClient, graph: number): Pane {
    const { document: source, colours, search, passes, height, theme } = this;
    const parts = { document: source, layouts, colours, search, passes, palette: palettes[theme], graph, height };
    const pane: Pane = new Pane(
      { ...parts, whole: () => this.whole.on, ownsWheel: () => (this.fill || this.whole.on) && !isFramed() },
      {
        first: (of, alone) => this.beside?.first(pane, of, alone) ?? alone,
        entered: () => this.entered(pane),
        shown: scene => this.shown(pane, scene),
        clicked: box => this.inspection.comeBeside(pane, box),
        hovered: box => pane === this.pane && this.reading.hint(pane.viewing.graph, nodesIn(pane, box)),
        marked: () => this.marked(pane),
        changed: this.keep,
        resized: () => pane === this.pane && this.inspection.resized(pane),
        opened: change => this.beside.opened(pane, change),
        marks: visible => this.beside.marks(pane, visible)
      }
    );
    for (const kind of ['focusin', 'pointerdown'] as const) {
      pane.stage.addEventListener(kind, () => this.activate(pane), { capture: true });
    }
    return pane;
  }

  private makeBar(coming: readonly string[]): ProgramBar {
    const actions = {
      obey: this.obey,
      stage: (index: number) => goToStage(this.ground, index),
      program: (number: number) => goToProgram(this.ground, number)
    };
    const { document: source, passes, colours } = this;
    return new ProgramBar({ document: source, actions, passes: passes.root, tools: [colours.root], coming });
  }

  private makeCommands(): Readonly<Record<Command, () => void>> {
    const { passes, colours, keeping, exports, beside, reading, table } = this;
    const pane = (): Pane => this.pane;
    return commandsOf({
      get pane() {
        return pane();
      },
      ...{ passes, colours, keeping, exports, beside, reading, table },
      showStage: kind => this.showStage(kind),
      showHelp: () => toggleHelp(this.help),
      search: () => this.search.open(this.pane.viewing.graph),
      run: () => this.working.run(),
      expand: () => this.expand(!this.whole.on),
      leave: () => this.leave()
    });
  }

  private readonly keep = (): void => this.keeping.keep();

  private readonly obey = (command: Command): void => this.commands[command]();

  private build(host: HTMLElement, { shownFinding }: ExplorerOptions): void {
    const { root } = this;
    root.classList.toggle('jv-fill', this.fill);
    // Of several on a page, a listener is told which one the keys are in.
    root.setAttribute('role', 'group');
    // Its words and its code are so, whatever the language of the host.
    root.dir = 'ltr';
    root.setAttribute('aria-label', this.document.programs.map(({ name }) => name).join(', '));
    const body = element('div', 'jv-body');
    body.append(this.reading.root, this.reading.divider.root, this.beside.root, this.help);
    body.hidden = nothingTraced(this.document);
    const failure = makeFailure(this.document);
    const lines = [this.working, this.exports, this.tour].map(line => line.root);
    const strips = stripsBelow(this.document, [this.checkpoints.root], {
      ...this.ways,
      colour: () => this.colours.choose('time'),
      showFinding: finding => {
        this.showFinding(finding);
        shownFinding?.(finding);
      },
      rebuild: (loop, told) => this.working.rebuild(loop, told),
      stop: () => this.working.stop()
    });
    const above = [...lines, ...failure, this.passes.below, this.search.root];
    root.append(this.bar.root, ...above, body, this.grip.root, this.inspection.below, this.table.root, strips);
    this.grip.root.hidden = this.fill || body.hidden;
    Object.assign(root, { explorer: this });
    host.append(root);
  }

  /** Everything around the pictures tells of this one from now on, and keys are meant for it. */
  private activate(pane: Pane): void {
    if (pane !== this.pane) {
      this.pane = pane;
      this.entered(pane);
      this.marked(pane);
    }
  }

  /** Everything around the pictures tells of the graph that is shown now. */
  private entered(pane: Pane): void {
    this.beside?.entered(pane);
    if (pane !== this.pane) {
      this.reading.fill(this.pane.viewing.graph);
      this.table.show();
      return;
    }
    const { graph, at, stageIndex, kernels, program } = pane.viewing;
    this.bar.show(program);
    this.search.setGraph(graph);
    this.colours.setGraph(graph);
    this.bar.setRegions(pane.hasRegions);
    this.bar.setStage(stageIndex);
    this.bar.setKernels(kernels);
    this.passes.show(at);
    this.reading.fill(graph);
  }

  private shown(pane: Pane, scene: Scene): void {
    this.root.dataset[pane === this.first ? 'boxes' : 'beside'] = String(scene.visible.count);
  }

  /** Everything around the pictures tells of what is selected now. */
  private marked(pane: Pane): void {
    if (pane !== this.pane) {
      return;
    }
    const { graph, selected, told, kernels } = pane.viewing;
    this.reading.mark(graph, told);
    this.table.mark();
    this.bar.setKernels(kernels);
    this.root.classList.toggle('jv-inspecting', selected !== null);
    this.inspection.show(pane);
    this.beside.marked(pane);
  }

  private get ground(): Ground {
    return { document: this.document, pane: this.pane, panes: this.panes, activate: one => this.activate(one) };
  }

  /** What is seen, for the notebook or as text. */
  get view(): SavedView {
    return viewOf(this.viewed);
  }

  /** Shows a view that was saved or copied. */
  restore(view: SavedView): void {
    showView(this.viewed, view);
  }

  private get viewed(): Viewed {
    const { first, beside, colours, search, height, inspection, reading, table } = this;
    return { first, beside, colours, search, height, inspection, reading, table };
  }

  /** The nodes that are selected, in the graph on the screen. */
  get selection(): readonly number[] {
    return this.pane.viewing.selectedNodes;
  }

  /** Selects a node of the graph on the screen, lights several, or lets go of all. */
  select(nodes: readonly number[]): void {
    selectNodes(this.pane, nodes);
  }

  /** Shows a stage by its kind. `keys` are meant for the picture then: not where a program asked for it, not a person. */
  showStage(kind: string, keys = true): void {
    goToStage(this.ground, kind, keys);
  }

  /** Lights what a finding is about; where nothing is left of that, in the stage that it was found in. */
  showFinding(finding: Finding, keys = true): void {
    goToNodes(this.ground, finding.graph, nodesOfFinding(finding), keys);
  }

  /** Keys are meant for it. */
  focus(): void {
    this.pane.focus();
  }

  /** What the kernel was asked for in a picture whose place this one takes is waited for here. */
  takeOver(before: Explorer): void {
    const { working } = before;
    if (working.busy) {
      this.working.root.replaceWith(working.root);
      [before.working, this.working] = [this.working, working];
      working.moveTo(busy => this.bar.setWorking(busy));
    }
  }

  private leaveSearch(): void {
    this.search.close();
    this.pane.focus();
  }

  /** Lets go of one thing at a time: the help, the selection, the search, the whole window; then of the keys. */
  private leave(): void {
    if (!this.help.hidden) {
      this.help.hidden = true;
    } else if (!this.tour.root.hidden) {
      this.tour.close();
    } else if (!this.exports.root.hidden) {
      this.exports.close();
    } else if (letGo(this.pane)) {
      return;
    } else if (this.search.query) {
      this.leaveSearch();
    } else if (this.whole.on) {
      this.expand(false);
    } else if (this.pane.stage.matches(':focus')) {
      this.takeKeys?.();
    }
  }

  private expand(whole: boolean): void {
    this.whole.set(whole);
    if (whole || !this.fill) {
      this.reading.setRoom(whole, this.beside.on);
    }
    this.bar.setExpanded(whole);
    this.inspection.resized(this.pane);
    for (const pane of this.beside.panes.filter(({ viewing }) => !viewing.openings.touched)) {
      // More room shows more, as long as the person has not chosen what to see: in places that make the most of it.
      void pane.begin(null, true);
    }
    this.beside.panes.forEach(pane => pane.picture.fit());
    this.pane.focus();
  }

  private readonly setTheme = (theme: Theme): void => {
    this.theme = theme;
    dress(this.root, theme);
    this.beside.panes.forEach(pane => pane.setPalette(palettes[theme]));
  };
}
