/** Lays out the flat graph of one group: its parts one by one, then side by side. */
import { PART_GAP } from './distances.ts';
import { Pin } from './input.ts';
import { layoutPart, type FlatInput, type Part, type PlacedPart } from './part.ts';

export interface FlatLayout {
  /** Middle of each vertex; upper edge of each vertex. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** For each piece its points x, y, x, y, ...; null for one that is not drawn. */
  readonly routes: (Float64Array | null)[];
  readonly column: Int32Array;
  readonly width: number;
  readonly height: number;
}

/** So many results that no edge joins stand in the row of the others. */
const MOST_ALONE = 12;

/** `effort` is the share of the work that is spent on a whole picture. */
export function layoutFlat(all: FlatInput, effort = 1): FlatLayout {
  const beside = besideJoined(all);
  const input = { ...all, before: all.before && inOrder(all.before, beside) };
  const count = input.pin.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const column = new Int32Array(count);
  const routes: (Float64Array | null)[] = new Array(input.from.length).fill(null);
  const parts = findParts(input, beside).map(part => layoutPart(input, part, (effort * part.vertices.length) / count));
  const size = pack(parts, !input.gate.includes(1) && !input.pin.includes(Pin.ordered));
  for (const part of parts) {
    part.vertices.forEach((vertex, i) => {
      x[vertex] = part.x[i] + part.atX;
      y[vertex] = part.y[i] + part.atY;
      column[vertex] = part.column[i];
    });
    part.pieces.forEach((piece, i) => {
      const route = part.routes[i];
      if (route) {
        for (let k = 0; k < route.length; k += 2) {
          route[k] += part.atX;
          route[k + 1] += part.atY;
        }
        // The lower border of the group, which a neighbouring part may have pushed further down.
        for (const [vertex, end] of [
          [input.from[piece], 1],
          [input.to[piece], route.length - 1]
        ]) {
          if (input.pin[vertex] === Pin.bottom && input.gate[vertex]) {
            route[end] = size.height;
            y[vertex] = size.height;
          }
        }
        routes[piece] = route;
      }
    });
  }
  return { x, y, routes, column, ...size };
}

/**
 * Results that no edge joins, such as a constant, each with the nearest one that has an edge: they stand in its row,
 * where the signature has them. Many would make a row too wide.
 */
function besideJoined({ pin, gate, from, to }: FlatInput): [number, number][] {
  const joined = new Set([...from, ...to]);
  const results = [...pin.keys()].filter(vertex => pin[vertex] === Pin.bottom && !gate[vertex]);
  const others = results.filter(vertex => joined.has(vertex));
  const alone = results.filter(vertex => !joined.has(vertex));
  if (others.length === 0 || alone.length > MOST_ALONE) {
    return [];
  }
  return alone.map(vertex => {
    const far = (other: number): number => Math.abs(other - vertex);
    return [vertex, others.reduce((best, other) => (far(other) < far(best) ? other : best))];
  });
}

/** What stood elsewhere by itself, on the other side of its neighbour, would draw the neighbour there: it is as new. */
function inOrder(before: Float64Array, beside: readonly (readonly [number, number])[]): Float64Array {
  const places = before.slice();
  for (const [alone, neighbour] of beside) {
    if (alone < neighbour === before[alone] > before[neighbour]) {
      places[alone] = NaN;
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

/** Places parts side by side; in several shelves where nothing ties them to a border or to each other and one would be too wide. */
function pack(parts: readonly PlacedPart[], shelves: boolean): { width: number; height: number } {
  let area = 0;
  let widest = 0;
  for (const part of parts) {
    area += (part.width + PART_GAP) * (part.height + PART_GAP);
    widest = Math.max(widest, part.width);
  }
  const limit = shelves ? Math.max(widest, Math.sqrt(area * 1.6)) : Infinity;
  let [atX, atY, shelf, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (atX > 0 && atX + part.width > limit) {
      atX = 0;
      atY += shelf + PART_GAP;
      shelf = 0;
    }
    part.atX = atX;
    part.atY = atY;
    atX += part.width + PART_GAP;
    shelf = Math.max(shelf, part.height);
    width = Math.max(width, atX - PART_GAP);
  }
  return { width, height: atY + shelf };
}
