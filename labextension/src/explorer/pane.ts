/**
 * One picture of a document: the canvas with its legend, its trail and its tree for screen readers. Shows what is open,
 * selected and lit; what a person can do in it is in `acts.ts`.
 */
import { firstView, openEverything, type Space } from '../view/first.ts';
import { kernelTreeOf } from '../view/kernelTree.ts';
import { boxOfItem, boxOfNode } from '../view/seen.ts';
import type { Document } from '../document/graph.ts';
import type { Scene } from '../draw/scene.ts';
import { measure } from '../draw/text.ts';
import type { Palette } from '../draw/theme.ts';
import type { LayoutClient } from '../layout/client.ts';
import { layout } from '../layout/layout.ts';
import { leaveTo, spread, toggle } from './acts.ts';
import type { Colours } from './colours.ts';
import { element } from './elements.ts';
import { Height } from './height.ts';
import { Legend } from './legend.ts';
import { failureMarks } from './failure.ts';
import { marksOf } from './marks.ts';
import { Picture } from './picture.ts';
import { Placing } from './placing.ts';
import { relate } from './relate.ts';
import type { Search } from './search.ts';
import { crumbsOf, Trail } from './trail.ts';
import { fillTree, selectInTree } from './tree.ts';
import { Viewing } from './viewing.ts';

export interface PaneParts {
  readonly document: Document;
  readonly layouts: LayoutClient;
  readonly colours: Colours;
  readonly search: Search;
  readonly palette: Palette;
  /** The number of the graph that is shown first. */
  readonly graph: number;
  readonly height?: number | undefined;
  readonly fill?: boolean | undefined;
  /** True while the explorer has the whole window. */
  whole(): boolean;
}

export interface PaneEvents {
  /** Another graph is shown, or the same one afresh. */
  entered(): void;
  /** Another scene is on the screen. */
  shown(scene: Scene): void;
  /** A box was clicked; its item is selected next. */
  clicked(box: number): void;
  /** What is selected or lit has changed. */
  marked(): void;
  /** What is seen has changed in any way. */
  changed(): void;
}

let count = 0;

export class Pane {
  readonly root = element('div', 'jv-stage-area');
  readonly viewing: Viewing;
  readonly height: Height;
  readonly picture: Picture;
  scene: Scene | null = null;
  private readonly legend = new Legend();
  private readonly note = element('div', 'jv-note');
  private readonly trail = new Trail({ leaveTo: row => leaveTo(this, row) });
  private readonly tree = element('div', 'jv-tree');
  private readonly prefix = `jv-${++count}-`;
  private readonly placing: Placing;
  private palette: Palette;

  constructor(
    private readonly parts: PaneParts,
    private readonly events: PaneEvents
  ) {
    const { document, layouts, colours } = parts;
    this.palette = parts.palette;
    this.viewing = new Viewing(document, parts.graph);
    this.height = new Height(this.root, parts.height, parts.fill === true);
    this.placing = new Placing({
      document,
      layouts,
      space: () => this.space(),
      looks: visible => colours.colour(visible).looks,
      say: text => this.say(text)
    });
    this.build();
    this.picture = new Picture(this.root, parts.palette, {
      select: (box, more) => this.click(box, more),
      toggle: box => box >= 0 && this.scene && toggle(this, this.scene.visible.item[box]),
      spread: box => this.scene && spread(this, this.scene.visible.item[box])
    });
  }

  dispose(): void {
    this.placing.cancel();
    this.picture.dispose();
    this.root.remove();
  }

  private build(): void {
    const { root, tree } = this;
    root.tabIndex = 0;
    root.setAttribute('role', 'application');
    root.setAttribute('aria-roledescription', 'graph');
    root.setAttribute('aria-label', `${this.parts.document.programs[0]?.call ?? 'program'}; ? for keys`);
    tree.setAttribute('role', 'tree');
    tree.id = `${this.prefix}tree`;
    tree.setAttribute('aria-label', 'operations');
    root.setAttribute('aria-controls', tree.id);
    root.append(this.legend.root, this.note, this.trail.root, tree);
  }

