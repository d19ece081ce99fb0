/**
 * When the person's source, or the text of the stage, stands beside the picture: when it is asked for, and where there is room for it anyway, in
 * the whole window and in a tab. What is only there for the room gives it to a second picture.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { Divider } from '../divider.ts';
import { SourcePane, type SourceActions, type Written } from './source.ts';

/** px of an explorer in which two pictures have enough room beside the source. */
const ROOM_FOR_ALL = 1500;
/** px of one in which there is room for the source beside one picture and its details; and of a figure in a page. */
const ROOM_FOR_IT = 660;
const ROOM_IN_A_FIGURE = 900;
/** px of one in which the source stands over the picture: side by side, neither could be read. */
const SLIM = 560;
/** The same of one with two pictures. */
const SLIM_FOR_TWO = 760;

export interface ReadingParts extends Omit<SourceActions, 'chosen' | 'close'> {
  readonly root: HTMLElement;
  /** True for a figure in a page that is read. */
  readonly figure: boolean;
  /** What is seen now: the graph, and the nodes of it that are told of. */
  readonly seen: () => { readonly graph: Graph; readonly told: readonly number[] };
  /** The nodes that are searched for. */
  readonly matches: () => readonly number[];
  /** Says in the bar whether the source is there; where there is none, the text of the stage. */
  readonly told: (shown: boolean) => void;
  /** The person asked for something else of it. */
  readonly changed: () => void;
}

/** How it stands, for the picture that takes the place of this one. */
export interface ReadingStand {
  readonly shown: boolean;
  readonly passing: boolean;
  readonly gaveWay: boolean;
  /** What the person chose to read; null for what there is. */
  readonly written: Written | null;
}

export class Reading {
  /** Between the source and the picture. */
  readonly divider: Divider;
  private readonly pane: SourcePane;
  /** True while it is there because there is room. */
  private passing = false;
  /** True while it would be there, but for the second picture or for the width. */
  private gaveWay = false;
  /** True while a second picture is there. */
  private second = false;
  private readonly width = new ResizeObserver(() => this.followWidth());

  constructor(
    document: Document,
    private readonly parts: ReadingParts
  ) {
    this.pane = new SourcePane(document, {
      ...parts,
      chosen: () => this.ask(true),
      close: () => this.ask(false)
    });
    this.divider = new Divider({
      what: 'source',
      key: 'jaxviz.source.width',
      own: () => this.root.clientWidth / Math.max(1, this.root.parentElement?.clientWidth ?? 1),
      moved: place => this.widen(place),
      rested: () => undefined
    });
    this.divider.root.hidden = true;
    this.widen(this.divider.chosen);
    this.width.observe(parts.root);
  }

  dispose(): void {
    this.width.disconnect();
  }

  get root(): HTMLElement {
    return this.pane.root;
  }

  get shown(): boolean {
    return this.pane.shown;
  }

  /** What the person asked for; undefined where it is not there, or only for the room. */
  get asked(): Written | undefined {
    return this.shown && !this.passing ? this.pane.written : undefined;
  }

  /** Shows what was asked for in a view that was saved; what is there else stays. */
  restore(asked: Written | undefined): void {
    if (asked) {
      this.pane.chosen = asked;
      this.show(true);
    }
  }

  get standing(): ReadingStand {
    return { shown: this.shown, passing: this.passing, gaveWay: this.gaveWay, written: this.pane.chosen };
  }

  stand({ shown, passing, gaveWay, written }: ReadingStand): void {
    this.pane.chosen = written;
    this.show(shown);
    this.passing = passing;
    this.gaveWay = gaveWay;
  }

  /** Because the person asks for it, or no longer wants it: the source, or what there is in its place. */
  toggle(): void {
    this.read(this.pane.source);
  }

  /** The same of the text of the stage. */
  toggleText(): void {
    this.read('stage');
  }

  private read(written: Written): void {
    const away = this.shown && this.pane.written === written;
    this.pane.chosen = written;
    this.ask(!away);
  }

  /** It comes or goes because the person wants it so. */
  private ask(shown: boolean): void {
    this.show(shown);
    this.parts.changed();
  }

  /** There is room for it from now on, or no longer. */
  setRoom(room: boolean, second: boolean): void {
    this.second = second;
    if (room && !this.shown) {
      this.gaveWay = true;
      // What is not on the screen yet has no width. Most tabs have room; which one has none is seen when it is there.
      this.follow(this.parts.root.clientWidth || this.enough);
    } else if (!room) {
      this.gaveWay = false;
      if (this.passing) {
        this.show(false);
      }
    }
  }

  /** A second picture comes, or goes again. */
  setSecond(second: boolean): void {
    this.second = second;
    this.followWidth();
  }

  /** Another graph is seen. */
  fill(graph: Graph): void {
    if (this.shown) {
      this.pane.fill(graph);
      this.pane.find(this.parts.matches());
    }
  }

  /** Something else is searched for. */
  find(): void {
    if (this.shown) {
      this.pane.find(this.parts.matches());
    }
  }

  /** The pointer is on something else in the picture. */
  hint(graph: Graph, nodes: readonly number[]): void {
    if (this.shown) {
      this.pane.hint(graph, nodes);
    }
  }

  /** Colours tell of something else. */
  recolour(): void {
    if (this.shown) {
      this.pane.recolour();
    }
  }

  /** Other nodes are told of. */
  mark(graph: Graph, told: readonly number[]): void {
    if (this.shown) {
      this.pane.mark(graph, told);
    }
  }

  private followWidth(): void {
    const { clientWidth } = this.parts.root;
    // What is behind another tab has no width, and is seen again as it was.
    if (clientWidth) {
      this.parts.root.classList.toggle('jv-slim', clientWidth < (this.second ? SLIM_FOR_TWO : SLIM));
      this.follow(clientWidth);
    }
  }

  /** What is only there for the room goes where there is none, and comes back with it. */
  private follow(width: number): void {
    if (this.passing && width < (this.second ? ROOM_FOR_ALL : this.enough)) {
      this.show(false);
      this.gaveWay = true;
    } else if (this.gaveWay && !this.second && width >= this.enough) {
      this.showInPassing();
    }
  }

  private get enough(): number {
    return this.parts.figure ? ROOM_IN_A_FIGURE : ROOM_FOR_IT;
  }

  private showInPassing(): void {
    this.show(true);
    this.passing = true;
  }

  private widen(place: number | null): void {
    this.root.style.setProperty('--jv-source-share', place === null ? '' : `${100 * place}%`);
  }

  private show(shown: boolean): void {
    this.passing = this.gaveWay = false;
    this.root.hidden = this.divider.root.hidden = !shown;
    this.parts.root.classList.toggle('jv-reading', shown);
    this.parts.told(shown && this.pane.written === this.pane.source);
    if (shown) {
      const { graph, told } = this.parts.seen();
      this.pane.fill(graph);
      this.pane.find(this.parts.matches());
      this.pane.mark(graph, told);
      this.divider.tell();
    }
  }
}
