/**
 * Chooses what is open at first without holding anybody up: layouts are made in the worker, and the rest is done in
 * pieces. Small graphs are done before a person could notice.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { MOST_WORK, pause } from '../../document/pause.ts';
import { measure } from '../../draw/text.ts';
import type { LayoutClient, LayoutJob } from '../../layout/client.ts';
import type { Layout } from '../../layout/input.ts';
import { layout } from '../../layout/layout.ts';
import { firstSteps, firstView } from '../../view/first.ts';
import type { Space } from '../../view/space.ts';
import type { ViewState } from '../../view/folds.ts';

/** In graphs of no more nodes than this, everything is chosen at once. */
const AT_ONCE = 2_000;

/** ms after which it is said what is waited for. */
const SLOW = 300;

interface Known {
  readonly space: Space;
  readonly first: ViewState;
}

export class Choosing {
  /** Of each graph how it was seen at first, and in which room. */
  private readonly known = new Map<number, Known>();
  private stop: (() => void) | null = null;

  constructor(
    private readonly document: Document,
    private readonly layouts: LayoutClient,
    private readonly space: () => Space,
    /** Hears when a choice takes long, and when it is made or given up then. */
    private readonly slow: (waits: boolean) => void = () => undefined,
    /** The part of the space that a picture is chosen for; what comes to cover more of it chooses nothing anew. */
    private readonly room = space,
    /** How a graph is seen beside another one, by how it is alone. */
    private readonly agreed = (_graph: number, alone: ViewState): ViewState => alone
  ) {}

  /** True while a choice is made. */
  get busy(): boolean {
    return this.stop !== null;
  }

  /** How a graph is seen at first. */
  first(graph: number): ViewState {
    return this.agreed(graph, this.alone(graph));
  }

  /** The same of what can be known of it at once. */
  ready(graph: number): ViewState | undefined {
    return this.knownOf(graph) ?? (this.document.graphs[graph].nodeCount > AT_ONCE ? undefined : this.alone(graph));
  }

  /** Chosen anew only for another room. */
  private alone(graph: number): ViewState {
    const known = this.knownOf(graph);
    if (known) {
      return known;
    }
    const space = this.space();
    const first = firstView(this.document, this.document.graphs[graph], this.room(), measure, layout);
    this.known.set(graph, { space, first });
    return first;
  }

  /** Calls `then` once it is known what is open at first of a graph: at once where that takes no time. */
  whenOpen(graph: number, then: () => void): void {
    this.cancel();
    const chosen = this.document.graphs[graph];
    if (this.knownOf(graph) || chosen.nodeCount <= AT_ONCE) {
      then();
      return;
    }
    const space = this.space();
    let stopped = false;
    let job: LayoutJob | null = null;
    let waits = false;
    const waiting = setTimeout(() => {
      waits = true;
      this.slow(true);
    }, SLOW);
    const end = (): void => {
      clearTimeout(waiting);
      if (waits) {
        this.slow(false);
      }
    };
    const stop = (): void => {
      stopped = true;
      job?.cancel();
      end();
    };
    const place = (made: LayoutJob): Promise<Layout> => {
      job = made;
      return made.result;
    };
    this.stop = stop;
    void this.choose(chosen, this.room(), place, () => stopped)
      .catch((): ViewState => ({ open: new Set() }))
      .then(first => {
        if (!stopped) {
          this.stop = null;
          end();
          this.known.set(graph, { space, first });
          then();
        }
      });
  }

  /** Whoever waits is not called any more. */
  cancel(): void {
    this.stop?.();
    this.stop = null;
  }

  private async choose(
    graph: Graph,
    space: Space,
    place: (job: LayoutJob) => Promise<Layout>,
    stopped: () => boolean
  ): Promise<ViewState> {
    const steps = firstSteps(this.document, graph, space, measure);
    let since = performance.now();
    let next = steps.next();
    while (!next.done && !stopped()) {
      let placed: Layout | undefined;
      if (next.value) {
        placed = await place(this.layouts.layout(next.value));
        since = performance.now();
      } else if (performance.now() - since > MOST_WORK) {
        await pause();
        since = performance.now();
      }
      next = steps.next(placed);
    }
    return next.done ? next.value : { open: new Set() };
  }

  private knownOf(graph: number): ViewState | undefined {
    const known = this.known.get(graph);
    const { width, height } = this.space();
    return known?.space.width === width && known.space.height === height ? known.first : undefined;
  }
}
