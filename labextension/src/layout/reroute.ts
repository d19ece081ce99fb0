/**
 * Reroutes long edges. Annealing moves one lane at a time, and a long edge that should pass elsewhere would have to
 * climb over many crossings, row by row. Here all lanes of an edge are taken out and put back along the best way of
 * all: a shortest path over the gaps of the rows that it passes.
 */
import type { Arrangement, Net, Side } from './net.ts';
import { Reach } from './reach.ts';

/** Gaps to each side of its old place that a lane may move to. */
const REACH = 12;
const WINDOW = 2 * REACH + 1;
/** More than any way costs. */
const FAR = 0x7fffffff;

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
 * crossings of the edge with links that begin or end at what a lane may pass; it crosses all others on every way.
 */
class Router {
  /** Costs of the best ways to the gaps of a row, and to those of the row before. */
  private cost = new Int32Array(WINDOW);
  private before = new Int32Array(WINDOW);
  /** For each lane and gap: the gap of the lane before, from which the best way comes. */
  private origin = new Uint8Array(WINDOW);
  /** For each lane the first gap that it may move to. */
  private first = new Int32Array(1);
  /** What a step further to the right costs in the lower row. */
  private readonly change = new Int32Array(WINDOW);
  private readonly reach: Reach;

  constructor(
    private readonly net: Net,
    private readonly at: Arrangement
  ) {
    this.reach = new Reach(net, at);
  }

  reroute(firstLane: number, lanes: number): number {
    const lastLane = firstLane + lanes - 1;
    const present = this.present(firstLane, lastLane);
    if (present === 0) {
      return 0;
    }
    if (this.first.length < lanes) {
      this.origin = new Uint8Array(2 * lanes * WINDOW);
      this.first = new Int32Array(2 * lanes);
    }
    this.cost.fill(0);
    this.addEnd(firstLane, this.net.above);
    this.first[0] = this.firstGap(firstLane);
    for (let lane = firstLane + 1; lane <= lastLane; lane++) {
      this.first[lane - firstLane] = this.firstGap(lane);
      if (!this.step(lane - 1, lane, (lane - firstLane) * WINDOW, present)) {
        return 0;
      }
    }
    this.addEnd(lastLane, this.net.below);
    let gap = -1;
    let least = present;
    for (let i = this.lastGap(lastLane) - this.first[lanes - 1]; i >= 0; i--) {
      if (this.cost[i] <= least && this.cost[i] < present) {
        least = this.cost[i];
        gap = this.first[lanes - 1] + i;
      }
    }
    for (let i = lanes - 1; i >= 0 && least < present; i--) {
      const origin = this.origin[i * WINDOW + gap - this.first[i]];
      this.move(firstLane + i, gap);
      gap = i > 0 ? this.first[i - 1] + origin : gap;
    }
    return present - least;
  }

  private firstGap(lane: number): number {
    return Math.max(0, this.at.place[lane] - REACH);
  }

  /** The last gap that a lane may move to. */
  private lastGap(lane: number): number {
    const { row, rowStart } = this.net;
    const others = rowStart[row[lane] + 1] - rowStart[row[lane]] - 1;
    return Math.min(others, this.at.place[lane] + REACH);
  }

  /** What the way costs as it is. */
  private present(firstLane: number, lastLane: number): number {
    const { above, below } = this.net;
    let sum = this.crossedBy(firstLane, above);
    for (let lane = firstLane; lane <= lastLane; lane++) {
      if (this.reach.isCrossed(lane)) {
        sum += this.crossedBy(lane, below);
        sum += lane < lastLane ? this.crossedBy(lane + 1, above, this.firstGap(lane), this.lastGap(lane)) : 0;
      }
    }
    return sum;
  }

  /** Links to one side of what a lane may pass that its own crosses, but for those that end at places `from` to `to`. */
  private crossedBy(lane: number, { first, end, endShift }: Side, from = 0, to = -1): number {
    const { order, place } = this.at;
    const begin = this.net.rowStart[this.net.row[lane]];
    const own = place[lane];
    const last = this.lastGap(lane);
    const far = place[end[first[lane]]] + endShift[first[lane]];
    let sum = 0;
    for (let i = this.firstGap(lane); i <= last; i++) {
      const other = order[begin + i];
      for (let k = first[other], beyond = first[other + 1]; k < beyond; k++) {
        const there = place[end[k]] + endShift[k];
        if (i < own ? there > far : i > own && there < far) {
          sum += there >= from && there < to + 1 ? 0 : 1;
        }
      }
    }
    return sum;
  }

