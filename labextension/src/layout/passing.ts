/**
 * How many boxes pass each other from left to right between two pictures: what is counted where a picture that follows
 * another can be placed in several ways.
 */

/** The centre of a box in the picture before, NaN for a new one, and now. */
export interface Stayed {
  readonly was: number;
  readonly now: number;
}

/** Where all boxes were and are whose frames stand at `x`: `holds` has each frame and what stands in it, from its centre. */
export function heldAt(holds: readonly (readonly Stayed[])[], x: Float64Array): Stayed[] {
  return holds.flatMap((boxes, i) => boxes.map(({ was, now }) => ({ was, now: x[i] + now })));
}

/** Pairs of boxes that changed their order. */
export function passings(boxes: readonly Stayed[]): number {
  const known = boxes.filter(({ was }) => was === was).sort((a, b) => a.was - b.was || a.now - b.now);
  const places = Float64Array.from(known, ({ now }) => now);
  return inversions(places, new Float64Array(places.length), 0, places.length);
}

/** Pairs of which the greater comes first; sorts `values` from `begin` to `end`. */
function inversions(values: Float64Array, spare: Float64Array, begin: number, end: number): number {
  if (end - begin < 2) {
    return 0;
  }
  const middle = (begin + end) >> 1;
  let count = inversions(values, spare, begin, middle) + inversions(values, spare, middle, end);
  let [left, right] = [begin, middle];
  for (let to = begin; to < end; to++) {
    if (right === end || (left < middle && values[left] <= values[right])) {
      spare[to] = values[left++];
    } else {
      count += middle - left;
      spare[to] = values[right++];
    }
  }
  values.set(spare.subarray(begin, end), begin);
  return count;
}
