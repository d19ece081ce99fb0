/**
 * Which links are crossed at all: for each place of a row, how far to the right the links reach down that begin left of
 * it, and how far to the left those that begin right of it. A link that neither of them passes is crossed by none.
 */
import type { Arrangement, Net } from './net.ts';

export class Reach {
  private readonly fromLeft: Float64Array;
  private readonly fromRight: Float64Array;
  /** 1 for rows that have moved, or are not known yet. */
  private readonly stale: Uint8Array;

  constructor(
    private readonly net: Net,
    private readonly at: Arrangement
  ) {
    this.fromLeft = new Float64Array(net.count);
    this.fromRight = new Float64Array(net.count);
    this.stale = new Uint8Array(net.rowCount).fill(1);
  }

  /** True if another link crosses the only one that leads down from `vertex`. */
  isCrossed(vertex: number): boolean {
    const { row, rowStart, below } = this.net;
    if (this.stale[row[vertex]]) {
      this.look(row[vertex]);
    }
    const end = this.at.place[below.only[vertex]] + below.onlyShift[vertex];
    const i = rowStart[row[vertex]] + this.at.place[vertex];
    return this.fromLeft[i] > end || this.fromRight[i] < end;
  }

  /** To be told of what moves in a row. */
  forget(row: number): void {
    this.stale[row] = 1;
    this.stale[Math.max(0, row - 1)] = 1;
  }

  private look(row: number): void {
    const { rowStart, below } = this.net;
    const { order, place } = this.at;
    const { fromLeft, fromRight } = this;
    const { first, end, endShift } = below;
    const [begin, beyond] = [rowStart[row], rowStart[row + 1]];
    let furthest = -Infinity;
    for (let i = begin; i < beyond; i++) {
      fromLeft[i] = furthest;
      for (let k = first[order[i]], last = first[order[i] + 1]; k < last; k++) {
        furthest = Math.max(furthest, place[end[k]] + endShift[k]);
      }
    }
    furthest = Infinity;
    for (let i = beyond - 1; i >= begin; i--) {
      fromRight[i] = furthest;
      for (let k = first[order[i]], last = first[order[i] + 1]; k < last; k++) {
        furthest = Math.min(furthest, place[end[k]] + endShift[k]);
      }
    }
    this.stale[row] = 0;
  }
}