  /** True where all that was asked for is on the screen and nothing moves. */
  get atRest(): boolean {
    return !this.placing.busy && this.picture.atRest;
  }

  /** Shows the graph as it was left, or for the first time. */
  start(graph = this.viewing.at): void {
    this.viewing.change(graph, () => this.first(graph));
    this.events.entered();
  }

  /** Shows another graph. The selection goes along the links, and so does what was lit. */
  enter(graph: number, node = -1): void {
    if (graph === this.viewing.at) {
      return;
    }
    this.scene = null;
    const lost = this.viewing.goAlong(graph, node, () => this.first(graph));
    this.events.entered();
    const byKernel = this.viewing.graph === kernelTreeOf(this.parts.document);
    void this.layOut(this.viewing.selected, byKernel).then(() => {
      if (lost) {
        this.say(`${lost} has no counterpart here`);
      }
    });
    this.focus();
  }

  /** Shows another graph from the beginning, without what was selected before; nothing is placed yet. */
  change(graph: number): void {
    this.scene = null;
    this.start(graph);
  }

  private first(graph: number): ReadonlySet<number> {
    const { document } = this.parts;
    return firstView(document, document.graphs[graph], this.space(), measure, layout).open;
  }

  private space(): Space {
    return this.height.space(this.parts.whole());
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
      this.show(placed.scene, placed.from, around);
    }
  }

  private show(scene: Scene, from: Int32Array | undefined, around: number | null): void {
    this.scene = scene;
    fillTree(this.tree, scene.visible, this.prefix);
    this.fillLegend();
    this.height.fit(scene, this.legend.height);
    this.picture.show(scene, from, around === null ? -1 : this.boxOfItem(around));
    const { document } = this.parts;
    this.picture.setMarks([...marksOf(document, scene.visible), ...failureMarks(document, scene.visible)]);
    this.events.shown(scene);
    this.mark();
  }

  private fillLegend(): void {
    if (this.scene) {
      const { title, legend } = this.parts.colours.colour(this.scene.visible);
      this.legend.fill(title, legend, this.palette);
      this.picture.setFoot(this.legend.height);
    }
  }

  /** The same picture in other colours. */
  recolour(): void {
    if (this.scene) {
      this.scene = { ...this.scene, looks: this.parts.colours.colour(this.scene.visible).looks };
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

  /** Lights nodes; a second time lets go. */
  pick(nodes: readonly number[]): void {
    const lit = this.viewing.light(nodes);
    this.mark();
    const box = lit ? this.boxOf(nodes[0]) : -1;
    if (box >= 0) {
      this.picture.reveal(box);
    }
  }

  /** A click leaves the picture as it is; the details come at the side where they do not cover the box. */
  private click(box: number, more: boolean): void {
    this.viewing.origin = more ? this.viewing.selected : null;
    this.events.clicked(box);
    this.select(box < 0 || !this.scene ? null : this.scene.visible.item[box]);
  }

  select(item: number | null): void {
    this.viewing.select(item);
    this.mark();
  }

  /** Shows the selection everywhere: in the picture, in the tree, and whatever else tells of it. */
  mark(): void {
    const { linked, origin } = this.viewing;
    const box = this.selectedBox();
    const lit = new Set(linked.map(node => this.boxOf(node)).filter(one => one >= 0));
    if (this.scene && origin !== null) {
      lit.add(this.boxOfItem(origin));
    }
    this.picture.select(box, [...lit]);
    this.relate();
    selectInTree(this.tree, this.prefix, box);
    if (box >= 0) {
      this.root.setAttribute('aria-activedescendant', `${this.prefix}${box}`);
    } else {
      this.root.removeAttribute('aria-activedescendant');
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
    this.trail.show(document.programs[0].name, crumbs, words);
  }

  /** Keys are meant for the picture. */
  focus(): void {
    this.root.focus({ preventScroll: true });
  }

  say(text: string): void {
    this.note.textContent = text;
    this.note.hidden = !text;
  }
}
