/** From what is open to where it stands: lays out what is visible, in a worker, and drops what was overtaken. */
import type { Document, Graph } from '../document/graph.ts';
import { makeScene, type Scene } from '../draw/scene.ts';
import type { LookName } from '../draw/theme.ts';
import { measure } from '../draw/text.ts';
import type { LayoutClient, LayoutJob } from '../layout/client.ts';
import { counterparts } from '../view/counterparts.ts';
import { aspectOf, type Space } from '../view/first.ts';
import type { ViewState } from '../view/folds.ts';
import { hullsOf } from '../view/hulls.ts';
import { placesBefore, toLayout } from '../view/place.ts';
import { show } from '../view/view.ts';
import type { VisibleGraph } from '../view/visible.ts';

/** ms after which it is said what is waited for. */
const SLOW = 300;

export interface PlacingParts {
  readonly document: Document;
  readonly layouts: LayoutClient;
  /** The room for the picture. */
  space(): Space;
  looks(visible: VisibleGraph): readonly LookName[];
  say(text: string): void;
}

export interface Placed {
  readonly scene: Scene;
  /** For each box, the one of the scene before that it was, or -1. */
  readonly from: Int32Array | undefined;
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

  constructor(private readonly parts: PlacingParts) {}

  /** Places what is visible now; null where that was overtaken, or is not possible and was said. */
  async place(graph: Graph, state: ViewState, { kernels, afresh }: PlacingWishes): Promise<Placed | null> {
    const { document, layouts, space, looks, say } = this.parts;
    const visible = show(document, graph, state);
    this.job?.cancel();
    const { last } = this;
    const from = last ? counterparts(document, last.visible, visible) : undefined;
    const before = last && from && !afresh ? { before: placesBefore(from, last.layout) } : {};
    const job = layouts.layout(toLayout(visible, measure, { aspect: aspectOf(space()), ...before }));
    this.job = job;
    // Only what takes long is said to take long.
    const slow = setTimeout(() => say(`placing ${visible.count} boxes`), SLOW);
    try {
      const hulls = kernels ? hullsOf(document, visible) : [];
      const scene = makeScene(visible, await job.result, looks(visible), hulls);
      if (this.job !== job) {
        return null;
      }
      say(visible.count ? scene.layout.simplified.join('; ') : 'This program is empty: it has no operations.');
      this.last = scene;
      return { scene, from };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'AbortError') {
        say(`This picture could not be placed: ${error instanceof Error ? error.message : String(error)}`);
      }
      return null;
    } finally {
      clearTimeout(slow);
      this.job = this.job === job ? null : this.job;
    }
  }

  /** True while a picture is on its way. */
  get busy(): boolean {
    return this.job !== null;
  }

  cancel(): void {
    this.job?.cancel();
  }
}
