/**
 * Lays out the flat graph of one group: its parts one by one, then side by side.
 *
 * A part is what edges join. Each is ranked, made proper, ordered and placed; routes follow the lanes.
 */
import { placeVertices, type Extents } from './coordinates.ts';
import { BOX_GAP, GATE_GAP, LANE_GAP, PART_GAP, ROW_GAP, ROW_GAP_MOST, ROW_GAP_SIDEWAYS } from './distances.ts';
import { Pin } from './input.ts';
import { makeNet, type Net } from './net.ts';
import { orderRows, type Order } from './order.ts';
import { makeProper, type Proper } from './proper.ts';
import { breakCycles, rankVertices } from './rank.ts';
import { shortenSideways } from './shift.ts';
import { straighten } from './straighten.ts';

/** A flat graph with all sizes known. Gates have no size. */
export interface FlatInput {
  readonly pin: Uint8Array;
  /** Program order, also for gates. */
  readonly order: Int32Array;
  readonly gate: Uint8Array;
  readonly height: Float64Array;
  /** From the middle of the box to the ends of the room that it takes in its row. */
  readonly left: Float64Array;
  readonly right: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Where a piece leaves and meets its boxes, from their middle. */
  readonly fromOffset: Float64Array;
  readonly toOffset: Float64Array;
}

export interface FlatLayout {
  /** Middle of each vertex; upper edge of each vertex. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** For each piece its points x, y, x, y, ...; null for one that is not drawn. */
  readonly routes: (Float64Array | null)[];
  readonly width: number;
  readonly height: number;
}

export function layoutFlat(input: FlatInput): FlatLayout {
  const count = input.pin.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const routes: (Float64Array | null)[] = new Array(input.from.length).fill(null);
  const parts = findParts(count, input.from, input.to).map(part => layoutPart(input, part));
  const size = pack(parts, !input.gate.includes(1));
  for (const part of parts) {
    part.vertices.forEach((vertex, i) => {
      x[vertex] = part.x[i] + part.atX;
      y[vertex] = part.y[i] + part.atY;
    });
    part.pieces.forEach((piece, i) => {
      const route = part.routes[i];
      if (route) {
        for (let k = 0; k < route.length; k += 2) {
          route[k] += part.atX;
          route[k + 1] += part.atY;
        }
        if (input.pin[input.to[piece]] === Pin.bottom && input.gate[input.to[piece]]) {
          // The lower border of the group, which a neighbouring part may have pushed further down.
          route[route.length - 1] = size.height;
          y[input.to[piece]] = size.height;
        }
        routes[piece] = route;
      }
    });
  }
  return { x, y, routes, ...size };
}

/** Vertices and pieces that hang together, in program order. */
interface Part {
  readonly vertices: number[];
  readonly pieces: number[];
}

