/**
 * Folds a part that is far higher than wide into columns, as text is set: where a column ends, its edges go up again
 * beside it and come in from above the next one. Cuts are made where few edges pass; the order of edges is kept, so
 * that no fold adds a crossing.
 */
import { comeNear, type Taken } from './beside.ts';
import { LANE_GAP, PART_GAP } from './distances.ts';
import { countBelow } from '../document/sorted.ts';

/** Parts lower than this are never folded, in px. */
export const FOLD_FROM = 1200;
/** A part is folded if it is this many times higher than the wanted shape. */
const TOO_HIGH = 4;
/** What is in one column, or in several, stays so until it is so many times as far from the wanted shape. */
const TOO_FAR = 1.5;
/** A fold that leaves more of the height than this only makes the picture wider. */
const WORTHWHILE = 0.75;
/** No cut runs through more edges than this. */
export const MOST_CUT = 8;
/** How far from the wanted height of a column a cut may be, as a part of it. */
const SLACK = 0.3;

/** A part as it stands before folding. Routes run downward and have a point at every border of a row that they pass. */
export interface Tall {
  /** Centres and upper edges of boxes, their rows, and the room to both sides of their centres. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly row: Int32Array;
  readonly left: Float64Array;
  readonly right: Float64Array;
  readonly routes: readonly (Float64Array | null)[];
  /** Upper and lower edges of the rows. */
  readonly tops: Float64Array;
  readonly bottoms: Float64Array;
  readonly width: number;
}

export interface Folded {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly routes: (Float64Array | null)[];
  readonly column: Int32Array;
  readonly width: number;
  readonly height: number;
}

/**
 * The part in columns, about `aspect` times as wide as high; null if it is not too high or cannot be cut. Where it was
 * drawn before, `kept` has the rows after which its columns ended: they still do, unless that is far from the shape now.
 * What was in one column is never folded where it is `nearlySame`: that would move all of it for the one thing that opens.
 */
export function fold(tall: Tall, aspect: number, kept?: readonly number[], nearlySame = false): Folded | null {
  const { bottoms, width } = tall;
  const height = bottoms.length ? bottoms[bottoms.length - 1] : 0;
  if (kept?.length) {
    const folded = inColumns(tall, kept);
    const high = (folded.height * aspect) / folded.width;
    if (high < TOO_FAR * TOO_HIGH && high > 1 / (TOO_FAR * TOO_HIGH)) {
      return folded;
    }
  }
  if (kept?.length === 0 && nearlySame) {
    return null;
  }
  const tooHigh = kept?.length === 0 ? TOO_FAR * TOO_HIGH : TOO_HIGH;
  if (height < FOLD_FROM || height * aspect < tooHigh * width) {
    return null;
  }
  const columns = Math.round(Math.sqrt((aspect * height) / (width + PART_GAP)));
  const cuts = chooseCuts(tall, height / columns);
  const folded = cuts.length ? inColumns(tall, cuts) : null;
  return folded && folded.height <= WORTHWHILE * height ? folded : null;
}

/** The part in columns that end after the rows `cuts`. */
function inColumns(tall: Tall, cuts: readonly number[]): Folded {
  const { tops } = tall;
  const begins = [0, ...cuts.map(row => row + 1)];
  const columnOf = new Int32Array(tops.length);
  for (let row = 0, column = 0; row < tops.length; row++) {
    column += begins[column + 1] === row ? 1 : 0;
    columnOf[row] = column;
  }
  return setColumns(edgesNearBoxes(tall, begins.length, columnOf), begins, cuts, columnOf);
}

/** The part with the edges of each column near to its boxes. */
function edgesNearBoxes(tall: Tall, columns: number, columnOf: Int32Array): Tall {
  const taken: Taken[][] = Array.from({ length: columns }, () => []);
  const columnAt = (y: number): number => columnOf[rowAt(tall.bottoms, y)];
  const columnOfBox = (vertex: number): number => columnOf[tall.row[vertex]];
  tall.x.forEach((x, vertex) => taken[columnOfBox(vertex)].push([x - tall.left[vertex], x + tall.right[vertex]]));
  for (const route of tall.routes) {
    for (let k = 0; route && k < route.length; k += 2) {
      taken[columnAt(route[k + 1])].push([route[k], route[k]]);
    }
  }
  const near = taken.map(comeNear);
  return {
    ...tall,
    x: tall.x.map((x, vertex) => near[columnOfBox(vertex)](x)),
    routes: tall.routes.map(
      route => route && route.map((value, k) => (k % 2 ? value : near[columnAt(route[k + 1])](value)))
    )
  };
}

