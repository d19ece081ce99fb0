/**
 * The explorer: the bar, the picture and the details of one document, put together. The same in a cell, in a file that
 * was opened and in a page of its own; it knows nothing of its host but the element that it stands in.
 */
import { follow } from '../document/follow.ts';
import type { Document, Finding } from '../document/graph.ts';
import { palettes, type Theme } from '../draw/theme.ts';
import type { LayoutClient } from '../layout/client.ts';
import { withKernelTree } from '../view/kernelTree.ts';
import { goTo, letGo } from './acts.ts';
import { makeBar, type Bar } from './bar.ts';
import { Colours } from './colours.ts';
import { commandsOf } from './commands.ts';
import { element } from './elements.ts';
import { makeFailure, nothingTraced } from './failure.ts';
import { FindingStrip, nodesOfFinding } from './findings.ts';
import { Grip } from './grip.ts';
import { hearKeys } from './hearing.ts';
import { makeHelp } from './help.ts';
import { Inspection } from './inspection.ts';
import { Keeping } from './keeping.ts';
import type { Command } from './keys.ts';
import { Pane } from './pane.ts';
import { PassSlider } from './passes.ts';
import type { Picture } from './picture.ts';
import { RunStrip } from './run.ts';
import type { SavedView } from './saved.ts';
import { Search } from './search.ts';
import { SourcePane } from './source.ts';
import { followTheme } from './theme.ts';
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

export class Explorer {
  readonly root = element('div', 'jv-root');
  private readonly document: Document;
  private readonly fill: boolean;
  private readonly pythonPane: SourcePane;
  private readonly passes: PassSlider;
  private readonly search: Search;
  private readonly colours: Colours;
  private readonly pane: Pane;
  private readonly inspection: Inspection;
  private readonly help: HTMLElement;
  private readonly bar: Bar;
  private readonly grip: Grip;
  private readonly keeping: Keeping;
  private readonly whole = new WholeWindow(this.root);
  private readonly commands: Readonly<Record<Command, () => void>>;
  private readonly stopFollowing: () => void;
  private readonly stopHearing: () => void;

  constructor(host: HTMLElement, options: ExplorerOptions) {
    const source = withKernelTree(options.document);
    this.document = source;
    this.fill = options.fill === true;
    this.pythonPane = new SourcePane(source, {
      pick: nodes => this.pane.pick(nodes),
      close: () => this.obey('source')
    });
    this.keeping = this.makeKeeping(options);
    this.passes = new PassSlider(source, {
      enter: graph => this.pane.enter(graph),
      stage: kind => this.obey(kind),
      light: nodes => this.pane.pick(nodes),
      say: text => this.pane.say(text)
    });
    this.search = new Search(source, {
      paste: text => this.keeping.paste(text),
      changed: () => this.pane.relate(),
      goTo: item => goTo(this.pane, item),
      close: () => this.leaveSearch()
    });
    this.colours = new Colours(source, () => this.pane.recolour());
    this.inspection = new Inspection(source, {
      follow: (stage, node) => this.setStage(stage, node),
      pass: number => this.passes.go(number)
    });
    this.pane = this.makePane(options);
    this.grip = new Grip(
      () => this.pane.root.offsetHeight,
      height => this.resize(height)
    );
    this.bar = makeBar(source, { obey: this.obey, stage: index => this.setStage(index) }, this.passes.root, [
      this.colours.root
    ]);
    this.help = makeHelp(() => this.obey('help'));
    this.commands = this.makeCommands();
    this.build(host);
    this.stopHearing = hearKeys({
      root: this.root,
      stage: this.pane.root,
      parts: [this.search, this.grip, this.picture],
      obey: this.obey
    });
    this.stopFollowing = followTheme(theme => this.setTheme(theme));
    if (options.fill) {
      this.showSource(true);
    }
    if (options.view) {
      this.restore(options.view);
    } else {
      this.pane.start();
      void this.pane.layOut();
    }
  }

  dispose(): void {
    this.stopFollowing();
    this.stopHearing();
    this.pane.dispose();
    this.root.remove();
    this.whole.dispose();
  }

  get picture(): Picture {
    return this.pane.picture;
  }

  /** Where the first box of a label stands, from the corner of the picture; for scripts of the page and for tests. */
  locate(label: string): { x: number; y: number } | null {
    return this.picture.locate(this.labels.indexOf(label));
  }

