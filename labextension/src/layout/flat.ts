/** Lays out the flat graph of one group: its parts one by one, then side by side. */
import { BOX_GAP } from './distances.ts';
import { Pin } from './input.ts';
import { layoutPart, type FlatInput, type Part, type PlacedPart } from './part.ts';
import { heldAt, type Stayed } from './passing.ts';
import { pack } from './shelves.ts';
import { slideShelves } from './slide.ts';

export interface FlatLayout {
  /** Middle of each vertex; upper edge of each vertex. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** For each piece its points x, y, x, y, ...; null for one that is not drawn. */
  readonly routes: (Float64Array | null)[];
  readonly row: Int32Array;
  readonly column: Int32Array;
  /** The shelf that the part of each vertex stands in. */
  readonly shelf: Int32Array;
  /** Space between the row of each vertex and the next ones, in px; NaN where there is none. */
  readonly above: Float64Array;
  readonly below: Float64Array;
  readonly width: number;
  readonly height: number;
}

/** So many arguments or results that no edge joins stand in the row of the others. */
const MOST_ALONE = 12;
/** px up to which parts with arguments or results stand side by side. */
const ROW_WIDTH = 640;

/** `effort` is the share of the work that is spent on a whole picture. */
export function layoutFlat(all: FlatInput, effort = 1): FlatLayout {
  const beside = besideJoined(all);
  const together = [...beside, ...inOrder(all)];
  const joined = findParts(all, together);
  const found = inFormerOrder(all, findParts(all, [...together, ...amidOthers(all, joined)]));
  const input = { ...all, before: all.before && besideNeighbours(all, all.before, beside, found) };
  const count = input.pin.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const row = new Int32Array(count);
  const column = new Int32Array(count);
  const shelf = new Int32Array(count);
  const above = new Float64Array(count);
  const below = new Float64Array(count);
  const routes: (Float64Array | null)[] = new Array(input.from.length).fill(null);
  const parts = found.map(part => layoutPart(input, part, (effort * part.vertices.length) / count));
  const packed = parts.map(part => ({
    ...part,
    before: shelfBefore(input, part),
    tied: part.vertices.some(vertex => input.gate[vertex] === 1)
  }));
  // Arguments and results stand in one row as far as a page is wide.
  const least = input.pin.some(pin => pin === Pin.top || pin === Pin.bottom) ? ROW_WIDTH : 0;
  const upright = pack(packed, input.pin.includes(Pin.ordered), least);
  const shelves = slideShelves(
    upright,
    parts.map((part, at) => heldBy(input, part, upright.x[at]))
  );
  const { width, height } = shelves;
  parts.forEach((part, at) => {
    const [atX, atY] = [shelves.x[at], shelves.y[at]];
    part.vertices.forEach((vertex, i) => {
      x[vertex] = part.x[i] + atX;
      y[vertex] = part.y[i] + atY;
      row[vertex] = part.row[i];
      column[vertex] = part.column[i];
      shelf[vertex] = shelves.shelf[at];
      above[vertex] = part.gaps[part.row[i] - 1] ?? NaN;
      below[vertex] = part.gaps[part.row[i]] ?? NaN;
    });
    part.pieces.forEach((piece, i) => {
      const route = part.routes[i];
      if (route) {
        for (let k = 0; k < route.length; k += 2) {
          route[k] += atX;
          route[k + 1] += atY;
        }
        // The lower border of the group, which a neighbouring part may have pushed further down.
        for (const [vertex, end] of [
          [input.from[piece], 1],
          [input.to[piece], route.length - 1]
        ]) {
          if (input.pin[vertex] === Pin.bottom && input.gate[vertex]) {
            route[end] = height;
            y[vertex] = height;
          }
        }
        routes[piece] = route;
      }
    });
  });
  return { x, y, routes, row, column, shelf, above, below, width, height };
}

/** The boxes of a part at all depths, if they stood anywhere before; it begins at `left`. */
function heldBy({ holds }: FlatInput, { vertices, x }: PlacedPart, left: number): Stayed[] {
  const own = holds ? vertices.map(vertex => holds[vertex]) : [];
  return heldAt(
    own,
    x.map(one => one + left)
  );
}

/** The shelf that what is known of a part stood in, -1 where all is new. */
function shelfBefore({ stood }: FlatInput, { vertices }: Part): number {
  return stood?.shelf[vertices.find(vertex => stood.shelf[vertex] >= 0) ?? -1] ?? -1;
}

/** Where what is known of a part stood: from its leftmost centre to its rightmost one. */
interface Span {
  readonly part: Part;
  readonly shelf: number;
  readonly first: number;
  readonly last: number;
}

/** From the left in each shelf, as they stood, whatever place is wanted for them now; parts that are all new have none. */
function spansBefore({ before, stood, holds }: FlatInput, parts: readonly Part[]): Span[] {
  if (!before || !stood) {
    return [];
  }
  const was = (vertex: number): number => holds?.[vertex][0]?.was ?? before[vertex];
  const spans = parts.flatMap(part => {
    const known = part.vertices.filter(vertex => !Number.isNaN(before[vertex]));
    const places = known.map(was);
    const [first, last] = [Math.min(...places), Math.max(...places)];
    return known.length ? [{ part, shelf: stood.shelf[known[0]], first, last }] : [];
  });
  return spans.sort((a, b) => a.shelf - b.shelf || a.first - b.first);
}

/**
 * Parts that stood somewhere change places with each other until they come as they came there, in the places that all
 * such parts have. Those with arguments or results are in the order of the signature as it is.
 */