/** Rows after which a column ends. */
function chooseCuts({ routes, tops, bottoms }: Tall, wanted: number): number[] {
  const passing = new Int32Array(tops.length);
  for (const route of routes) {
    if (route) {
      for (let row = rowAt(bottoms, route[1]), last = rowAt(bottoms, route[route.length - 1]); row < last; row++) {
        passing[row]++;
      }
    }
  }
  const cuts: number[] = [];
  let begin = 0;
  while (bottoms[bottoms.length - 1] - tops[begin] > (1 + SLACK) * wanted) {
    let best = -1;
    let least = Infinity;
    for (let row = begin; row + 1 < tops.length; row++) {
      const off = Math.abs(bottoms[row] - tops[begin] - wanted) / wanted;
      if (bottoms[row] - tops[begin] > (1 + SLACK) * wanted && best >= 0) {
        break;
      }
      if ((off <= SLACK || bottoms[row] - tops[begin] > wanted) && passing[row] <= MOST_CUT) {
        if (passing[row] + off < least) {
          least = passing[row] + off;
          best = row;
        }
      }
    }
    if (best < 0) {
      break;
    }
    cuts.push(best);
    begin = best + 1;
  }
  return cuts;
}

/** The row that holds a height, or the next one above it. */
function rowAt(bottoms: Float64Array, y: number): number {
  return Math.min(countBelow(bottoms, y), bottoms.length - 1);
}

/** Where an edge passes from a column to the next: x at the end of the one and at the beginning of the other. */
interface Passage {
  readonly route: number;
  readonly from: number;
  readonly to: number;
  /** From the left, by where it comes in. */
  place: number;
}

function setColumns(tall: Tall, begins: readonly number[], cuts: readonly number[], columnOf: Int32Array): Folded {
  const { bottoms, tops } = tall;
  const passages = findPassages(tall, cuts);
  const [low, high] = columnExtents(tall, begins.length, columnOf);
  const shiftX = new Float64Array(begins.length);
  const shiftY = new Float64Array(begins.length);
  const room = (column: number): number => (passages[column] ? (passages[column].length + 1) * LANE_GAP : 0);
  let at = 0;
  let height = 0;
  begins.forEach((row, column) => {
    // Before a column there is room for what comes up beside it, above it for what comes in.
    at += column > 0 ? Math.max(PART_GAP, room(column - 1)) : 0;
    shiftX[column] = at - low[column];
    at += high[column] - low[column];
    shiftY[column] = (column > 0 ? room(column - 1) : 0) - tops[row];
    const last = column < cuts.length ? cuts[column] : bottoms.length - 1;
    height = Math.max(height, bottoms[last] + shiftY[column] + room(column));
  });
  const routes = tall.routes.map((route, i) => {
    if (!route) {
      return null;
    }
    const points: number[] = [];
    let column = columnOf[rowAt(bottoms, route[1])];
    for (let k = 0; k < route.length; k += 2) {
      points.push(route[k] + shiftX[column], route[k + 1] + shiftY[column]);
      if (column < cuts.length && k + 2 < route.length && route[k + 3] > bottoms[cuts[column]]) {
        const { place } = passages[column].find(passage => passage.route === i) as Passage;
        const count = passages[column].length;
        // The leftmost goes outermost: it turns lowest, and comes in lowest above the next column.
        const below = bottoms[cuts[column]] + shiftY[column] + (count - place) * LANE_GAP;
        const beside = shiftX[column + 1] + low[column + 1] - (place + 1) * LANE_GAP;
        const above = (count - place) * LANE_GAP;
        points.push(route[k] + shiftX[column], below, beside, below, beside, above);
        points.push(route[k + 2] + shiftX[column + 1], above);
        column++;
      }
    }
    return Float64Array.from(points);
  });
  return {
    x: tall.x.map((x, vertex) => x + shiftX[columnOf[tall.row[vertex]]]),
    y: tall.y.map((y, vertex) => y + shiftY[columnOf[tall.row[vertex]]]),
    routes,
    column: tall.row.map(row => columnOf[row]),
    width: at,
    height
  };
}

/** For each cut what passes it. */
function findPassages({ routes, bottoms }: Tall, cuts: readonly number[]): Passage[][] {
  const passages: Passage[][] = cuts.map(() => []);
  routes.forEach((route, i) => {
    if (!route) {
      return;
    }
    let cut = 0;
    while (cut < cuts.length && bottoms[cuts[cut]] < route[1]) {
      cut++;
    }
    for (let k = 0; k + 2 < route.length && cut < cuts.length; k += 2) {
      if (route[k + 3] > bottoms[cuts[cut]]) {
        passages[cut].push({ route: i, from: route[k], to: route[k + 2], place: 0 });
        cut++;
      }
    }
  });
  for (const list of passages) {
    list.sort((a, b) => a.to - b.to || a.from - b.from);
    list.forEach((passage, place) => (passage.place = place));
  }
  return passages;
}

function columnExtents(tall: Tall, columns: number, columnOf: Int32Array): [Float64Array, Float64Array] {
  const low = new Float64Array(columns).fill(Infinity);
  const high = new Float64Array(columns).fill(-Infinity);
  const see = (column: number, left: number, right: number): void => {
    low[column] = Math.min(low[column], left);
    high[column] = Math.max(high[column], right);
  };
  tall.x.forEach((x, vertex) => see(columnOf[tall.row[vertex]], x - tall.left[vertex], x + tall.right[vertex]));
  for (const route of tall.routes) {
    for (let k = 0; route && k < route.length; k += 2) {
      const column = columnOf[rowAt(tall.bottoms, route[k + 1])];
      see(column, route[k], route[k]);
    }
  }
  return [low, high];
}
