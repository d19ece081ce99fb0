/**
 * What was seen in the cells of a notebook before they were run again, for the pictures that come in their place. A
 * picture follows the one of the same function in the same cell; the first the first, where there were several.
 */

/** Pictures of a cell that are remembered. */
const MOST_OF_CELL = 16;
/** Cells that are remembered: the last ones that lost their pictures. */
const MOST_CELLS = 8;

/** Where a picture stands: its cell, how many are above it there, and the function that it shows. */
export interface Stood {
  readonly cell: Element;
  readonly place: number;
  readonly name: string;
}

interface Left<One> extends Stood {
  readonly one: One;
}

export class LeftInCells<One> {
  private readonly cells = new Map<Element, Left<One>[]>();

  put({ cell, place, name }: Stood, one: One): void {
    const others = (this.cells.get(cell) ?? []).filter(left => left.place !== place || left.name !== name);
    const all = [...others, { cell, place, name, one }].sort((a, b) => a.place - b.place);
    // The cell that was left last is the last one.
    this.cells.delete(cell);
    this.cells.set(cell, all.slice(0, MOST_OF_CELL));
    const [oldest] = this.cells.keys();
    if (this.cells.size > MOST_CELLS) {
      this.cells.delete(oldest);
    }
  }

  /** Nobody is to follow that picture: it goes on itself. */
  drop({ cell, place, name }: Stood): void {
    const all = this.cells.get(cell) ?? [];
    const at = all.findIndex(left => left.place === place && left.name === name);
    if (at >= 0) {
      all.splice(at, 1);
    }
  }

  /** What the picture of that function in a cell follows; it is the caller's from then on. */
  take(cell: Element, name: string): One | undefined {
    const all = this.cells.get(cell) ?? [];
    const at = all.findIndex(left => left.name === name);
    return at < 0 ? undefined : all.splice(at, 1)[0].one;
  }
}