  /** Adds to each gap of a lane what links of its row to the row of the box at that end cross. */
  private addEnd(lane: number, { first, end, endShift }: Side): void {
    const { order, place } = this.at;
    const { cost } = this;
    const begin = this.net.rowStart[this.net.row[lane]];
    const own = place[lane];
    const low = this.firstGap(lane);
    const high = this.lastGap(lane);
    const box = place[end[first[lane]]] + endShift[first[lane]];
    let sum = 0;
    let least = 0;
    for (let gap = low; gap < high; gap++) {
      // To the right of the gap.
      const passed = order[begin + (gap < own ? gap : gap + 1)];
      for (let k = first[passed], last = first[passed + 1]; k < last; k++) {
        const far = place[end[k]] + endShift[k];
        sum += far > box ? 1 : far < box ? -1 : 0;
        least += far < box ? 1 : 0;
      }
      cost[gap + 1 - low] += sum;
    }
    for (let gap = low; gap <= high; gap++) {
      cost[gap - low] += least;
    }
  }

  /**
   * From every gap of one lane to every gap of the next; false if no way is left that costs less than the present one.
   * The further right a way begins, the less it costs to go further right, against ways from the gaps before it: it is
   * the best one to all gaps from one on, or to none.
   */
  private step(from: number, to: number, origins: number, present: number): boolean {
    const { above, below, row, rowStart } = this.net;
    const { order, place } = this.at;
    const { change, before: cost, cost: before, origin } = this;
    [this.cost, this.before] = [cost, before];
    const upper = rowStart[row[from]];
    const lower = rowStart[row[to]];
    const placeFrom = place[from];
    const placeTo = place[to];
    const low = this.firstGap(from);
    const high = this.lastGap(from);
    const begin = this.firstGap(to);
    const end = this.lastGap(to);
    // What the way from the first gap to the first gap costs, and to the last one.
    let base = 0;
    let across = 0;
    for (let gap = begin; gap < end; gap++) {
      const passed = order[lower + (gap < placeTo ? gap : gap + 1)];
      let sum = 0;
      for (let k = above.first[passed], last = above.first[passed + 1]; k < last; k++) {
        const other = place[above.end[k]];
        if (other !== placeFrom) {
          const isLeft = other - (other > placeFrom ? 1 : 0) < low;
          sum += isLeft ? -1 : 1;
          base += isLeft ? 1 : 0;
        }
      }
      change[gap - begin] = sum;
      across += sum;
    }
    for (let gap = low; gap < high; gap++) {
      const passed = order[upper + (gap < placeFrom ? gap : gap + 1)];
      for (let k = below.first[passed], last = below.first[passed + 1]; k < last; k++) {
        const other = place[below.end[k]];
        base += other !== placeTo && other - (other > placeTo ? 1 : 0) < begin ? 1 : 0;
      }
    }
    const width = end - begin;
    cost.fill(FAR);
    let open = false;
    for (let gap = low; ; gap++) {
      const way = before[gap - low];
      if (way < present) {
        open = true;
        let now = way + base + across;
        for (let next = width; next >= 0 && now < cost[next]; next--) {
          cost[next] = now;
          origin[origins + next] = gap - low;
          now -= next > 0 ? change[next - 1] : 0;
        }
      }
      if (gap === high) {
        return open;
      }
      const passed = order[upper + (gap < placeFrom ? gap : gap + 1)];
      for (let k = below.first[passed], last = below.first[passed + 1]; k < last; k++) {
        const other = place[below.end[k]];
        if (other === placeTo) {
          continue;
        }
        const at = other - (other > placeTo ? 1 : 0);
        base += at >= begin ? 1 : -1;
        if (at >= begin && at < end) {
          change[at - begin] -= 2;
          across -= 2;
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
    this.reach.forget(this.net.row[lane]);
  }
}