function inFormerOrder(input: FlatInput, parts: readonly Part[]): Part[] {
  const { pin, gate } = input;
  const isPinned = (vertex: number): boolean => !gate[vertex] && pin[vertex] !== Pin.free;
  const former = spansBefore(input, parts).filter(({ part }) => !part.vertices.some(isPinned));
  const moving = new Set(former.map(({ part }) => part));
  let next = 0;
  return parts.map(part => (moving.has(part) ? former[next++].part : part));
}

/** Parts that stood in the midst of another, as they hung together then: one vertex of each. They stay there. */
function amidOthers(input: FlatInput, parts: readonly Part[]): [number, number][] {
  // Of those that begin further left, the one that reaches furthest to the right.
  let around: Span | null = null;
  const amid: [number, number][] = [];
  for (const span of spansBefore(input, parts)) {
    if (around?.shelf !== span.shelf || around.last <= span.last) {
      around = span;
    } else if (around.first < span.first) {
      amid.push([span.part.vertices[0], around.part.vertices[0]]);
    }
  }
  return amid;
}

/** What stands in program order and is joined to nothing stands in the part of its neighbour: no other comes between. */
function inOrder({ pin, from, to }: FlatInput): [number, number][] {
  const joined = new Set([...from, ...to]);
  const ordered = [...pin.keys()].filter(vertex => pin[vertex] === Pin.ordered);
  const pairs = ordered.slice(1).map((vertex, i): [number, number] => [vertex, ordered[i]]);
  return pairs.filter(pair => !pair.every(vertex => joined.has(vertex)));
}

/**
 * Arguments that nothing reads and results that no edge joins, such as a constant, each with the nearest of its kind
 * that has an edge: they stand in its row, where the signature has them. Where none has one, they stand in one row, the
 * results below the arguments. Many would make a row too wide.
 */
function besideJoined({ pin, gate, from, to }: FlatInput): [number, number][] {
  const joined = new Set([...from, ...to]);
  const pinned = (side: number): number[] => [...pin.keys()].filter(vertex => pin[vertex] === side && !gate[vertex]);
  const [above, below] = [pinned(Pin.top), pinned(Pin.bottom)];
  // What something else reads stands further up.
  const last = below.filter(vertex => joined.has(vertex) && !from.includes(vertex));
  const results = besideNearest(below, last.length ? last : below.filter(vertex => joined.has(vertex)), joined);
  const first = above.filter(vertex => joined.has(vertex));
  const tied = above.length > 0 && below.length > 0 && !below.some(vertex => joined.has(vertex));
  return [
    ...besideNearest(above, first, joined),
    ...results,
    ...(tied && results.length === below.length - 1 ? [[below[0], above[0]] as [number, number]] : [])
  ];
}

/** Each of `row` that no edge joins with the nearest of `reached`; where there is none, with the one before it. */
function besideNearest(
  row: readonly number[],
  reached: readonly number[],
  joined: ReadonlySet<number>
): [number, number][] {
  const alone = row.filter(vertex => !joined.has(vertex));
  if (alone.length > MOST_ALONE) {
    return [];
  }
  if (!reached.length) {
    return alone.slice(1).map((vertex, i) => [vertex, alone[i]]);
  }
  return alone.map(vertex => {
    const far = (other: number): number => Math.abs(other - vertex);
    return [vertex, reached.reduce((best, other) => (far(other) < far(best) ? other : best))];
  });
}

/**
 * What stood by itself on the other side of its neighbour, or away from all that its part holds now, would draw the
 * neighbour there, or leave a gap: it comes to its neighbour.
 */
function besideNeighbours(
  { left, right, from }: FlatInput,
  before: Float64Array,
  beside: readonly (readonly [number, number])[],
  parts: readonly Part[]
): Float64Array {
  const places = before.slice();
  const single = new Set(beside.map(([alone]) => alone));
  for (const [alone, neighbour] of beside) {
    const joined = parts
      .find(({ vertices }) => vertices.includes(alone))
      ?.vertices.filter(vertex => !single.has(vertex) && !Number.isNaN(before[vertex]));
    const away = joined?.every(vertex => before[vertex] - left[vertex] > before[alone] + right[alone]);
    const beyond = joined?.every(vertex => before[vertex] + right[vertex] < before[alone] - left[alone]);
    const isLeft = alone < neighbour;
    // What something else reads stands further up: nothing orders the two then.
    const astray = !from.includes(neighbour) && isLeft === before[alone] > before[neighbour];
    if (away || beyond || astray) {
      places[alone] = isLeft
        ? before[neighbour] - left[neighbour] - BOX_GAP - right[alone]
        : before[neighbour] + right[neighbour] + BOX_GAP + left[alone];
    }
  }
  return places;
}

function findParts({ pin, from, to }: FlatInput, beside: readonly (readonly [number, number])[]): Part[] {
  const count = pin.length;
  const root = Int32Array.from({ length: count }, (_, i) => i);
  const find = (vertex: number): number => {
    let at = vertex;
    while (root[at] !== at) {
      root[at] = root[root[at]];
      at = root[at];
    }
    return at;
  };
  from.forEach((vertex, piece) => {
    const [a, b] = [find(vertex), find(to[piece])];
    root[Math.max(a, b)] = Math.min(a, b);
  });
  for (const [alone, neighbour] of beside) {
    const [a, b] = [find(alone), find(neighbour)];
    root[Math.max(a, b)] = Math.min(a, b);
  }
  const parts = new Map<number, Part>();
  for (let vertex = 0; vertex < count; vertex++) {
    const key = find(vertex);
    const part = parts.get(key);
    if (part) {
      part.vertices.push(vertex);
    } else {
      parts.set(key, { vertices: [vertex], pieces: [] });
    }
  }
  from.forEach((vertex, piece) => parts.get(find(vertex))?.pieces.push(piece));
  return [...parts.values()];
}
