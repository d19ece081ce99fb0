/**
 * Where a group stands after something in it has grown. Its members cannot all stay where they were then: it goes to
 * where the fewest boxes pass each other from left to right.
 */
import type { Stayed } from './passing.ts';
import { countBelow } from '../document/sorted.ts';

/** Places that are tried; at each, some of the members stay where they were. */
const MOST_PLACES = 8;
/** Boxes that are looked at for one group, over all places. */
const WORK = 200_000;

/** The least and the greatest place that what is in a group may have. */
export type Range = readonly [number, number];

/**
 * Where what is in a group begins; NaN where all is new. `members` holds what stands in the group itself, `inside` the
 * boxes at all depths, both from the left border of what is in the group, `all` the centres of the whole picture before.
 */
export function placeOfInside(
  members: readonly Stayed[],
  inside: () => readonly Stayed[],
  all: Float64Array,
  [least, greatest]: Range = [-Infinity, Infinity]
): number {
  const staying = members.map(({ was, now }) => was - now).filter(place => !Number.isNaN(place));
  const places = [...new Set(staying.map(place => Math.max(least, Math.min(greatest, place))))];
  if (places.length < 2) {
    return places[0] ?? NaN;
  }
  const known = inside().filter(({ was }) => !Number.isNaN(was));
  const own = Float64Array.from(known, ({ was }) => was).sort();
  const whole = all.filter(x => !Number.isNaN(x)).sort();
  const othersLeftOf = (x: number): number => countBelow(whole, x) - countBelow(own, x);
  const ranks = known.map(({ was }) => othersLeftOf(was));
  const passed = (place: number): number =>
    known.reduce((sum, { now }, i) => sum + Math.abs(othersLeftOf(place + now) - ranks[i]), 0);
  const affordable = Math.max(1, Math.min(MOST_PLACES, Math.floor(WORK / known.length)));
  let [best, fewest] = [NaN, Infinity];
  for (const place of byStaying(places, known).slice(0, affordable)) {
    const passing = passed(place);
    if (passing < fewest) {
      [best, fewest] = [place, passing];
    }
  }
  return best;
}

/** Places, those where the most boxes stay first. */
function byStaying(places: readonly number[], inside: readonly Stayed[]): number[] {
  const staying = new Map(places.map(place => [place, 0]));
  for (const { was, now } of inside) {
    staying.set(was - now, (staying.get(was - now) ?? 0) + 1);
  }
  return [...places].sort((a, b) => (staying.get(b) as number) - (staying.get(a) as number) || a - b);
}
