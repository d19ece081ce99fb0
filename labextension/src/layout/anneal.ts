/**
 * Annealed transposition: neighbours swap where that costs no crossing, and now and then where it does, the more
 * seldom the more it costs and the cooler it is. Swaps that change nothing are always taken: they lead out of most
 * dead ends. Passes go from the top down and from left to right, and a vertex that was swapped goes on to the next.
 */
import { sideChange } from './crossings.ts';
import { NONE, type Arrangement, type Net } from './net.ts';

/** Swaps that cost more than this many times the temperature are never taken. */
const HOPELESS = 8;
const MOST_COST = 60;

/** Random numbers and the counted work of an annealing. */
export interface Course {
  /** State of a xorshift generator, not 0. */
  random: number;
  /** Steps of the inner loops over links so far. */
  steps: number;
}

/**
 * One pass at a temperature; gives the change of the number of crossings. Two `held` neighbours are never swapped. At
 * temperature 0, only swaps that save a crossing are taken.
 */
export function annealPass(net: Net, at: Arrangement, held: Uint8Array, temperature: number, course: Course): number {
  const { rowStart, rowCount, above, below } = net;
  const { order, place } = at;
  const none = NONE;
  const changeOf = sideChange;
  const chances = chancesAt(temperature);
  const limit = chances.length - 1;
  const [onlyAbove, onlyBelow] = [above.only, below.only];
  const [firstAbove, firstBelow] = [above.first, below.first];
  const [shiftAbove, shiftBelow] = [above.onlyShift, below.onlyShift];
  const free = temperature > 0 ? 0 : -1;
  let { random, steps } = course;
  let total = 0;
  for (let row = 0; row < rowCount; row++) {
    const last = rowStart[row + 1] - 1;
    if (last <= rowStart[row]) {
      continue;
    }
    let a = order[rowStart[row]];
    let upA = onlyAbove[a];
    let downA = onlyBelow[a];
    let upAtA = upA >= 0 ? place[upA] + shiftAbove[a] : 0;
    let downAtA = downA >= 0 ? place[downA] + shiftBelow[a] : 0;
    for (let i = rowStart[row]; i < last; i++) {
      const b = order[i + 1];
      const upB = onlyAbove[b];
      const downB = onlyBelow[b];
      const upAtB = upB >= 0 ? place[upB] + shiftAbove[b] : 0;
      const downAtB = downB >= 0 ? place[downB] + shiftBelow[b] : 0;
      let change = 0;
      if (upA >= 0 && upB >= 0) {
        change = upAtA < upAtB ? 1 : upAtA > upAtB ? -1 : 0;
      } else if (upA !== none && upB !== none) {
        steps += (firstAbove[a + 1] - firstAbove[a]) * (firstAbove[b + 1] - firstAbove[b]);
        change = changeOf(above, a, b, place);
      }
      if (downA >= 0 && downB >= 0) {
        change += downAtA < downAtB ? 1 : downAtA > downAtB ? -1 : 0;
      } else if (downA !== none && downB !== none) {
        steps += (firstBelow[a + 1] - firstBelow[a]) * (firstBelow[b + 1] - firstBelow[b]);
        change += changeOf(below, a, b, place);
      }
      let swap = change <= free;
      if (!swap && change <= limit) {
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        swap = random >>> 0 < chances[change];
      }
      if (swap && !(held[a] && held[b])) {
        order[i] = b;
        order[i + 1] = a;
        place[b]--;
        place[a]++;
        total += change;
      } else {
        a = b;
        upA = upB;
        downA = downB;
        upAtA = upAtB;
        downAtA = downAtB;
      }
    }
  }
  course.random = random;
  course.steps = steps;
  return total;
}

/**
 * The chance of a swap by its cost, as a part of 2 ** 32. exp(-x) is ten squarings of 1 - x / 1024: basic arithmetic
 * gives the same bits in every engine, which `Math.exp` does not.
 */
function chancesAt(temperature: number): Float64Array {
  if (temperature === 0) {
    return new Float64Array(0);
  }
  const limit = Math.min(MOST_COST, Math.ceil(HOPELESS * temperature));
  return Float64Array.from({ length: limit + 1 }, (_, cost) => {
    let chance = 1 - cost / temperature / 1024;
    for (let k = 0; k < 10; k++) {
      chance *= chance;
    }
    return chance * 4294967296;
  });
}
