/**
 * When the person's source stands beside the picture: when it is asked for, and where there is room for it anyway, in
 * the whole window and in a tab. What is only there for the room gives it to a second picture.
 */
import type { Document, Graph } from '../document/graph.ts';
import { SourcePane, type SourceActions } from './source.ts';

/** px of an explorer in which two pictures have enough room beside the source. */
const ROOM_FOR_ALL = 1500;
/** px of one in which there is room for the source beside one picture and its details. */
const ROOM_FOR_IT = 660;

export interface ReadingParts extends SourceActions {
  readonly root: HTMLElement;
  /** What is seen now: the graph, and the nodes of it that are told of. */
  readonly seen: () => { readonly graph: Graph; readonly told: readonly number[] };
  /** Says in the bar whether it is there. */
  readonly told: (shown: boolean) => void;
}

/** How it stands, for the picture that takes the place of this one. */
export interface ReadingStand {
  readonly shown: boolean;
  readonly passing: boolean;
  readonly gaveWay: boolean;
}

export class Reading {
  private readonly pane: SourcePane;
  /** True while it is there because there is room. */
  private passing = false;
  /** True while it would be there, but for the second picture. */
  private gaveWay = false;

  constructor(
    document: Document,
    private readonly parts: ReadingParts
  ) {
    this.pane = new SourcePane(document, parts);
  }

  get root(): HTMLElement {
    return this.pane.root;
  }

  get shown(): boolean {
    return this.pane.shown;
  }

  get standing(): ReadingStand {
    return { shown: this.shown, passing: this.passing, gaveWay: this.gaveWay };
  }

  stand({ shown, passing, gaveWay }: ReadingStand): void {
    this.show(shown);
    this.passing = passing;
    this.gaveWay = gaveWay;
  }

  /** Because the person asks for it, or no longer wants it. */
  toggle(): void {
    this.show(!this.shown);
  }

  /** There is room for it from now on, or no longer. */
  setRoom(room: boolean, second: boolean): void {
    // What is not on the screen yet has no width. Most tabs have room; which one has none is seen when it is there.
    const width = this.parts.root.clientWidth || ROOM_FOR_IT;
    if (room && !this.parts.root.clientWidth) {
      this.leaveWhereNarrow();
    }
    if (room && !this.shown && width >= ROOM_FOR_IT) {
      this.gaveWay = second;
      if (!second) {
        this.showInPassing();
      }
    } else if (!room) {
      this.gaveWay = false;
      if (this.passing) {
        this.show(false);
      }
    }
  }

  /** A second picture comes, or goes again. */
  setSecond(second: boolean): void {
    if (second && this.passing && this.parts.root.clientWidth < ROOM_FOR_ALL) {
      this.show(false);
      this.gaveWay = true;
    } else if (!second && this.gaveWay) {
      this.showInPassing();
    }
  }

  /** Another graph is seen. */
  fill(graph: Graph): void {
    if (this.shown) {
      this.pane.fill(graph);
    }
  }

  /** Other nodes are told of. */
  mark(graph: Graph, told: readonly number[]): void {
    if (this.shown) {
      this.pane.mark(graph, told);
    }
  }

  /** Once the width is known, what is only there for the room goes where there is none. */
  private leaveWhereNarrow(): void {
    const observer = new ResizeObserver(() => {
      const { clientWidth } = this.parts.root;
      if (clientWidth) {
        observer.disconnect();
        if (this.passing && clientWidth < ROOM_FOR_IT) {
          this.show(false);
        }
      }
    });
    observer.observe(this.parts.root);
  }

  private showInPassing(): void {
    this.show(true);
    this.passing = true;
  }

  private show(shown: boolean): void {
    this.passing = this.gaveWay = false;
    this.root.hidden = !shown;
    this.parts.root.classList.toggle('jv-reading', shown);
    this.parts.told(shown);
    if (shown) {
      const { graph, told } = this.parts.seen();
      this.pane.fill(graph);
      this.pane.mark(graph, told);
    }
  }
}
