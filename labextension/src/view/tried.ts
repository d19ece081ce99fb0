/**
 * What is tried while a first view is chosen. The same rows are tried with shorter words, and counted before they are
 * shown: what stands where is made once.
 */
import type { Document, Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';
import { Folds, type ViewState } from './folds.ts';
import { rowsOf } from './outline.ts';
import { remembered } from './remembered.ts';
import { joined, worded, type Joined } from './view.ts';
import type { VisibleGraph } from './visible.ts';
import { getOrMake } from '../maps';

interface Trial {
  readonly folds: Folds;
  readonly boxes: number;
  joined?: Joined;
}

export class Tried {
  /** By the rows that are open. */
  private readonly trials = new Map<string, Trial>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {}

  /** How many boxes stand for operations, which is known long before there is a picture. */
  boxes(open: ReadonlySet<number>): number {
    return this.trial(open).boxes;
  }

  shown(state: ViewState): VisibleGraph {
    return remembered(this.document, this.graph, state, () => {
      const trial = this.trial(state.open);
      trial.joined ??= joined(this.document, trial.folds);
      return worded(this.document, trial.joined, state);
    });
  }

  private trial(open: ReadonlySet<number>): Trial {
    const key = [...open].sort((a, b) => a - b).join();
    return getOrMake(this.trials, key, () => {
      const { document, graph } = this;
      const folds = new Folds(graph, rowsOf(document, graph), bordersOf(graph), { open });
      return { folds, boxes: folds.operationBoxes };
    });
  }
}
