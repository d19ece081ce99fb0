/**
 * Shelves stand one below the other, so what grows in one pushes nothing in the next: its own boxes would pass the
 * others from left to right. In a picture that follows another, shelves slide sideways until all move alike.
 */
import { passings, type Stayed } from './passing.ts';
import type { Shelves } from './shelves.ts';

/** A picture gets no wider by it than this many times. */
const WIDER = 1.5;

/** The shelves, slid; `boxes` holds, for each part, the boxes at all depths, from the left border of the shelf. */
export function slideShelves(shelves: Shelves, boxes: readonly (readonly Stayed[])[]): Shelves {
  const { shelf, width } = shelves;
  const ways: number[][] = [];
  shelf.forEach((one, part) => {
    const known = boxes[part].filter(({ was }) => was === was);
    (ways[one] ??= []).push(...known.map(({ was, now }) => now - was));
  });
  const shifts = ways.map(median);
  const most = shifts.reduce((all, shift) => (shift > all ? shift : all), -Infinity);
  const slide = shifts.map(shift => (shift === shift ? most - shift : 0));
  if (slide.every(one => !(one > 0))) {
    return shelves;
  }
  const slid = {
    ...shelves,
    x: shelves.x.map((x, part) => x + slide[shelf[part]]),
    width: slide.reduce((all, one, at) => Math.max(all, one + shelves.widths[at]), 0)
  };
  const passed = (by: readonly number[]): number =>
    passings(boxes.flatMap((own, part) => own.map(({ was, now }) => ({ was, now: now + (by[shelf[part]] ?? 0) }))));
  return slid.width <= WIDER * width && passed(slide) < passed([]) ? slid : shelves;
}

/** NaN where there is none. */
function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}
