/** Areas, kept by the rows of the picture that they reach: what may meet another is looked for in its rows alone. */
import type { Solid } from './cablePlaces.ts';
import type { Area } from './solid.ts';

/** px. Long lines reach through many rows, words through one or two. */
const ROW_HEIGHT = 200;

export class ByRows {
  private readonly rows = new Map<number, Solid[]>();

  constructor(solids: Iterable<Solid>) {
    for (const one of solids) {
      this.add(one);
    }
  }

  add(one: Solid): void {
    const last = rowOf(one.bottom);
    for (let row = rowOf(one.top); row <= last; row++) {
      const here = this.rows.get(row);
      if (here) {
        here.push(one);
      } else {
        this.rows.set(row, [one]);
      }
    }
  }

  /** True where one of those in the rows of an area is so. */
  some({ top, bottom }: Area, is: (one: Solid) => boolean): boolean {
    const last = rowOf(bottom);
    for (let row = rowOf(top); row <= last; row++) {
      if (this.rows.get(row)?.some(is)) {
        return true;
      }
    }
    return false;
  }
}

function rowOf(y: number): number {
  return Math.floor(y / ROW_HEIGHT);
}
