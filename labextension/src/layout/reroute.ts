/**
 * Reroutes long edges. Annealing moves one lane at a time, and a long edge that should pass elsewhere would have to
 * climb over many crossings, row by row. Here all lanes of an edge are taken out and put back along the best way of
 * all: a shortest path over the gaps of the rows that it passes.
 */
import type { Arrangement, Net } from './net.ts';

/** Gaps to each side of its old place that a lane may move to. */
const REACH = 12;
const WINDOW = 2 * REACH + 1;

/** Reroutes every long edge once, as far as `work` lasts (in steps). Gives the number of crossings saved. */
export function rerouteLongEdges(net: Net, at: Arrangement, work: number): number {
  const router = new Router(net, at);
  let saved = 0;
  let left = work;
  net.firstLane.forEach((lane, edge) => {
    const lanes = net.laneCount[edge];
    if (lane >= 0 && lanes > 0 && left > 0) {
      saved += router.reroute(lane, lanes);
      left -= lanes * WINDOW * WINDOW;
    }
  });
  return saved;
}

/**
 * A gap is numbered by what stands to its left in a row without the lane: gap 0 is at the left end. Costs count
 * crossings of the edge, but for a constant in each step from row to row, which does not change what is best.
 */
class Router {
  /** Costs of the best ways to the gaps of a row, and to those of the row before. */
  private cost = new Float64Array(WINDOW);
  private before = new Float64Array(WINDOW);
  /** For each lane and gap: the gap of the lane before, from which the best way comes. */
  private origin = new Uint8Array(WINDOW);
  private readonly change = new Float64Array(WINDOW);
  /** Cost of the way as it is. */
  private present = 0;

  constructor(
    private readonly net: Net,
    private readonly at: Arrangement
  ) {}

  reroute(firstLane: number, lanes: number): number {
    if (this.origin.length < lanes * WINDOW) {
      this.origin = new Uint8Array(2 * lanes * WINDOW);
    }
    const lastLane = firstLane + lanes - 1;
    this.begin(firstLane);
    for (let lane = firstLane + 1; lane <= lastLane; lane++) {
      this.step(lane - 1, lane, (lane - firstLane) * WINDOW);
    }
    this.close(lastLane);
    const [low, high] = this.windowOf(lastLane);
    let gap = this.at.place[lastLane];
    let least = this.present;
    for (let g = low; g <= high; g++) {
      if (this.cost[g - low] < least) {
        least = this.cost[g - low];
        gap = g;
      }
    }
    const saved = this.present - least;
    if (saved > 0) {
      for (let lane = lastLane; lane >= firstLane; lane--) {
        const origin = this.origin[(lane - firstLane) * WINDOW + gap - this.windowOf(lane)[0]];
        this.move(lane, gap);
        if (lane > firstLane) {
          gap = this.windowOf(lane - 1)[0] + origin;
        }
      }
    }
    return saved;
  }

  /** First and last gap that a lane may move to. */
  private windowOf(lane: number): [number, number] {
    const { row, rowStart } = this.net;
    const others = rowStart[row[lane] + 1] - rowStart[row[lane]] - 1;
    const old = this.at.place[lane];
    return [Math.max(0, old - REACH), Math.min(others, old + REACH)];
  }

  /** The vertex to the right of a gap. */
  private rightOf(lane: number, gap: number): number {
    const { row, rowStart } = this.net;
    return this.at.order[rowStart[row[lane]] + (gap < this.at.place[lane] ? gap : gap + 1)];
  }

  /** From the box at the upper end to the first lane. */
  private begin(lane: number): void {
    this.cost.fill(0);
    this.addEnd(lane, true);
    this.present = this.cost[this.at.place[lane] - this.windowOf(lane)[0]];
  }

  /** From the last lane to the box at the lower end. */
  private close(lane: number): void {
    const own = this.at.place[lane] - this.windowOf(lane)[0];
    const before = this.cost[own];
    this.addEnd(lane, false);
    this.present += this.cost[own] - before;
  }

  /** Adds to each gap of a lane what links of its row to the row of the box at that end cross. */
  private addEnd(lane: number, upper: boolean): void {
    const side = upper ? this.net.above : this.net.below;
    const { place } = this.at;
    const own = side.first[lane];
    const box = place[side.end[own]] + side.endShift[own];
    const [low, high] = this.windowOf(lane);
    let sum = 0;
    for (let gap = low; gap < high; gap++) {
      const passed = this.rightOf(lane, gap);
      for (let k = side.first[passed]; k < side.first[passed + 1]; k++) {
        const end = place[side.end[k]] + side.endShift[k];
        sum += end > box ? 1 : end < box ? -1 : 0;
      }
      this.cost[gap + 1 - low] += sum;
    }
  }

  /** From every gap of one lane to every gap of the next. */
  private step(from: number, to: number, origins: number): void {
    const { above, below } = this.net;
    const { place } = this.at;
    const { change } = this;
    [this.cost, this.before] = [this.before, this.cost];
    const { cost, before } = this;
    const [low, high] = this.windowOf(from);
    const [begin, end] = this.windowOf(to);
    // What passing a vertex of the lower row changes, for the first gap of the upper row.
    for (let gap = begin; gap < end; gap++) {
      const passed = this.rightOf(to, gap);
      let sum = 0;
      for (let k = above.first[passed]; k < above.first[passed + 1]; k++) {
        const other = above.end[k];
        if (other !== from) {
          sum += place[other] - (place[other] > place[from] ? 1 : 0) >= low ? 1 : -1;
        }
      }
      change[gap - begin] = sum;
    }
    cost.fill(Infinity);
    let base = 0;
    for (let gap = low; gap <= high; gap++) {
      let now = before[gap - low] + base;
      for (let next = begin; ; next++) {
        if (now < cost[next - begin]) {
          cost[next - begin] = now;
          this.origin[origins + next - begin] = gap - low;
        }
        if (gap === place[from] && next === place[to]) {
          this.present += now - before[gap - low];
        }
        if (next === end) {
          break;
        }
        now += change[next - begin];
      }
      if (gap < high) {
        const passed = this.rightOf(from, gap);
        for (let k = below.first[passed]; k < below.first[passed + 1]; k++) {
          const other = below.end[k];
          if (other === to) {
            continue;
          }
          const at = place[other] - (place[other] > place[to] ? 1 : 0);
          base += at >= begin ? 1 : -1;
          if (at >= begin && at < end) {
            change[at - begin] -= 2;
          }
        }
      }
    }
  }

  private move(lane: number, gap: number): void {
    const { order, place } = this.at;
    const start = this.net.rowStart[this.net.row[lane]];
    for (let i = place[lane]; i < gap; i++) {
      order[start + i] = order[start + i + 1];
      place[order[start + i]] = i;
    }
    for (let i = place[lane]; i > gap; i--) {
      order[start + i] = order[start + i - 1];
      place[order[start + i]] = i;
    }
    order[start + gap] = lane;
    place[lane] = gap;
  }
}
