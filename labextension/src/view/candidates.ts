/** Which closed rows are worth opening, the most telling first: loops and branches before plain calls, what does much before what does little. */
import { RowKind } from '../document/graph.ts';
import { childrenOf, framesOne, isMachinery, type Rows } from './outline.ts';
import type { VisibleGraph } from './visible.ts';

/** Rows of fewer operations than this say more closed, by their name. */
const LEAST_OPERATIONS = 4;
/** Phases of no more things than this open beside larger ones that stay closed. */
const SHORT_PHASE = 3;
/** Statements and calls of which the larger has at most so many times the operations of the smaller are alike. */
const ALIKE = 1.5;

interface Candidate {
  readonly row: number;
  readonly weight: number;
  readonly loop: boolean;
  /** Comes after forward and backward: it opens when there is room beside them. */
  readonly late: boolean;
  /** Stands apart from what is larger, so that it may open beside it. */
  readonly alone: boolean;
}

/** Closed boxes worth opening, the most telling first. */
export function candidates(rows: Rows, visible: VisibleGraph): Candidate[] {
  const { outline } = rows;
  const backward = backwardPhases(rows);
  const updates = updatesAfter(rows, backward);
  const found: Candidate[] = [];
  for (let box = 0; box < visible.count; box++) {
    const row = visible.item[box];
    if (row < 0 || !visible.closed[box] || outline.closed[row] || isMachinery(rows, row) || framesOne(rows, row)) {
      continue;
    }
    const loop = outline.kind[row] === RowKind.loop || outline.kind[row] === RowKind.cond;
    if (loop || rows.operations[row] >= LEAST_OPERATIONS) {
      const folded = outline.count[row] > 1 || callsBack(rows, row) ? 2 : 1;
      const updating = updates(row);
      const share = updating || backward.has(rows.phase[row]) ? 1 / 8 : 1;
      const late = updating || (share < 1 && outline.twin[rows.phase[row]] < 0);
      const alone = loop || isShort(rows, row);
      found.push({ row, weight: rows.work[row] * folded * share, loop: loop && share === 1, late, alone });
    }
  }
  return found.sort(
    (a, b) => Number(b.loop) - Number(a.loop) || Number(a.late) - Number(b.late) || b.weight - a.weight || a.row - b.row
  );
}

/**
 * True for statements that stand side by side, and for calls of one function, that hold about as much: what opens of
 * the steps of one method opens of all, and what is shown of one call is not hidden of the other.
 */
export function areAlike({ outline, operations }: Rows, one: number, other: number): boolean {
  const [less, more] = [operations[one], operations[other]].sort((a, b) => a - b);
  const { kind, parent, name } = outline;
  if (kind[one] !== kind[other] || more > ALIKE * less) {
    return false;
  }
  return kind[one] === RowKind.statement
    ? parent[one] === parent[other]
    : kind[one] === RowKind.call && name[one] === name[other];
}

/** True for a row with more than half of the operations of its phase, or of the program where it stands in none. */
export function holdsMost(rows: Rows, row: number): boolean {
  return shareOf(rows, row) > 1 / 2;
}

/** How much a row with its copies holds of what is done in its phase, or of the program where it stands in none. */
export function shareOf(rows: Rows, row: number): number {
  const all = rows.work[Math.max(0, rows.phase[row])];
  return (copiesOf(rows, row) * rows.work[row]) / Math.max(1, all);
}

/** How many copies of a row there are in its phase: those of all stacks around it, of which it is drawn in the first. */
function copiesOf({ outline: { parent, count }, phase }: Rows, row: number): number {
  let copies = 1;
  for (let around = parent[row]; around >= 0 && around > phase[row]; around = parent[around]) {
    copies *= count[around];
  }
  return copies;
}

/** True for a row of a phase that mirrors an earlier one: without its twin beside it, it says little. */
export function mirrors({ outline: { twin }, phase }: Rows, row: number): boolean {
  return phase[row] >= 0 && twin[phase[row]] >= 0 && twin[phase[row]] < phase[row];
}

/** True for what a library does around a function of the person's, which he looks for. */
function callsBack({ outline: { kind, first, end }, count }: Rows, row: number): boolean {
  for (let inside = row + 1; kind[row] === RowKind.function && inside < count && first[inside] < end[row]; inside++) {
    if (kind[inside] === RowKind.call) {
      return true;
    }
  }
  return false;
}

/** True for a phase of few things, whose own name says less than theirs. */
function isShort({ outline, firstChild }: Rows, row: number): boolean {
  return outline.kind[row] === RowKind.phase && firstChild[row + 1] - firstChild[row] <= SHORT_PHASE;
}

/** Phases that mirror an earlier one, and the update after them: they open with their twins or not at all. */
function backwardPhases({ outline, count }: Rows): Set<number> {
  const found = new Set<number>();
  for (let row = 0; row < count; row++) {
    if (outline.kind[row] === RowKind.phase && (outline.twin[row] >= 0 ? outline.twin[row] < row : found.size > 0)) {
      found.add(row);
    }
  }
  return found;
}

/**
 * Tells of rows that are of no phase whether they come after a way back: beside it or inside what is beside it, or as
 * what a library alone does after what holds it, as the step of an optimizer that looks for its length.
 */
function updatesAfter(rows: Rows, backward: ReadonlySet<number>): (row: number) => boolean {
  const { outline, phase } = rows;
  const after = new Map<number, number>();
  const afterCall = new Map<number, number>();
  const add = (ends: Map<number, number>, row: number): void => {
    const around = outline.parent[row];
    ends.set(around, Math.min(ends.get(around) ?? Infinity, outline.end[row]));
  };
  for (const row of backward) {
    add(after, row);
    for (let at = outline.parent[row]; at > 0; at = outline.parent[at]) {
      add(afterCall, at);
    }
  }
  return row => {
    for (let at = row; at > 0 && phase[row] < 0; at = outline.parent[at]) {
      const ends = isOfLibrary(rows, at) ? [after, afterCall] : [after];
      if (ends.some(one => outline.first[at] >= (one.get(outline.parent[at]) ?? Infinity))) {
        return true;
      }
    }
    return false;
  };
}

/** True for a call of a library's function: right inside, it holds what that does and its loops, nothing of the person. */
function isOfLibrary(rows: Rows, row: number): boolean {
  const { kind } = rows.outline;
  const inside = [...childrenOf(rows, row)].map(child => kind[child]);
  return kind[row] === RowKind.call && inside.includes(RowKind.function) && inside.every(one => OF_LIBRARY.has(one));
}

/** What a function of a library may hold without a word of the person's. */
const OF_LIBRARY: ReadonlySet<number> = new Set([RowKind.function, RowKind.loop, RowKind.cond, RowKind.part]);
