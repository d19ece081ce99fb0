/**
 * Where a part is folded, an edge that comes from far in one column passes beside all boxes of the next. It would make
 * that one wide, and move what stands to its right whenever it passes elsewhere: so it comes near to the boxes.
 */
import { LANE_GAP } from './distances.ts';

/** What takes room in a column: from `low` to `high`, in any order. What is no wider than a point belongs to an edge. */
export type Taken = readonly [low: number, high: number];

/** Where each x of a column goes to: what is beside all boxes comes to them, in its order, and the boxes stay. */
export function comeNear(taken: Iterable<Taken>): (x: number) => number {
  const points = new Set<number>();
  let [left, right] = [Infinity, -Infinity];
  for (const [low, high] of taken) {
    if (low < high) {
      left = Math.min(left, low);
      right = Math.max(right, high);
    } else {
      points.add(low);
    }
  }
  const order = [...points].sort((a, b) => a - b);
  const places = new Map<number, number>();
  const draw = (outward: readonly number[], side: number, border: number): void => {
    let [last, place] = [border, border];
    for (const x of outward) {
      place += side * Math.min(LANE_GAP, Math.abs(x - last));
      last = x;
      places.set(x, place);
    }
  };
  // Where there is no box, there is nothing to come to.
  if (left < right) {
    draw(order.filter(x => x < left).reverse(), -1, left);
    draw(
      order.filter(x => x > right),
      1,
      right
    );
  }
  return x => places.get(x) ?? x;
}
