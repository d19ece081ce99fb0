/**
 * The order within rows: few crossings. Sweeps to the means of neighbours, then annealing, which falls from hot to
 * cool and ends with passes that hardly ever take a swap for the worse. The best is kept.
 *
 * Work is counted, never timed, so that the same graph gets the same layout on every machine.
 */
import { annealPass, type Course } from './anneal.ts';
import { setPlaces, type Arrangement, type Net } from './net.ts';
import { rerouteLongEdges } from './reroute.ts';
import { depthFirst, sweepToMeans } from './start.ts';

export interface Order extends Arrangement {
  /** 1 for vertices whose order among themselves is kept. */
  readonly held: Uint8Array;
  readonly crossings: number;
}

const MOST_SWEEPS = 24;
const SWEEP_WORK = 300_000;
/** Passes of annealing while it is hot; more help little. */
const MOST_PASSES = 1000;
const LEAST_PASSES = 30;
/** A step over a pair of links, against a vertex. */
const STEP = 0.15;
const HOT = 0.8;
const COOL = 0.3;
const QUENCH_PASSES = 20;
const QUENCH = 0.2;
const QUENCHED = 0.1;
/** Rounds of rerouting, each after a quench, and the work that one may do. */
const REROUTES = 2;
const REROUTE_WORK = 4_000_000;
/** So many orders that were found last are remembered, of graphs of so many vertices, lanes included. */
const REMEMBERED = 256;
const MOST_REMEMBERED = 600;

/** Orders that were found last, by all that they depend on. */
const remembered = new Map<string, Order>();
/** How nets look, told once for all starts. */
const looks = new WeakMap<Net, string>();

/**
 * `fixed` gives vertices whose order among themselves is kept, such as arguments; -1 for all others. `start` begins
 * elsewhere for each number. `work` is the number of vertices that all passes of annealing may look at.
 *
 * What is tried for a picture is often the same graph with boxes of another width, which has the same order.
 */
export function orderRows(net: Net, fixed: Int32Array, start: number, work: number): Order {
  if (net.count > MOST_REMEMBERED) {
    return findOrder(net, fixed, start, work);
  }
  const key = [looksOf(net), fixed, start, work].join(';');
  const found = remembered.get(key) ?? findOrder(net, fixed, start, work);
  // The last one is the youngest.
  remembered.delete(key);
  remembered.set(key, found);
  if (remembered.size > REMEMBERED) {
    remembered.delete(remembered.keys().next().value as string);
  }
  return { ...found, order: found.order.slice(), place: found.place.slice() };
}

/** All of a net that an order depends on: shifts of ports follow from the ports. */
function looksOf(net: Net): string {
  const known = looks.get(net);
  if (known !== undefined) {
    return known;
  }
  const { rowStart, row, above, below, firstLane, laneCount } = net;
  const sides = [above, below].flatMap(({ first, end, port, endPort }) => [first, end, port, endPort]);
  const found = [rowStart, row, ...sides, firstLane, laneCount].join(';');
  looks.set(net, found);
  return found;
}

function findOrder(net: Net, fixed: Int32Array, start: number, work: number): Order {
  const { count } = net;
  const held = Uint8Array.from({ length: count }, (_, vertex) => (fixed[vertex] >= 0 ? 1 : 0));
  const at = depthFirst(net, start % 2 === 0);
  const sweeps = Math.min(MOST_SWEEPS, Math.max(4, Math.floor(SWEEP_WORK / Math.max(1, count))));
  const crossings = sweepToMeans(net, at, fixed, sweeps);
  return { ...at, held, crossings: anneal(net, at, held, crossings, start, work) };
}

/** Leaves the best arrangement and gives its crossings. */
function anneal(net: Net, at: Arrangement, held: Uint8Array, begin: number, start: number, work: number): number {
  let crossings = begin;
  let fewest = begin;
  const best = at.order.slice();
  if (crossings === 0) {
    return 0;
  }
  const course: Course = { random: 0x2545f491 + start, steps: 0 };
  const pass = (temperature: number): void => {
    crossings += annealPass(net, at, held, temperature, course);
    if (crossings < fewest) {
      fewest = crossings;
      best.set(at.order);
    }
  };
  pass(HOT);
  const passWork = net.count + STEP * course.steps;
  const passes = Math.min(MOST_PASSES, Math.max(LEAST_PASSES, Math.round(work / passWork)));
  for (let i = 0; i < passes && fewest > 0; i++) {
    pass(HOT + ((COOL - HOT) * i) / Math.max(1, passes - 1));
  }
  for (let round = 0; round <= REROUTES && fewest > 0; round++) {
    for (let i = 0; i < QUENCH_PASSES && fewest > 0; i++) {
      pass(QUENCH + ((QUENCHED - QUENCH) * i) / (QUENCH_PASSES - 1));
    }
    at.order.set(best);
    setPlaces(net, at);
    const saved = rerouteLongEdges(net, at, REROUTE_WORK);
    crossings = fewest - saved;
    if (saved === 0) {
      break;
    }
    fewest = crossings;
    best.set(at.order);
  }
  at.order.set(best);
  setPlaces(net, at);
  return fewest;
}

/** The rows of an order, which they share. */
export function rowsOf({ rowStart, rowCount }: Net, order: Int32Array): Int32Array[] {
  return Array.from({ length: rowCount }, (_, row) => order.subarray(rowStart[row], rowStart[row + 1]));
}
