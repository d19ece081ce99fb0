/** From what is open to where it stands: lays out what is visible, in a worker, and drops what was overtaken. */
import { numberText } from '../../view/words.ts';
import type { Document, Graph } from '../../document/graph.ts';
import { placeOf } from '../../document/states.ts';
import { makeScene, type Scene } from '../../draw/scene.ts';
import type { LookName } from '../../draw/theme.ts';
import { measure } from '../../draw/text.ts';
import type { LayoutClient, LayoutJob } from '../../layout/client.ts';
import type { Layout } from '../../layout/input.ts';
import { counterparts } from '../../view/counterparts.ts';
import { aspectOf, brevityIn, fitZoom, type Space } from '../../view/space.ts';
import { Brevity, type ViewState } from '../../view/folds.ts';

import { hullsOf } from '../../view/hulls.ts';
import { placesBefore, toLayout, withoutResults, type Wishes } from '../../view/place.ts';
import { remembered } from '../../view/remembered.ts';
import type { Followed } from '../versions/earlier.ts';
import type { NoteAction, NoteKind } from './note.ts';
import type { VisibleGraph } from '../../view/visible.ts';

/** ms after which it is said what is waited for. */
const SLOW = 300;
/** More boxes than this are not placed without being asked for twice. */
const MOST_BOXES = 60_000;
/** So many boxes are placed a second time without being waited for. */
const MOST_TWICE = 500;
/** So much larger a picture must be seen to be worth that boxes leave their places. */
const LARGER = 1.15;

export interface PlacingParts {
  readonly document: Document;
  readonly layouts: LayoutClient;
  /** The room for the picture. */
  space(): Space;
  /** What the panes leave free of it. */
  free(): Space;
  looks(visible: VisibleGraph): readonly LookName[];
  notes(visible: VisibleGraph): ReadonlyMap<number, string>;
  say(text: string, kind?: NoteKind, actions?: readonly NoteAction[]): void;
  /** Closes every region, where what is open is too much. */
  closeAll(): void;
  /** Places what is open once more. */
  again(): void;
}

export interface Placed {
  readonly scene: Scene;
  /** For each box, the one of the scene before that it was, or -1. */
  readonly from: Int32Array | undefined;
  /** True where what did not change is to stay where it is on the screen. */
  readonly still: boolean;
}

export interface PlacingWishes {
  readonly kernels: boolean;
  /** True where nothing needs to stay where it was. */
  readonly afresh: boolean;
}

export class Placing {
  /** The scene that was placed last, also while another stage is on its way. */
  private last: Scene | null = null;
  private job: LayoutJob | null = null;
  /** How each form of the program stood when it was seen last, and in a room of which shape. */
  private readonly stood = new WeakMap<Graph, { readonly scene: Scene; readonly aspect: number }>();
  /** Graphs of which the person wants to see everything, whatever it takes. */
  private readonly allowed = new WeakSet<Graph>();

  /** The picture of the explorer before, which the first one here follows. */
  private earlier: Followed | null = null;

  constructor(private readonly parts: PlacingParts) {}

  /** What is placed next takes the place of the picture of another explorer. */
  follow(earlier: Followed): void {
    this.cancel();
    this.earlier = earlier;
    this.last = earlier.scene;
  }

