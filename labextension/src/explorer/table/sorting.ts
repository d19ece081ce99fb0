/** The rows of a table in the order of one of its columns. */
import type { Column } from './columns.ts';

export interface Sorting {
  /** The key of the column. */
  readonly by: string;
  /** True where what usually comes last comes first. */
  readonly reversed: boolean;
}

/** The rows in order; of what is alike, what comes first in the program. */
export function sorted(columns: readonly Column[], count: number, { by, reversed }: Sorting): Int32Array {
  const order = Int32Array.from({ length: count }, (_, row) => row);
  const column = columns.find(({ key }) => key === by);
  if (!column) {
    return order;
  }
  const rank = column.numbers ? Float64Array.from(order, row => -(column.numbers?.(row) ?? 0)) : ranks(column, count);
  // The place in the program counts up.
  const sign = reversed === (by === 'order') ? 1 : -1;
  return order.sort((one, other) => sign * (rank[one] - rank[other]) || one - other);
}

/** The place of the text of each row in the alphabet, in which `fusion.2` is before `fusion.10`. */
function ranks(column: Column, count: number): Float64Array {
  const keys = Array.from({ length: count }, (_, row) =>
    column.text(row).replace(/\d+/g, digits => digits.padStart(9, '0'))
  );
  // What says nothing comes last.
  const known = [...new Set(keys)].sort((one, other) => (one && (!other || one < other) ? -1 : one === other ? 0 : 1));
  const place = new Map(known.map((key, at) => [key, at]));
  return Float64Array.from(keys, key => place.get(key) ?? 0);
}