function findParts(count: number, from: Int32Array, to: Int32Array): Part[] {
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

interface PlacedPart extends Part {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly routes: (Float64Array | null)[];
  readonly width: number;
  readonly height: number;
  atX: number;
  atY: number;
}

function layoutPart(input: FlatInput, { vertices, pieces }: Part): PlacedPart {
  const local = new Map(vertices.map((vertex, i) => [vertex, i]));
  const count = vertices.length;
  const from = Int32Array.from(pieces, piece => local.get(input.from[piece]) as number);
  const to = Int32Array.from(pieces, piece => local.get(input.to[piece]) as number);
  const pin = Uint8Array.from(vertices, vertex => input.pin[vertex]);
  const turned = breakCycles(count, from, to);
  const fromOffset = Float64Array.from(pieces, piece => input.fromOffset[piece]);
  const toOffset = Float64Array.from(pieces, piece => input.toOffset[piece]);
  turned.forEach((yes, i) => {
    if (yes) {
      [from[i], to[i]] = [to[i], from[i]];
      [fromOffset[i], toOffset[i]] = [toOffset[i], fromOffset[i]];
    }
  });

  const rank = rankVertices({ count, from, to, pin });
  const proper = makeProper(rank, from, to);
  const extents = extentsOf(input, vertices, proper, fromOffset, toOffset);
  const net = makeNet(proper, extents.upperOffset, extents.lowerOffset);
  const order = bestOrder(input, vertices, pin, net);
  const real = (vertex: number): boolean => vertex < count && !input.gate[vertices[vertex]];
  const gap = (a: number, b: number): number => (real(a) && real(b) ? BOX_GAP : LANE_GAP);
  const { rows, place } = order;
  const x = placeVertices(proper, net, order, order.held, extents, gap);
  shortenSideways(proper, rows, extents, gap, x);
  straighten(proper, rows, place, extents, gap, x);

  const heights = rows.map(row =>
    row.reduce((most, v) => (v < count ? Math.max(most, input.height[vertices[v]]) : most), 0)
  );
  const tops = rowTops(proper, x, extents, heights);
  const heightOf = (vertex: number): number => (vertex < count ? input.height[vertices[vertex]] : 0);
  const y = Float64Array.from({ length: count }, (_, v) => tops[rank[v]] + (heights[rank[v]] - heightOf(v)) / 2);
  let low = Infinity;
  let high = -Infinity;
  for (let vertex = 0; vertex < proper.count; vertex++) {
    low = Math.min(low, x[vertex] - extents.left[vertex]);
    high = Math.max(high, x[vertex] + extents.right[vertex]);
  }
  for (let vertex = 0; vertex < proper.count; vertex++) {
    x[vertex] -= low;
  }
  const routes = pieces.map((_, i) => {
    if (proper.firstLane[i] < 0) {
      return null;
    }
    const route = routeOf(proper, i, from[i], to[i], x, y, heightOf, tops, heights, fromOffset[i], toOffset[i]);
    return turned[i] ? reversed(route) : route;
  });
  const last = rows.length - 1;
  return {
    vertices,
    pieces,
    x: x.subarray(0, count),
    y,
    routes,
    width: high - low,
    height: last < 0 ? 0 : tops[last] + heights[last],
    atX: 0,
    atY: 0
  };
}

/**
 * Arguments and results keep the order of the signature. Gates keep that of what they lead to outside where this costs
 * no crossing inside: it mostly saves one outside.
 */
function bestOrder(input: FlatInput, vertices: readonly number[], pin: Uint8Array, net: Net): Order {
  const kept = (gates: boolean): Int32Array =>
    Int32Array.from(vertices, (vertex, i) =>
      pin[i] !== Pin.free && (gates || !input.gate[vertex]) ? input.order[vertex] : -1
    );
  const free = orderRows(net, kept(false));
  if (vertices.filter(vertex => input.gate[vertex]).length < 2) {
    return free;
  }
  const ordered = orderRows(net, kept(true));
  return ordered.crossings <= free.crossings ? ordered : free;
}

function extentsOf(
  input: FlatInput,
  vertices: readonly number[],
  proper: Proper,
  fromOffset: Float64Array,
  toOffset: Float64Array
): Extents {
  const left = new Float64Array(proper.count);
  const right = new Float64Array(proper.count);
  vertices.forEach((vertex, i) => {
    left[i] = input.left[vertex];
    right[i] = input.right[vertex];
  });
  const upperOffset = new Float64Array(proper.upper.length);
  const lowerOffset = new Float64Array(proper.upper.length);
  // The links of an edge stand one after the other, from its upper vertex down.
  let link = 0;
  proper.firstLane.forEach((lane, edge) => {
    if (lane >= 0) {
      upperOffset[link] = fromOffset[edge];
      link += proper.laneCount[edge] + 1;
      lowerOffset[link - 1] = toOffset[edge];
    }
  });
  return { left, right, upperOffset, lowerOffset };
}

/** Upper edges of the rows. A gap grows with how far its links run sideways. */
function rowTops(proper: Proper, x: Float64Array, extents: Extents, heights: readonly number[]): Float64Array {
  const { upper, lower, rank } = proper;
  const sideways = new Float64Array(heights.length);
  upper.forEach((vertex, link) => {
    const way = Math.abs(x[vertex] + extents.upperOffset[link] - x[lower[link]] - extents.lowerOffset[link]);
    sideways[rank[vertex]] = Math.max(sideways[rank[vertex]], way);
  });
  const tops = new Float64Array(heights.length);
  for (let row = 1; row < heights.length; row++) {
    // Rows of gates have no height.
    const least = heights[row - 1] === 0 || heights[row] === 0 ? GATE_GAP : ROW_GAP;
    const gap = Math.min(ROW_GAP_MOST, least + ROW_GAP_SIDEWAYS * sideways[row - 1]);
    tops[row] = tops[row - 1] + heights[row - 1] + gap;
  }
  return tops;
}

/** Points of an edge: out of its box to the edge of the row, through each row straight down, into its box. */
function routeOf(
  proper: Proper,
  edge: number,
  from: number,
  to: number,
  x: Float64Array,
  y: Float64Array,
  heightOf: (vertex: number) => number,
  tops: Float64Array,
  heights: readonly number[],
  fromOffset: number,
  toOffset: number
): Float64Array {
  const points: number[] = [];
  const point = (px: number, py: number): void => {
    const n = points.length;
    if (n < 2 || points[n - 2] !== px || points[n - 1] !== py) {
      points.push(px, py);
    }
  };
  const { rank, firstLane, laneCount } = proper;
  const [start, end] = [x[from] + fromOffset, x[to] + toOffset];
  point(start, y[from] + heightOf(from));
  point(start, tops[rank[from]] + heights[rank[from]]);
  for (let lane = firstLane[edge]; lane < firstLane[edge] + laneCount[edge]; lane++) {
    const row = rank[lane];
    point(x[lane], tops[row]);
    point(x[lane], tops[row] + heights[row]);
  }
  point(end, tops[rank[to]]);
  point(end, y[to]);
  return Float64Array.from(points);
}

function reversed(route: Float64Array): Float64Array {
  const result = new Float64Array(route.length);
  for (let i = 0; i < route.length; i += 2) {
    result[i] = route[route.length - 2 - i];
    result[i + 1] = route[route.length - 1 - i];
  }
  return result;
}

/** Places parts side by side; in several shelves where nothing ties them to a border and one would be too wide. */
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
