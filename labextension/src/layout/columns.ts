/**
 * A part that was in columns before stays in them: rows end a column where they ended one, and what stood in a column is
 * still there, in its order. Otherwise a region that opens would send most of the picture into other columns.
 */
import { MOST_CUT } from './fold.ts';

/** Of the rows that are known, this part may stand in a column before that of the row above. */
const MISPLACED = 0.1;

/** A cut stays as long as no more edges run through it than this: what opens has more of them than its closed box. */
const MOST_KEPT = 3 * MOST_CUT;

/** How a part was folded, as far as its rows are still the same. */
export interface Kept {
  /** Rows after which a column ends; none where it was not folded. */
  readonly cuts: readonly number[];
  /** Centres of the vertices as if the columns stood one below the other; NaN for what is new. */
  readonly before: Float64Array;
}

/** The edges of a part and the rows of its vertices. */
export interface Rowed {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly row: Int32Array;
}

/** `before` has the centres of the vertices, `column` the columns that they stood in, -1 for what is new. Null where the rows are others now. */
export function keepColumns(part: Rowed, before: Float64Array, column: Int32Array): Kept | null {
  const of = columnsOfRows(part.row, column);
  if (!of) {
    return null;
  }
  const cuts = cutsBetween(part, of);
  return cuts && { cuts, before: below(part, before, cuts) };
}

/** The column of each row by most of its vertices, -1 where none is known; null where columns and rows do not go together. */
function columnsOfRows(row: Int32Array, column: Int32Array): Int32Array | null {
  const counts: Map<number, number>[] = [];
  column.forEach((one, vertex) => {
    if (one >= 0) {
      const count = (counts[row[vertex]] ??= new Map<number, number>());
      count.set(one, (count.get(one) ?? 0) + 1);
    }
  });
  const of = new Int32Array(row.reduce((most, one) => Math.max(most, one), -1) + 1).fill(-1);
  let [reached, known, misplaced] = [0, 0, 0];
  for (let r = 0; r < of.length; r++) {
    const most = [...(counts[r] ?? [])].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
    if (most) {
      known++;
      misplaced += most[0] < reached ? 1 : 0;
      reached = Math.max(reached, most[0]);
      of[r] = reached;
    }
  }
  return misplaced <= MISPLACED * known ? of : null;
}

/** Between the last row of a column and the first of the next, where the fewest edges pass; null where too many do. */
function cutsBetween({ from, to, row }: Rowed, of: Int32Array): number[] | null {
  const passing = new Int32Array(of.length);
  from.forEach((vertex, edge) => {
    for (let r = row[vertex]; r < row[to[edge]]; r++) {
      passing[r]++;
    }
  });
  const cuts: number[] = [];
  let last = -1;
  for (let r = 0; r < of.length; r++) {
    if (of[r] < 0) {
      continue;
    }
    if (last >= 0 && of[r] > of[last]) {
      let best = last;
      for (let candidate = last; candidate < r; candidate++) {
        best = passing[candidate] < passing[best] ? candidate : best;
      }
      if (passing[best] > MOST_KEPT) {
        return null;
      }
      cuts.push(best);
    }
    last = r;
  }
  return cuts;
}

/** Moves the columns below each other, so that the edges between them run straight as far as can be. */
function below({ from, to, row }: Rowed, before: Float64Array, cuts: readonly number[]): Float64Array {
  const columnOf = new Int32Array(before.length);
  row.forEach((r, vertex) => (columnOf[vertex] = cuts.filter(cut => cut < r).length));
  const places = before.slice();
  for (let column = 1; column <= cuts.length; column++) {
    const ways: number[] = [];
    from.forEach((vertex, edge) => {
      if (columnOf[to[edge]] === column && columnOf[vertex] < column) {
        ways.push(places[vertex] - before[to[edge]]);
      }
    });
    const known = ways.filter(way => !Number.isNaN(way)).sort((a, b) => a - b);
    const shift = known.length
      ? known[known.length >> 1]
      : middle(places, columnOf, column - 1) - middle(before, columnOf, column);
    places.forEach((_, vertex) => {
      if (columnOf[vertex] === column) {
        places[vertex] = before[vertex] + shift;
      }
    });
  }
  return places;
}

/** The mean of what is known of a column, 0 where nothing is. */
function middle(places: Float64Array, columnOf: Int32Array, column: number): number {
  const known = places.filter((x, vertex) => columnOf[vertex] === column && !Number.isNaN(x));
  return known.length ? known.reduce((sum, x) => sum + x, 0) / known.length : 0;
}
