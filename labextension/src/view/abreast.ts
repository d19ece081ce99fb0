/**
 * Two versions of a program side by side: what is open in one is open in the other, so that what looks different is so.
 * What one has no room for is closed in both.
 */
import type { Document, Graph } from '../document/graph.ts';
import { comparedLinks } from '../document/programs.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { rowsLike } from './counterparts.ts';
import { LEAST_ZOOM, MOST_BOXES } from './first.ts';
import { Brevity, type ViewState } from './folds.ts';
import { openRow } from './opening.ts';
import { rowOpens, rowsOf, type Rows } from './outline.ts';
import { toLayout } from './place.ts';
import { remembered } from './remembered.ts';
import { boxesIn } from './showing.ts';
import type { Measure } from './sizes.ts';
import { aspectOf, brevityIn, fitZoom, type Space } from './space.ts';

/** One of the two: how it would be seen alone, and in which space. */
export interface Side {
  readonly graph: Graph;
  readonly state: ViewState;
  readonly space: Space;
}

/** True for the same stage of two programs that are compared. */
export function areVersions(document: Document, one: number, other: number): boolean {
  return comparedLinks(document).some(
    ({ from, to }) => (from === one && to === other) || (from === other && to === one)
  );
}

/** How both are seen side by side: with as long words as there is room for. */
export function abreast(
  document: Document,
  one: Side,
  other: Side,
  measure: Measure,
  layout: (input: LayoutInput) => Layout
): readonly [ViewState, ViewState] {
  const fits = ({ graph, space }: Side, state: ViewState): boolean => {
    const visible = remembered(document, graph, state);
    return (
      boxesIn(visible) <= MOST_BOXES &&
      fitZoom(layout(toLayout(visible, measure, { aspect: aspectOf(space) })), space) >= LEAST_ZOOM
    );
  };
  const least = Math.max(brevityIn(one.space), brevityIn(other.space));
  const most = Math.max(one.state.brevity ?? least, other.state.brevity ?? least);
  const opened: Both = [withLike(document, one, other), withLike(document, other, one)];
  for (let brevity = least; brevity <= most; brevity++) {
    const both = inTheSameWords(opened, brevity);
    if (fits(one, both[0]) && fits(other, both[1])) {
      return both;
    }
  }
  const closed: Both = [withoutClosed(document, one, other), withoutClosed(document, other, one)];
  for (let brevity = least; brevity < most; brevity++) {
    const both = inTheSameWords(closed, brevity);
    if (fits(one, both[0]) && fits(other, both[1])) {
      return both;
    }
  }
  return inTheSameWords(closed, most);
}

type Both = readonly [ViewState, ViewState];

/** Words that are cut in one are so in the other. */
function inTheSameWords([one, other]: Both, brevity: number): Both {
  const words = { brevity, types: !!one.types && !!other.types, long: !!one.long && !!other.long };
  return [
    { ...one, ...words },
    { ...other, ...words }
  ];
}

/** True where two ways to see a graph at first open the same, in the same words. */
export function isSame(one: ViewState, other: ViewState): boolean {
  const words = ({ brevity = Brevity.none, types = false, long = false }: ViewState): string =>
    [brevity, types, long].join();
  return (
    one.open.size === other.open.size && [...one.open].every(row => other.open.has(row)) && words(one) === words(other)
  );
}

/** With the rows open that are open in the other version. */
function withLike(document: Document, { graph, state }: Side, there: Side): ViewState {
  const rows = rowsOf(document, graph);
  const like = [...there.state.open].flatMap(row => rowsLike(document, there.graph, row, graph));
  const missing = like.filter(row => rowOpens(rows, row) && !state.open.has(row));
  const open = missing.reduce(
    (all, row) => openRow(rows, openAround(rows, all, row), row, undefined, false),
    state.open
  );
  // There is room for the boxes alone.
  return missing.length ? { ...state, open, types: false, long: false } : state;
}

function openAround(rows: Rows, open: ReadonlySet<number>, row: number): ReadonlySet<number> {
  const around: number[] = [];
  for (let at = rows.outline.parent[row]; at > 0; at = rows.outline.parent[at]) {
    around.push(at);
  }
  return new Set([...open, ...around.filter(one => rowOpens(rows, one))]);
}

/** Without the rows that the other version has too, but not open. */
function withoutClosed(document: Document, { graph, state }: Side, there: Side): ViewState {
  const rows = rowsOf(document, there.graph);
  const closed = [...state.open].filter(row => {
    const like = rowsLike(document, graph, row, there.graph).filter(one => rowOpens(rows, one));
    return like.length > 0 && !like.some(one => there.state.open.has(one));
  });
  return closed.length ? { ...state, open: new Set([...state.open].filter(row => !closed.includes(row))) } : state;
}
