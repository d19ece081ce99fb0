/** Sizes of boxes and chips in px: what the layout keeps room for and what the drawing fills. */

/** Width of a text in px. Each style has its own face and size; see `draw/text.ts`. */
export type Measure = (text: string, style: 'name' | 'type' | 'chip' | 'title') => number;

export const BOX_HEIGHT = 22;
/** From the border of a box to its text. */
export const BOX_INSET = 10;
/** Between the name and the type. */
export const DETAIL_GAP = 8;
/** Room for the mark of a box that opens. */
export const OPEN_MARK = 12;
export const CHIP_HEIGHT = 16;
export const CHIP_INSET = 6;
/** Between two chips, and between a chip and its box. */
export const CHIP_GAP = 3;
export const FRAME_TITLE_INSET = 12;

/** Widths are even, so that the middle of a box is a whole pixel. */
function even(width: number): number {
  return 2 * Math.ceil(width / 2);
}

export function boxWidth(measure: Measure, label: string, detail: string, closed: boolean): number {
  const type = detail ? DETAIL_GAP + measure(detail, 'type') : 0;
  return even(2 * BOX_INSET + measure(label, 'name') + type + (closed ? OPEN_MARK : 0));
}

export function frameTitleWidth(measure: Measure, label: string, detail: string): number {
  const type = detail ? DETAIL_GAP + measure(detail, 'type') : 0;
  return even(2 * FRAME_TITLE_INSET + measure(label, 'title') + type);
}

export function chipWidth(measure: Measure, text: string): number {
  return Math.ceil(2 * CHIP_INSET + measure(text, 'chip'));
}

/** Room that a row of chips takes beside its box. */
export function chipsWidth(measure: Measure, texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + chipWidth(measure, text) + CHIP_GAP, 0);
}