  /** Places what is visible now; null where that was overtaken, or is not possible and was said. */
  async place(graph: Graph, state: ViewState, { kernels, afresh }: PlacingWishes): Promise<Placed | null> {
    const { document, space, looks, notes, say } = this.parts;
    this.job?.cancel();
    const visible = remembered(document, graph, {
      ...state,
      brevity: Math.max(state.brevity ?? Brevity.none, brevityIn(space()))
    });
    if (visible.count > MOST_BOXES && !this.allowed.has(graph)) {
      this.refuse(graph, visible.count);
      return null;
    }
    const { last } = this;
    const from = last ? this.cameFrom(last, visible) : undefined;
    const job = last && from && !afresh ? this.layOutFrom(last, from, visible) : this.layOut(visible);
    this.job = job;
    // Only what takes long is said to take long.
    const slow = setTimeout(() => this.waitFor(job, visible.count), SLOW);
    try {
      const hulls = kernels ? hullsOf(document, visible) : [];
      const scene = makeScene(visible, await job.result, looks(visible), hulls, notes(visible));
      if (this.job !== job) {
        return null;
      }
      if (visible.count) {
        say(scene.layout.simplified.map(words => `${words}, and the way when a box is selected`).join('; '));
      } else {
        say('This program is empty: it has no operations and gives nothing back.', 'empty');
      }
      this.last = scene;
      this.earlier = null;
      this.stood.set(graph, { scene, aspect: aspectOf(space()) });
      return { scene, from, still: last !== null && this.isStep(last.visible.graph, visible.graph) };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'AbortError') {
        const why = error instanceof Error ? error.message : String(error);
        say(`This picture could not be placed: ${why}`, 'failed', [this.closing]);
      }
      return null;
    } finally {
      clearTimeout(slow);
      this.job = this.job === job ? null : this.job;
    }
  }

  /** For each box, the one of the scene before that it was, or -1. */
  private cameFrom(last: Scene, visible: VisibleGraph): Int32Array {
    const { earlier } = this;
    return earlier?.scene === last ? earlier.boxes(visible) : counterparts(this.parts.document, last.visible, visible);
  }

  private layOut(visible: VisibleGraph, before: Wishes = {}): LayoutJob {
    const { layouts, space } = this.parts;
    return layouts.layout(toLayout(visible, measure, { aspect: aspectOf(space()), ...before }));
  }

  /**
   * Boxes stay where they stood. Another form of the program has other boxes between them, which push them apart more
   * with every change: it is placed anew where it is seen so much larger so. A form that was seen before comes back as
   * it was; where other boxes are open by now, those that stood in it stay where they stood in it.
   */
  private layOutFrom(last: Scene, from: Int32Array, visible: VisibleGraph): LayoutJob {
    const isOther = this.isOtherForm(last.visible.graph, visible.graph);
    const before = isOther ? this.stood.get(visible.graph) : undefined;
    if (before?.aspect === aspectOf(this.parts.space()) && hasSameBoxes(before.scene.visible, visible)) {
      return { result: Promise.resolve(before.scene.layout), cancel: () => undefined };
    }
    const wishes = before
      ? placesBefore(counterparts(this.parts.document, before.scene.visible, visible), before.scene.layout)
      : placesBefore(from, last.layout);
    const steps = this.isStep(last.visible.graph, visible.graph);
    let job = this.layOut(visible, steps ? withoutResults(visible, wishes) : wishes);
    if (!isOther || visible.count > MOST_TWICE) {
      return job;
    }
    const zoom = (layout: Layout): number => fitZoom(layout, this.parts.free());
    const choose = async (): Promise<Layout> => {
      const stayed = await job.result;
      if (zoom(stayed) >= 1) {
        return stayed;
      }
      job = this.layOut(visible);
      const anew = await job.result;
      return zoom(anew) >= LARGER * zoom(stayed) ? anew : stayed;
    };
    return { result: choose(), cancel: () => job.cancel() };
  }

  /** True where the passes of the compiler are stepped through: what they leave alone is to stay put. */
  private isStep(one: Graph, other: Graph): boolean {
    return one !== other && this.isPass(one) && this.isPass(other);
  }

  private isPass(graph: Graph): boolean {
    const { document } = this.parts;
    return placeOf(document, document.graphs.indexOf(graph)) !== undefined;
  }

  /** True for two stages, but not where one is a pass of the compiler: from pass to pass, only what changed moves. */
  private isOtherForm(one: Graph, other: Graph): boolean {
    // The same graph in another fold has the same columns.
    return one.kind !== other.kind && !this.isPass(one) && !this.isPass(other);
  }

  /** Says what is waited for, and lets the person stop it: the picture stays as it was. */
  private waitFor(job: LayoutJob, boxes: number): void {
    const { say } = this.parts;
    const stop = (): void => {
      job.cancel();
      say(`stopped: ${countText(boxes)} are open, and the picture is as it was before`, 'said', [this.closing]);
    };
    say(`placing ${countText(boxes)}`, 'busy', [{ label: 'stop', title: 'Stop, and keep the picture', does: stop }]);
  }

  /** More than a picture can show is placed only where the person asks for it again. */
  private refuse(graph: Graph, boxes: number): void {
    const again = (): void => {
      this.allowed.add(graph);
      this.parts.again();
    };
    this.parts.say(`${countText(boxes)} at once are more than can be read, and take a while.`, 'failed', [
      { label: 'place them', title: 'Place all of them anyway', does: again },
      this.closing
    ]);
  }

  private get closing(): NoteAction {
    return { label: 'close all', title: 'Close every region', does: () => this.parts.closeAll() };
  }

  /** True while a picture is on its way. */
  get busy(): boolean {
    return this.job !== null;
  }

  cancel(): void {
    this.job?.cancel();
  }
}

function hasSameBoxes(one: VisibleGraph, other: VisibleGraph): boolean {
  const same = (a: Int32Array | Uint8Array, b: Int32Array | Uint8Array): boolean =>
    a.length === b.length && a.every((value, i) => value === b[i]);
  return (
    one === other ||
    (same(one.item, other.item) &&
      same(one.closed, other.closed) &&
      same(one.source, other.source) &&
      same(one.target, other.target))
  );
}

function countText(boxes: number): string {
  return `${numberText(boxes)} box${boxes === 1 ? '' : 'es'}`;
}
