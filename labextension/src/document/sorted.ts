/** Searching in numbers that rise. */

/** How many of the sorted numbers are less than `x`. */
export function countBelow(sorted: ArrayLike<number>, x: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
