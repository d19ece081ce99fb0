/** Shapes, and lists of numbers as attributes tell them. */
export type Shape = readonly number[];

/** The elements of a shape; a dimension of a size that is not known counts as one. */
export function product(shape: Shape): number {
  return shape.reduce((all, size) => all * (size < 0 ? 1 : size), 1);
}

export function numbersIn(text: string): number[] {
  return (text.match(/-?\d+/g) ?? []).map(Number);
}
