/**
 * Annealed transposition: neighbours swap where that costs no crossing, and now and then where it does, the more
 * seldom the more it costs and the cooler it is. Swaps that change nothing are always taken: they lead out of most
 * dead ends. Passes go from the top down and from left to right, and a vertex that was swapped goes on to the next.
 */
import { MOST_PAIRS, sideChange } from './crossings.ts';
import { NONE, type Arrangement, type Net } from './net.ts';

/** Swaps that cost more than this many times the temperature are never taken. */
const HOPELESS = 8;
const MOST_COST = 60;

/** Random numbers and the counted work of an annealing. */
export interface Course {
  /** State of a xorshift generator, not 0. */
  random: number;
  /** Pairs of links that were there to be compared so far, where a vertex has several. */
  steps: number;
}

/**
 * One pass at a temperature; gives the change of the number of crossings. Two `held` neighbours are never swapped. At
 * temperature 0, only swaps that save a crossing are taken.
 *
 * While a row is gone through, the rows beside it stand still: of each vertex it is known once from where to where its
 * links reach there. Two vertices whose links do not reach into each other cross in all pairs of them, or in none.
 */
export function annealPass(net: Net, at: Arrangement, held: Uint8Array, temperature: number, course: Course): number {
  const { rowStart, rowCount, above, below } = net;
  const { order, place } = at;
  const [none, far, overlap] = [NONE, Infinity, sideChange];
  const chances = CHANCES;
  const limit = setChances(temperature);
  const { only: onlyAbove, onlyShift: shiftAbove, first: firstAbove, end: endAbove, endShift: endShiftAbove } = above;
  const { only: onlyBelow, onlyShift: shiftBelow, first: firstBelow, end: endBelow, endShift: endShiftBelow } = below;
  const free = temperature > 0 ? 0 : -1;
  let { random, steps } = course;
  let total = 0;
  for (let row = 0; row < rowCount; row++) {
    const begin = rowStart[row];
    const end = rowStart[row + 1];
    let a = -1;
    // Links of a vertex to the row above, the least and the greatest of their places there, and the same below.
    let upA = 0;
    let upLowA = far;
    let upHighA = -far;
    let downA = 0;
    let downLowA = far;
    let downHighA = -far;
    for (let i = end - begin > 1 ? begin : end; i < end; i++) {
      const b = order[i];
      const above1 = onlyAbove[b];
      let upB = 1;
      let upLowB = far;
      let upHighB = -far;
      if (above1 >= 0) {
        upLowB = upHighB = place[above1] + shiftAbove[b];
      } else if (above1 === none) {
        upB = 0;
      } else {
        const last = firstAbove[b + 1];
        upB = last - firstAbove[b];
        for (let k = last - upB; k < last; k++) {
          const one = place[endAbove[k]] + endShiftAbove[k];
          upLowB = one < upLowB ? one : upLowB;
          upHighB = one > upHighB ? one : upHighB;
        }
      }
      const below1 = onlyBelow[b];
      let downB = 1;
      let downLowB = far;
      let downHighB = -far;
      if (below1 >= 0) {
        downLowB = downHighB = place[below1] + shiftBelow[b];
      } else if (below1 === none) {
        downB = 0;
      } else {
        const last = firstBelow[b + 1];
        downB = last - firstBelow[b];
        for (let k = last - downB; k < last; k++) {
          const one = place[endBelow[k]] + endShiftBelow[k];
          downLowB = one < downLowB ? one : downLowB;
          downHighB = one > downHighB ? one : downHighB;
        }
      }
      if (i > begin) {
        const upPairs = upA * upB;
        const downPairs = downA * downB;
        let change = 0;
        if (upPairs === 1) {
          change = upLowA < upLowB ? 1 : upLowA > upLowB ? -1 : 0;
        } else if (upPairs > 1) {
          steps += upPairs;
          change = upHighA < upLowB ? upPairs : upLowA > upHighB ? -upPairs : overlap(above, a, b, place);
        }
        if (downPairs === 1) {
          change += downLowA < downLowB ? 1 : downLowA > downLowB ? -1 : 0;
        } else if (downPairs > 1) {
          steps += downPairs;
          change += downHighA < downLowB ? downPairs : downLowA > downHighB ? -downPairs : overlap(below, a, b, place);
        }
        let swap = change <= free;
        if (!swap && change <= limit) {
          random ^= random << 13;
          random ^= random >>> 17;
          random ^= random << 5;
          swap = random >>> 0 < chances[change];
        }
        if (swap && !(held[a] && held[b]) && upPairs <= MOST_PAIRS && downPairs <= MOST_PAIRS) {
          order[i - 1] = b;
          order[i] = a;
          place[b]--;
          place[a]++;
          total += change;
          continue;
        }
      }
      a = b;
      upA = upB;
      upLowA = upLowB;
      upHighA = upHighB;
      downA = downB;
      downLowA = downLowB;
      downHighA = downHighB;
    }
  }
  course.random = random;
  course.steps = steps;
  return total;
}

/** Room for the chances of one pass, which is the only one at its time. */
const CHANCES = new Float64Array(MOST_COST + 1);

/**
 * The chance of a swap by its cost, as a part of 2 ** 32; gives the greatest cost that has one. exp(-x) is ten squarings
 * of 1 - x / 1024: basic arithmetic gives the same bits in every engine, which `Math.exp` does not.
 */
function setChances(temperature: number): number {
  if (temperature === 0) {
    return -1;
  }
  const limit = Math.min(MOST_COST, Math.ceil(HOPELESS * temperature));
  for (let cost = 0; cost <= limit; cost++) {
    let chance = 1 - cost / temperature / 1024;
    for (let k = 0; k < 10; k++) {
      chance *= chance;
    }
    CHANCES[cost] = chance * 4294967296;
  }
  return limit;
}
