/** What must be open for a node or a row to be seen. */
import { rowOpens, type Rows } from '../../view/outline.ts';

/**
 * The open rows with those around `item` added, but for rows that are one expression: these are one thing. The same set
 * where nothing is missing.
 */
export function openAroundItem(rows: Rows, open: ReadonlySet<number>, item: number): ReadonlySet<number> {
  const { outline, leaf } = rows;
  const around: number[] = [];
  for (let row = item >= 0 ? outline.parent[item] : leaf[-1 - item]; row > 0; row = outline.parent[row]) {
    around.unshift(row);
  }
  const expression = around.findIndex(row => outline.closed[row]);
  const needed = (expression < 0 ? around : around.slice(0, expression)).filter(row => rowOpens(rows, row));
  return needed.every(row => open.has(row)) ? open : new Set([...open, ...needed]);
}

/** The item itself where it is an open row, else the innermost open row around it; 0 for none. */
export function openRowAround({ outline, leaf }: Rows, item: number, isOpen: (row: number) => boolean): number {
  let row = item >= 0 ? item : leaf[-1 - item];
  while (row > 0 && !isOpen(row)) {
    row = outline.parent[row];
  }
  return row;
}