  /** True where all that was asked for is on the screen and nothing moves; for scripts of the page and for tests. */
  get atRest(): boolean {
    return this.pane.atRest;
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

  private makePane({ layouts, height, stage: kind }: ExplorerOptions): Pane {
    const { document: source, colours, search, fill } = this;
    const { stages } = source.programs[0];
    const { graph } = stages.find(stage => stage.kind === kind) ?? stages[0];
    const parts = { document: source, layouts, colours, search, palette: palettes.light, graph, height, fill };
    return new Pane(
      { ...parts, whole: () => this.whole.on },
      {
        entered: () => this.entered(),
        shown: scene => (this.root.dataset.boxes = String(scene.visible.count)),
        clicked: box => this.inspection.comeBeside(this.picture, box),
        marked: () => this.marked(),
        changed: () => this.keeping.keep()
      }
    );
  }

  private makeCommands(): Readonly<Record<Command, () => void>> {
    return commandsOf({
      pane: this.pane,
      passes: this.passes,
      colours: this.colours,
      keeping: this.keeping,
      showStage: kind => this.setStage(this.document.programs[0].stages.findIndex(stage => stage.kind === kind)),
      showSource: () => this.showSource(!this.pythonPane.shown),
      showHelp: () => (this.help.hidden = !this.help.hidden),
      search: () => this.search.open(this.pane.viewing.graph),
      expand: () => this.expand(!this.whole.on),
      leave: () => this.leave()
    });
  }

  private readonly obey = (command: Command): void => this.commands[command]();

  private build(host: HTMLElement): void {
    const { root } = this;
    root.classList.toggle('jv-fill', this.fill);
    const body = element('div', 'jv-body');
    body.append(this.pythonPane.root, this.pane.root, this.inspection.root, this.help);
    const findings = new FindingStrip(this.document, { show: finding => this.showFinding(finding) });
    const run = new RunStrip(this.document, {
      show: (graph, nodes) => this.showNodes(graph, nodes),
      colour: () => this.colours.choose('time')
    });
    body.hidden = nothingTraced(this.document);
    const failure = makeFailure(this.document);
    const before = [this.bar.root, ...failure, this.passes.line, this.search.root];
    root.append(...before, body, this.grip.root, run.root, findings.root);
    this.grip.root.hidden = this.fill || body.hidden;
    Object.assign(root, { explorer: this });
    host.append(root);
  }

  /** Everything beside the picture tells of the graph that is shown now. */
  private entered(): void {
    const { graph, at, stageIndex, kernels } = this.pane.viewing;
    this.search.setGraph(graph);
    this.colours.setGraph(graph);
    this.bar.setRegions(this.pane.hasRegions);
    this.bar.setStage(stageIndex);
    this.bar.setKernels(kernels);
    this.passes.show(at);
    if (this.pythonPane.shown) {
      this.pythonPane.fill(graph);
    }
  }

  /** Everything beside the picture tells of what is selected now. */
  private marked(): void {
    const { graph, selected, told, kernels } = this.pane.viewing;
    if (this.pythonPane.shown) {
      this.pythonPane.mark(graph, told);
    }
    this.bar.setKernels(kernels);
    this.root.classList.toggle('jv-inspecting', selected !== null);
    this.inspection.show(this.pane);
  }

  /** Shows another stage. The selection goes along the links, and so does what was lit. */
  private setStage(index: number, node = -1): void {
    const stage = this.document.programs[0].stages[index];
    if (stage) {
      this.pane.enter(this.pane.viewing.graphOf(stage), node);
    }
  }

  /** What is seen, for the notebook or as text. */
  get view(): SavedView {
    return {
      ...this.pane.viewing.saved,
      colour: this.colours.key,
      search: this.search.query,
      height: this.pane.height.chosen
    };
  }

  /** Shows a view that was saved or copied. */
  restore(view: SavedView): void {
    const { viewing, height } = this.pane;
    viewing.kernels = view.kernels;
    this.pane.change(viewing.graphNamed(view.stage));
    viewing.restore(view);
    height.chosen = view.height ?? height.chosen;
    this.colours.choose(view.colour);
    this.search.restore(view.search);
    void this.pane.layOut(viewing.selected);
  }

  private resize(height: number): void {
    this.pane.height.set(height);
    this.keeping.keep();
  }

  /** Lights what a finding is about; where nothing is left of that, in the stage that it was found in. */
  private showFinding(finding: Finding): void {
    this.showNodes(finding.graph, nodesOfFinding(finding));
  }

  private showNodes(graph: number, nodes: readonly number[]): void {
    const { pane } = this;
    const here = nodes.flatMap(node => follow(this.document, graph, node, pane.viewing.at).map(to => to.node));
    if (here.length) {
      pane.pick(here);
      return;
    }
    pane.enter(graph);
    pane.viewing.linked = nodes;
  }

  private leaveSearch(): void {
    this.search.close();
    this.pane.focus();
  }

  /** Lets go of one thing at a time: the help, the selection, the search, the whole window. */
  private leave(): void {
    if (!this.help.hidden) {
      this.help.hidden = true;
    } else if (letGo(this.pane)) {
      return;
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
      const { graph, told } = this.pane.viewing;
      this.pythonPane.fill(graph);
      this.pythonPane.mark(graph, told);
    }
  }

  private expand(whole: boolean): void {
    this.whole.set(whole);
    if (whole) {
      this.showSource(true);
    }
    this.bar.setExpanded(whole);
    if (!this.pane.viewing.openings.touched) {
      // More room shows more, as long as the person has not chosen what to see.
      this.pane.start();
      void this.pane.layOut();
    }
    this.picture.fit();
    this.pane.focus();
  }

  private setTheme(theme: Theme): void {
    this.root.dataset.theme = theme;
    for (const [role, colour] of Object.entries(palettes[theme])) {
      this.root.style.setProperty(`--jv-${role}`, colour);
    }
    this.pane.setPalette(palettes[theme]);
  }
}
