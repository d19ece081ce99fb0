/** Where a line that was run stands in the cells of a notebook now: they may have been changed and run since. */

/** A cell: its text, and the number that it was run under last. */
export interface CellText {
  readonly source: string;
  readonly count: number;
}

export interface CellLine {
  /** Place of the cell in the notebook. */
  readonly cell: number;
  /** Number of the line, from 1; null where the cell no longer has it. */
  readonly line: number | null;
}

/**
 * The cell that was run under a number, and its line that reads `text`, wherever that has moved to; else a cell that
 * has the line at its place, or the only one that has it anywhere.
 */
export function cellLine(cells: readonly CellText[], count: number, line: number, text: string): CellLine | null {
  const places = cells.map(({ source }, cell) => ({ cell, line: nearest(source, line, text) }));
  const own = places.find(({ cell }) => cells[cell].count === count && cells[cell].source);
  if (own?.line) {
    return own;
  }
  const others = text.trim() ? places.filter(place => place.line !== null) : [];
  const only = others.length === 1 ? others[0] : undefined;
  return others.find(place => place.line === line) ?? only ?? own ?? null;
}

/** Number of the line nearest to another one that reads the same but for spaces around it. */
function nearest(source: string, line: number, text: string): number | null {
  const wanted = text.trim();
  const same = source.split('\n').flatMap((one, index) => (one.trim() === wanted ? [index + 1] : []));
  const away = (number: number): number => Math.abs(number - line);
  return same.length ? same.reduce((one, other) => (away(other) < away(one) ? other : one)) : null;
}
