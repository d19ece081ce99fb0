/**
 * One picture of a document: the canvas with its legend, its trail and its tree for screen readers. Shows what is open,
 * selected and lit; what a person can do in it is in `acts.ts`.
 */
import type { VisibleGraph } from '../../view/visible.ts';
import { openEverything } from '../../view/opening.ts';
import { isSame, type Side } from '../../view/abreast.ts';
import type { Space } from '../../view/space.ts';
import { isKernelTree } from '../../view/kernelTree.ts';
import { boxesReading, boxOfItem, boxOfNode } from '../../view/seen.ts';
import type { Program } from '../../document/graph.ts';
import type { Mark } from '../../draw/marks.ts';
import type { Scene } from '../../draw/scene.ts';
import type { Palette } from '../../draw/theme.ts';
import { closeWhole, goTo, leaveTo, selectSeen, spread, toggle } from '../acts.ts';
import { Choosing } from './choosing.ts';
import type { Followed } from '../versions/earlier.ts';
import { element } from '../elements.ts';
import { Legend } from './legend.ts';
import { failureMarks } from '../failure.ts';
import { marksOf } from './marks.ts';
import { Note } from './note.ts';
import { boxesOf, Picture } from './picture.ts';
import type { PaneEvents, PaneParts } from './paneParts.ts';
import { Placing, type Placed } from './placing.ts';
import { relate } from './relate.ts';
import { RoomLeft } from './roomLeft.ts';
import { itemFor } from '../details/row.ts';
import type { SavedView } from '../versions/saved.ts';
import { crumbsOf, Trail } from './trail.ts';
import { fillTree, selectInTree } from './tree.ts';
import { Viewing } from './viewing.ts';

/** ms in which the camera has not moved. */
const CAMERA_REST = 250;

let count = 0;

export class Pane {
  /** The picture, and what stands over it or at its side. */
  readonly root = element('div', 'jv-pane');
  readonly body = element('div', 'jv-pane-body');
  readonly stage = element('div', 'jv-stage-area');
  readonly viewing: Viewing;
  readonly picture: Picture;
  scene: Scene | null = null;
  private readonly legend = new Legend();
  private readonly note = new Note();
  private readonly trail = new Trail({ leaveTo: row => leaveTo(this, row) });
  private readonly tree = element('div', 'jv-tree');
  private readonly prefix = `jv-${++count}-`;
  private readonly placing: Placing;
  private palette: Palette;
  private keeping: ReturnType<typeof setTimeout> | undefined;
  private marks: readonly Mark[] = [];
  /** True where the picture that is on its way is to be seen whole. */
  private fitsNext = false;
  readonly room: RoomLeft;
  private readonly choosing: Choosing;
  private readonly resized: ResizeObserver;

  constructor(
    private readonly parts: PaneParts,
    private readonly events: PaneEvents
  ) {
    const { document, layouts, colours } = parts;
    this.palette = parts.palette;
    this.viewing = new Viewing(document, parts.graph, change => events.opened(change));
    this.choosing = new Choosing(
      document,
      layouts,
      () => this.space(),
      waits => this.note.say(waits ? 'choosing what to open' : '', 'busy'),
      // In a cell, the details come and go over a picture that stays.
      () => (parts.whole() ? this.picture.free(this.space()) : this.space()),
      (graph, alone) => events.first(graph, alone)
    );
    this.placing = new Placing({
      document,
      layouts,
      space: () => this.space(),
      free: () => this.picture.free(this.space()),
      looks: visible => colours.colour(visible).looks,
      notes: visible => colours.notes(visible),
      say: (text, kind, actions) => this.note.say(text, kind, actions),
      closeAll: () => closeWhole(this),
      again: () => void this.layOut(this.viewing.selected)
    });
    this.build();
    this.picture = new Picture(
      this.stage,
      parts.palette,
      {
        select: (box, more) => this.click(box, more),
        toggle: box => box >= 0 && this.scene && toggle(this, this.scene.visible.item[box]),
        spread: box => this.scene && spread(this, this.scene.visible.item[box]),
        moved: () => this.keepSoon(),
        hovered: box => events.hovered(box)
      },
      () => parts.ownsWheel()
    );
    this.room = new RoomLeft({
      width: () => this.stage.clientWidth,
      zoom: () => this.picture.zoom,
      own: () => this.scene === null || this.viewing.openings.touched || this.picture.stand.held,
      busy: () => this.busy,
      choose: () => void this.begin(this.viewing.selected, true)
    });
    // In another width, the legend has another number of lines; before it is on the page, it has none.
    this.resized = new ResizeObserver(() => {
      this.fitHeight();
      this.keepFoot();
      this.keepTop();
      events.resized();
      this.room.follow();
    });
    this.resized.observe(this.stage);
  }

