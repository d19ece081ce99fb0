/**
 * The order of a picture that was drawn before. Boxes stand left to right as they stood, long edges pass where a
 * straight line would, and what is new stands where its neighbours want it. Then lanes move where that saves crossings.
 */
import { annealPass } from './anneal.ts';
import { countCrossings } from './crossings.ts';
import { BOX_GAP } from './distances.ts';
import { setPlaces, type Net } from './net.ts';
import type { Order } from './order.ts';
import type { Proper } from './proper.ts';
import { rerouteLongEdges } from './reroute.ts';
import type { Growth, Taken } from './room.ts';
import { keepFixed } from './start.ts';

/** A gap through all rows is no wider than this. */
const WIDEST_GAP = 2 * BOX_GAP;
const PASSES = 12;
const REROUTE_WORK = 4_000_000;
/** Rounds in which new boxes learn their places from their neighbours. */
const ROUNDS = 4;
/** Share of the boxes of a part that the rest finds its places by; a few boxes show no order, of them most are wanted. */
const LEAST_KNOWN = 0.25;
const FEW_KNOWN = 4;

/**
 * True if enough of `boxes` boxes stood somewhere before. What takes the place of one box, as the operations of a line
 * do, may well be more than all that was there. `before` holds centres, NaN for what is new and for gates.
 */
export function isWarm(before: Float64Array, boxes: number): boolean {
  const known = before.filter(x => !Number.isNaN(x)).length;
  return known > (known > FEW_KNOWN ? LEAST_KNOWN : 0.5) * boxes;
}

/**
 * Places without the room that something took which is closed now: where nothing stands there in any row, what is to
 * the right moves up to what is to the left.
 */
export function closeGaps(before: Float64Array, { left, right }: Taken, growth: Growth): Float64Array {
  const order = [...before.keys()].filter(vertex => stood(before, vertex));
  order.sort((a, b) => before[a] - left[a] - before[b] + left[b]);
  const given = order.flatMap(vertex => {
    const [from, to] = [before[vertex] - left[vertex], before[vertex] + right[vertex]];
    return [
      [from + growth.left[vertex], from],
      [to, to - growth.right[vertex]]
    ].filter(([begin, end]) => begin < end);
  });
  if (given.length === 0) {
    return before;
  }
  const places = before.slice();
  let [reached, moved] = [Infinity, 0];
  for (const vertex of order) {
    const begins = before[vertex] - left[vertex];
    const free = begins - reached - WIDEST_GAP;
    if (free > 0) {
      moved += Math.min(free, covered(given, reached, begins));
    }
    reached = Math.max(reached === Infinity ? -Infinity : reached, before[vertex] + right[vertex]);
    places[vertex] -= moved;
  }
  return places;
}

/** How much of what lies between `from` and `to` is in any of the intervals. */
function covered(intervals: readonly number[][], from: number, to: number): number {
  let [sum, reached] = [0, from];
  for (const [begin, end] of [...intervals].sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, Math.min(end, to) - Math.max(begin, reached));
    reached = Math.max(reached, Math.min(end, to));
  }
  return sum;
}

/** `before` is given for the boxes, `fixed` as for `orderRows`. */
export function orderAsBefore(net: Net, proper: Proper, fixed: Int32Array, before: Float64Array): Order {
  const wish = wishes(net, proper, before);
  const order = Int32Array.from({ length: net.count }, (_, i) => i).sort(
    (a, b) => net.row[a] - net.row[b] || wish[a] - wish[b] || a - b
  );
  const at = { order, place: new Int32Array(net.count) };
  setPlaces(net, at);
  keepFixed(net, at, fixed);
  // What stood somewhere keeps its order: only lanes, and what is new, make way.
  const held = Uint8Array.from({ length: net.count }, (_, vertex) =>
    fixed[vertex] >= 0 || stood(before, vertex) ? 1 : 0
  );
  let crossings = countCrossings(net, at);
  for (let pass = 0, change = -1; pass < PASSES && change < 0 && crossings > 0; pass++) {
    change = annealPass(net, at, held, 0, { random: 1, steps: 0 });
    crossings += change;
  }
  if (crossings > 0) {
    crossings -= rerouteLongEdges(net, at, REROUTE_WORK);
  }
  return { ...at, held, crossings };
}

/** True for a vertex that had a place before; lanes lie past the end of `before`. */
export function stood(before: Float64Array, vertex: number): boolean {
  return before[vertex] === before[vertex] && before[vertex] !== undefined;
}

/** Where each vertex would like to stand: as before, on the line of its edge, or at the mean of its neighbours. */
function wishes(net: Net, proper: Proper, before: Float64Array): Float64Array {
  const { above, below, count } = net;
  const wish = new Float64Array(count).fill(NaN);
  wish.set(before);
  const fresh = Array.from(before.keys()).filter(vertex => Number.isNaN(before[vertex]));
  const lay = (): void =>
    proper.firstLane.forEach((first, edge) => {
      const lanes = proper.laneCount[edge];
      if (first >= 0 && lanes > 0) {
        const from = wish[above.end[above.first[first]]];
        const to = wish[below.end[below.first[first + lanes - 1]]];
        for (let i = 0; i < lanes; i++) {
          const part = (i + 1) / (lanes + 1);
          wish[first + i] = Number.isNaN(from) ? to : Number.isNaN(to) ? from : from + (to - from) * part;
        }
      }
    });
  lay();
  for (let round = 0; round < ROUNDS && fresh.length; round++) {
    for (const vertex of round % 2 ? fresh.slice().reverse() : fresh) {
      let [sum, known] = [0, 0];
      for (const side of [above, below]) {
        for (let k = side.first[vertex]; k < side.first[vertex + 1]; k++) {
          const other = wish[side.end[k]];
          if (!Number.isNaN(other)) {
            sum += other;
            known++;
          }
        }
      }
      wish[vertex] = known ? sum / known : wish[vertex];
    }
    lay();
  }
  return wish.map(x => (Number.isNaN(x) ? 0 : x));
}
