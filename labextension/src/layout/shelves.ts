/**
 * Places the parts of a group, which no edge joins: side by side, and in several shelves where one would be too wide.
 * What stood in a shelf stays in it, unless the shelves are far from the wanted shape for it.
 */
import { PART_GAP } from './distances.ts';

/**
 * So many parts stand in one row where a part of the group is tied to its border. Their number is the same whatever is
 * open in them, so that nothing that opens sets all of them anew.
 */
const MOST_IN_ROW = 200;
/** Former shelves are kept up to so many times the width or height that new ones would have. */
const TOO_LARGE = 2;
/** How many times as wide as high the whole should be. */
const ASPECT = 1.6;

/**
 * A part to be placed; `before` is the shelf that it stood in, -1 for what is new. What is tied to the border of the group
 * reaches from there to there, and has nothing above or below it.
 */
export interface Packed {
  readonly width: number;
  readonly height: number;
  readonly before: number;
  readonly tied: boolean;
}

/** Upper left corners of the parts, their shelves, and the size of the whole. */
export interface Shelves {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly shelf: Int32Array;
  /** Of each shelf; where nothing stands in one, there is none. */
  readonly widths: readonly number[];
  readonly width: number;
  readonly height: number;
}

/**
 * In as many shelves as are needed, each of which may be `least` wide. Parts that are `ordered` stand in one row. Where
 * some are tied, all do unless they are many: then these stand in one, and the others in shelves beside them.
 */
export function pack(parts: readonly Packed[], ordered: boolean, least = 0): Shelves {
  const row = place(parts, new Int32Array(parts.length));
  if (ordered) {
    return row;
  }
  if (!parts.some(({ tied }) => tied)) {
    return inShelves(parts, least);
  }
  const free = parts.filter(({ tied }) => !tied);
  const stoodInShelves = free.some(({ before }) => before > 0);
  const stoodInRow = !stoodInShelves && parts.some(({ before }) => before === 0);
  const areMany = free.length > (stoodInRow ? TOO_LARGE : 1) * MOST_IN_ROW;
  return free.length > 1 && (stoodInShelves || areMany) ? besideTied(parts, free) : row;
}

function besideTied(parts: readonly Packed[], free: readonly Packed[]): Shelves {
  const tied = parts.filter(part => part.tied);
  const [row, block] = [place(tied, new Int32Array(tied.length)), inShelves(free)];
  const left = row.width + PART_GAP;
  const x = new Float64Array(parts.length);
  const y = new Float64Array(parts.length);
  const shelf = new Int32Array(parts.length);
  let [fromRow, fromBlock] = [0, 0];
  parts.forEach((part, at) => {
    if (part.tied) {
      x[at] = row.x[fromRow++];
    } else {
      x[at] = left + block.x[fromBlock];
      y[at] = block.y[fromBlock];
      shelf[at] = block.shelf[fromBlock++];
    }
  });
  const widths = block.widths.map(width => left + width);
  return { x, y, shelf, widths, width: left + block.width, height: Math.max(row.height, block.height) };
}

/** Nothing ties the parts to a border or to each other. */
function inShelves(parts: readonly Packed[], least = 0): Shelves {
  const fresh = place(parts, fill(parts, least));
  if (parts.every(({ before }) => before < 0)) {
    return fresh;
  }
  const kept = place(parts, stay(parts));
  const large = kept.width > TOO_LARGE * fresh.width || kept.height > TOO_LARGE * fresh.height;
  return large ? fresh : kept;
}

/** One part after the other, in a new shelf where it would reach too far. */
function fill(parts: readonly Packed[], least: number): Int32Array {
  let area = 0;
  let widest = 0;
  for (const { width, height } of parts) {
    area += (width + PART_GAP) * (height + PART_GAP);
    widest = Math.max(widest, width);
  }
  const limit = Math.max(least, widest, Math.sqrt(area * ASPECT));
  let [shelf, at] = [0, 0];
  return Int32Array.from(parts, ({ width }) => {
    if (at > 0 && at + width > limit) {
      shelf++;
      at = 0;
    }
    at += width + PART_GAP;
    return shelf;
  });
}

/** Each in the shelf that it stood in, and what is new in that of the part before it. */
function stay(parts: readonly Packed[]): Int32Array {
  let shelf = parts.find(({ before }) => before >= 0)?.before ?? 0;
  return Int32Array.from(parts, ({ before }) => (shelf = before >= 0 ? before : shelf));
}

/** Shelves that nothing stands in any more take no room. */
function place(parts: readonly Packed[], shelf: Int32Array): Shelves {
  const x = new Float64Array(parts.length);
  const widths: number[] = [];
  const heights: number[] = [];
  parts.forEach(({ width, height }, i) => {
    x[i] = widths[shelf[i]] === undefined ? 0 : widths[shelf[i]] + PART_GAP;
    widths[shelf[i]] = x[i] + width;
    heights[shelf[i]] = Math.max(heights[shelf[i]] ?? 0, height);
  });
  const tops: number[] = [];
  let bottom = -PART_GAP;
  heights.forEach((height, i) => {
    tops[i] = bottom + PART_GAP;
    bottom = tops[i] + height;
  });
  return {
    x,
    y: Float64Array.from(shelf, one => tops[one]),
    shelf,
    widths,
    width: widths.reduce((most, one) => Math.max(most, one), 0),
    height: Math.max(0, bottom)
  };
}
