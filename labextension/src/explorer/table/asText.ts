/** The rows of a table as text for a spreadsheet: cells between tabs, numbers as they are, with their unit in the head. */
import type { Column } from './columns.ts';

export function asText(columns: readonly Column[], order: Int32Array): string {
  const head = columns.map(({ label, unit }) => (unit ? `${label} (${unit})` : label));
  const rows = Array.from(order, row => columns.map(column => cell(column, row)));
  return [head, ...rows].map(cells => cells.join('\t')).join('\n') + '\n';
}

function cell({ numbers, text }: Column, row: number): string {
  if (numbers) {
    const value = numbers(row);
    return value ? String(Number(value.toPrecision(6))) : '';
  }
  const words = text(row).replace(/\s+/g, ' ');
  // A spreadsheet would compute what looks like a formula.
  return /^[=+\-@]/.test(words) ? `'${words}` : words;
}
