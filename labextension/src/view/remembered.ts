/**
 * What is visible with given rows open, made once: a first view that was chosen is drawn next, and a stage that is
 * entered again is as it was.
 */
import type { Document, Graph } from '../document/graph.ts';
import { Apart, Brevity } from './folds.ts';
import { show, type ViewState } from './view.ts';
import type { VisibleGraph } from './visible.ts';

/** By the rows that are open, which is a new set whenever another one is opened or closed. */
const known = new WeakMap<ReadonlySet<number>, Remembered>();

interface Remembered {
  readonly graph: Graph;
  readonly brevity: number;
  readonly types: boolean;
  readonly long: boolean;
  readonly apart: number;
  readonly visible: VisibleGraph;
}

/** What is not known is made by `make`. */
export function remembered(
  document: Document,
  graph: Graph,
  state: ViewState,
  make: (document: Document, graph: Graph, state: ViewState) => VisibleGraph = show
): VisibleGraph {
  if (state.all || state.spread?.size) {
    return show(document, graph, state);
  }
  const { brevity = Brevity.none, types = false, long = false, apart = Apart.none } = state;
  const before = known.get(state.open);
  if (
    before?.graph === graph &&
    before.brevity === brevity &&
    before.types === types &&
    before.long === long &&
    before.apart === apart
  ) {
    return before.visible;
  }
  const visible = make(document, graph, state);
  known.set(state.open, { graph, brevity, types, long, apart, visible });
  return visible;
}
