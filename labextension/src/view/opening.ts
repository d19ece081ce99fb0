/** What opens with a row: what is nothing by itself, what mirrors it, and more of it where there is room. */
import { RowKind } from '../document/graph.ts';
import { childrenOf, framesOne, isMachinery, rowOpens, type Rows } from './outline.ts';

/** Statements open into their expressions where that makes no more boxes than this. */
const MOST_EXPRESSIONS = 10;

/**
 * How much opens with a row: nothing more, its phases, bodies of a loop or condition, statements of few expressions; or
 * phases, bodies, and the largest thing in it.
 */
const Amount = { row: 0, phases: 1, bodies: 2, statements: 3, largest: 4 } as const;
export const AMOUNTS: readonly number[] = [Amount.statements, Amount.bodies, Amount.phases];
/** The same without statements, whose text says what they do: where calls with more in them have no room beside them. */
export const PATIENT_AMOUNTS: readonly number[] = [Amount.bodies, Amount.phases];
/**
 * What is tried where little is seen otherwise: phases that stay closed say at least that there are some, and what is
 * open inside may need less width than the chips beside it when it is closed.
 */
export const LEAST_AMOUNTS: readonly number[] = [Amount.row, Amount.largest];

/**
 * Opens a row, and with it what is nothing by itself: bodies of a condition, statements of few expressions, the only
 * row inside; and with `twins` its twin, so that forward and backward show the same.
 */
export function openRow(
  rows: Rows,
  open: ReadonlySet<number>,
  row: number,
  amount: number = Amount.statements,
  twins = true
): ReadonlySet<number> {
  const { kind, twin, count, closed } = rows.outline;
  const isBackward = (phase: number): boolean => twin[phase] >= 0 && twin[phase] < phase;
  const now = new Set(open);
  const todo = [row];
  while (todo.length) {
    const at = todo.pop() as number;
    if (now.has(at) || !rowOpens(rows, at)) {
      continue;
    }
    if (at !== 0) {
      now.add(at);
    }
    // A way back that is one expression says nothing more than its name, however much its forward part holds.
    if (twins && twin[at] >= 0 && closed[twin[at]] <= closed[at]) {
      todo.push(twin[at]);
    }
    // Of a stack, the first copy is open with it.
    const inner = count[at] > 1 ? rows.children[rows.firstChild[at]] : at;
    const children = [...childrenOf(rows, inner)];
    const largest = at === row && amount === Amount.largest ? largestOf(rows, children) : -1;
    const statements = children.filter(child => kind[child] === RowKind.statement);
    const expressions = statements.reduce(
      (sum, child) => sum + Math.max(1, rows.firstChild[child + 1] - rows.firstChild[child]),
      children.length - statements.length
    );
    for (const child of children) {
      if (
        child === largest ||
        (kind[child] === RowKind.body && !closed[child] && amount >= Amount.bodies) ||
        (kind[child] === RowKind.phase && at !== 0 && amount >= Amount.phases && (twins || !isBackward(child))) ||
        (kind[child] === RowKind.statement && amount === Amount.statements && expressions <= MOST_EXPRESSIONS) ||
        (children.length === 1 && !closed[child] && rows.operations[child] === rows.operations[at])
      ) {
        todo.push(child);
      }
    }
  }
  return now;
}

/** Of some rows the one that holds most, if it opens as more than one expression; else -1. */
function largestOf({ operations, outline }: Rows, some: readonly number[]): number {
  const largest = some.reduce((most, row) => (operations[row] > operations[most] ? row : most), some[0] ?? -1);
  return largest >= 0 && !outline.closed[largest] ? largest : -1;
}

/** Every row that opens; without `inside`, single expressions stay one box. */
export function openEverything(rows: Rows, inside: boolean): ReadonlySet<number> {
  const { outline, count } = rows;
  const open = new Set<number>();
  for (let row = 1; row < count; row++) {
    // What is inside a single operation is named by JAX, not by the person.
    const named = !outline.closed[row] && !isMachinery(rows, row) && !framesOne(rows, row);
    const says = named || (inside && rows.operations[row] > outline.count[row]);
    if (isReached(rows, open, row) && rowOpens(rows, row) && says) {
      open.add(row);
    }
  }
  return open;
}

/** True where all that is around a row is open. */
export function isReached({ outline }: Rows, open: ReadonlySet<number>, row: number): boolean {
  const around = outline.parent[row];
  return around === 0 || open.has(around);
}