  /** The camera is kept once it rests. */
  private keepSoon(): void {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.events.changed(), CAMERA_REST);
  }

  dispose(): void {
    clearTimeout(this.keeping);
    this.room.leave();
    this.resized.disconnect();
    this.choosing.cancel();
    this.placing.cancel();
    this.picture.dispose();
    this.root.remove();
  }

  private build(): void {
    const { stage, tree } = this;
    stage.tabIndex = 0;
    stage.setAttribute('role', 'application');
    stage.setAttribute('aria-roledescription', 'graph');
    stage.setAttribute('aria-label', `${this.program.call || 'program'}; ? for keys`);
    tree.setAttribute('role', 'tree');
    tree.id = `${this.prefix}tree`;
    tree.setAttribute('aria-label', 'operations');
    stage.setAttribute('aria-controls', tree.id);
    stage.append(this.legend.root, this.note.root, this.trail.root, tree);
    this.body.append(stage);
    this.root.append(this.body);
  }

  private get program(): Program {
    return this.parts.document.programs[this.viewing.program];
  }

  /** True where all that was asked for is on the screen and nothing moves. */
  get atRest(): boolean {
    return this.scene !== null && !this.busy && this.room.atRest && this.picture.atRest;
  }

  /** True while a picture is on its way. */
  get busy(): boolean {
    return this.choosing.busy || this.placing.busy;
  }

  /**
   * Shows the graph as it was left, or for the first time; `around` is the item that stays where it is; `afresh`, nothing
   * else does.
   */
  begin(around: number | null = null, afresh = false): Promise<void> {
    return this.beginWith(this.viewing.at, () => around, afresh);
  }

  /** The same of another graph. `choose` is called when it is there, and gives the item that stays where it is. */
  beginWith(graph: number, choose: () => number | null, afresh = false): Promise<void> {
    return new Promise(done => {
      this.choosing.whenOpen(graph, () => {
        this.start(graph);
        void this.layOut(choose(), afresh).then(done);
      });
    });
  }

  /** The next picture takes the place of that of another explorer. */
  follow(before: Followed): void {
    this.placing.follow(before);
    this.picture.follow(before);
    this.room.goOn(before.room);
  }

  private start(graph: number): void {
    this.viewing.change(graph, () => this.choosing.first(graph));
    this.room.chosen();
    this.events.entered();
  }

  /** Shows another graph. The selection goes along the links, and so does what was lit. `keys` are meant for it then. */
  enter(graph: number, node = -1, keys = true): void {
    this.whenKnown(graph, () => {
      const lost = this.viewing.goAlong(graph, node, () => this.choosing.first(graph));
      void this.arrive(keys).then(() => {
        if (node >= 0) {
          this.comeToSelection();
        }
        if (lost) {
          this.say(`${lost} has no counterpart here`);
        }
      });
    });
  }

  /** Shows another graph with some of its nodes lit, whatever was selected. */
  enterLit(graph: number, nodes: readonly number[], keys: boolean): void {
    this.whenKnown(graph, () => {
      this.viewing.change(graph, () => this.choosing.first(graph));
      this.viewing.origin = null;
      this.viewing.select(null);
      this.viewing.light(nodes);
      void this.arrive(keys).then(() => this.revealLit());
    });
  }

  /** Calls `go` once it is known what is open at first of another graph. */
  private whenKnown(graph: number, go: () => void): void {
    if (graph === this.viewing.at || this.viewing.openings.knows(graph)) {
      // Whatever was asked for before is not waited for any more.
      this.choosing.cancel();
      if (graph !== this.viewing.at) {
        go();
      }
    } else {
      this.choosing.whenOpen(graph, go);
    }
  }

  /** Lays out another graph and shows it. */
  private arrive(keys: boolean): Promise<void> {
    this.scene = null;
    this.events.entered();
    const placed = this.layOut(this.viewing.selected, isKernelTree(this.parts.document, this.viewing.at));
    if (keys) {
      this.focus();
    }
    return placed;
  }

  /** Shows a graph as it was in a view that was saved; nothing is placed yet. */
  change(graph: number, view: SavedView): void {
    this.choosing.cancel();
    this.scene = null;
    this.viewing.change(graph, () => ({ open: new Set() }));
    this.viewing.restore(view);
    this.events.entered();
  }

  /** How the graph on the screen would be seen alone, where that is known at once. */
  get alone(): Side | undefined {
    const state = this.choosing.ready(this.viewing.at);
    return state && { graph: this.viewing.graph, state, space: this.space() };
  }

  /** Another picture beside this one changed: as long as the person has not chosen what to see, this one follows it. */
  agree(): void {
    const { at, openings, selected } = this.viewing;
    if (!this.scene || this.choosing.busy || openings.touched || !this.choosing.ready(at)) {
      return;
    }
    if (!isSame(this.choosing.first(at), openings.state)) {
      void this.begin(selected);
    }
  }

  space(): Space {
    return this.parts.height.space(this.stage, this.parts.whole());
  }

  /** True where there is anything to open. */
  get hasRegions(): boolean {
    return openEverything(this.viewing.rows, true).size > 0;
  }

  /** Lays out what is visible now and shows it. `around` is the item that stays where it is; `afresh`, nothing else does. */
  async layOut(around: number | null = null, afresh = false): Promise<void> {
    const { graph, openings, kernels } = this.viewing;
    const placed = await this.placing.place(graph, openings.state, { kernels, afresh });
    if (placed) {
      this.show(placed, around);
    }
    // What was overtaken leaves the wish to what comes.
    if (!this.busy) {
      if (placed && this.fitsNext) {
        this.picture.fit();
      }
      this.fitsNext = false;
    }
  }

  /** Has all of the picture in view, and of the one that is on its way too. */
  fit(): void {
    this.fitsNext = this.busy;
    this.picture.fit();
  }

  private show({ scene, from, still }: Placed, around: number | null): void {
    this.scene = scene;
    fillTree(this.tree, scene.visible, this.prefix);
    this.fillLegend();
    this.fitHeight();
    this.marks = this.marksOn(scene.visible);
    this.picture.show(scene, this.marks, from, around === null ? -1 : this.boxOfItem(around), still);
    this.events.shown(scene);
    this.mark();
  }

  private fitHeight(): void {
    if (this.scene) {
      this.parts.height.fit(this.scene, this.legend.height + this.root.offsetHeight - this.body.offsetHeight);
    }
  }

  /** Marks what a pass of the compiler did, or what differs from the picture beside. */
  setMarks(): void {
    if (this.scene) {
      this.marks = this.marksOn(this.scene.visible);
      this.picture.setMarks(this.marks);
    }
  }

  private marksOn(visible: VisibleGraph): Mark[] {
    const { document, passes } = this.parts;
    const ofPass = marksOf(document, visible, passes.losing);
    return [...ofPass, ...failureMarks(document, visible), ...this.events.marks(visible)];
  }

  /** The boxes that are marked, in the order of reading. */
  get marked(): readonly number[] {
    return this.scene ? boxesOf(this.scene, this.marks) : [];
  }

  private fillLegend(): void {
    if (this.scene) {
      const { title, legend } = this.parts.colours.colour(this.scene.visible);
      this.legend.fill(title, legend, this.palette, this.viewing.stage);
      this.keepFoot();
    }
  }

  /** The same picture in other colours. */
  recolour(): void {
    if (this.scene) {
      const { scene, parts } = this;
      const { looks } = parts.colours.colour(scene.visible);
      this.scene = { ...scene, looks, notes: parts.colours.notes(scene.visible) };
      this.fillLegend();
      this.picture.recolour(this.scene);
      this.events.changed();
    }
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.picture.setPalette(palette);
    this.fillLegend();
  }

  private boxOf(node: number): number {
    return this.scene ? boxOfNode(this.viewing.rows, this.scene.visible, node) : -1;
  }

  boxOfItem(item: number): number {
    return this.scene ? boxOfItem(this.viewing.rows, this.scene.visible, item) : -1;
  }

  /** The box of the selection, or of the closed row around it. */
  selectedBox(): number {
    return this.viewing.selected === null ? -1 : this.boxOfItem(this.viewing.selected);
  }

  /** Of a selection that has no box, as an argument that is a chip, the boxes that read it. */
  readingBoxes(): readonly number[] {
    const { graph, rows, selected } = this.viewing;
    return this.scene && selected !== null && selected < 0 && this.boxOfItem(selected) < 0
      ? boxesReading(graph, rows, this.scene.visible, -1 - selected)
      : [];
  }

  /** Lights nodes; a second time lets go. `here`: what tells of this graph alone, and is not lit in the next. */
  pick(nodes: readonly number[], here = false): void {
    if (here) {
      this.viewing.lightHere(nodes);
    } else {
      this.viewing.light(nodes);
    }
    this.mark();
    this.revealLit();
  }

  /** Lights nodes that belong with what is selected elsewhere, and brings the first of them into view. */
  light(nodes: readonly number[]): void {
    this.viewing.select(null);
    this.viewing.linked = nodes;
    this.mark();
    this.revealLit();
  }

  /** Brings what is lit into view: the first of it, where not all of it can be read at once. */
  private revealLit(): void {
    const boxes = new Set(this.viewing.linked.map(node => this.boxOf(node)));
    this.picture.comeTo([...boxes].filter(box => box >= 0));
  }

  /** Brings what is selected into view, or what reads it where it has no box. */
  comeToSelection(): void {
    const own = this.selectedBox();
    this.picture.comeTo(own >= 0 ? [own] : this.readingBoxes().slice(0, 1));
  }

  /** Selects a node that may be hidden, and takes the keys. */
  goToNode(node: number): void {
    goTo(this, itemFor(this.viewing.graph, this.viewing.rows, node), true);
  }

  selectBox(box: number): void {
    if (this.scene && box >= 0) {
      selectSeen(this, box);
      this.picture.comeTo([box]);
    }
  }

  /** A click leaves the picture as it is; the details come at the side where they do not cover the box. */
  private click(box: number, more: boolean): void {
    const { viewing } = this;
    // Ways that are asked for lead to what is selected next, by a click too.
    const asked = viewing.origin !== null && viewing.origin === viewing.selected;
    viewing.origin = box >= 0 && (more || asked) ? viewing.selected : null;
    this.events.clicked(box);
    selectSeen(this, box);
  }

  select(item: number | null): void {
    this.viewing.select(item);
    this.mark();
  }

  /** Shows the selection everywhere: in the picture, in the tree, and whatever else tells of it. */
  mark(): void {
    const { linked, origin } = this.viewing;
    const box = this.selectedBox();
    const lit = new Set([...linked.map(node => this.boxOf(node)).filter(one => one >= 0), ...this.readingBoxes()]);
    if (this.scene && origin !== null) {
      lit.add(this.boxOfItem(origin));
    }
    this.picture.select(box, [...lit]);
    this.relate();
    selectInTree(this.tree, this.prefix, box);
    if (box >= 0) {
      this.stage.setAttribute('aria-activedescendant', `${this.prefix}${box}`);
    } else {
      this.stage.removeAttribute('aria-activedescendant');
    }
    this.events.marked();
  }

  /** Lights what belongs with the selection or is searched for, and says what is lit. */
  relate(): void {
    const { scene } = this;
    if (!scene) {
      return;
    }
    const { document, search } = this.parts;
    const { graph, rows, selected, origin, linked, openings } = this.viewing;
    const seen = { document, visible: scene.visible, spread: openings.spread };
    const { faded, ways, words } = relate(seen, selected, origin, linked);
    this.picture.relate(search.faded(scene.visible) ?? faded, ways);
    this.events.changed();
    const crumbs = selected === null ? [] : crumbsOf(document, graph, rows, selected);
    this.trail.show(this.program.name, crumbs, words);
    this.keepTop();
  }

  /** Keeps the picture clear of the line at the top. */
  keepTop(): void {
    this.picture.setTop(this.trail.height);
    this.note.standBelow(this.trail.below);
  }

  /** Keeps the picture clear of the legend at the bottom. */
  keepFoot(): void {
    this.picture.setFoot(this.legend.height);
  }

  /** Keys are meant for the picture. */
  focus(): void {
    this.stage.focus({ preventScroll: true });
  }

  say(text: string): void {
    this.note.say(text);
  }
}
