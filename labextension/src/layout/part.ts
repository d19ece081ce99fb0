/**
 * Lays out a part: vertices that edges join. It is ranked, made proper, ordered and placed; routes follow the lanes.
 */
import { arrange, arrangeAsBefore, type Ranked } from './arrange.ts';
import type { Extents } from './coordinates.ts';
import { BOX_GAP, LANE_GAP, ROW_GAP } from './distances.ts';
import { Pin, type Stood } from './input.ts';
import { placeEnds } from './ends.ts';
import { fold, FOLD_FROM } from './fold.ts';
import { makeNet } from './net.ts';
import { makeProper, type Proper } from './proper.ts';
import { keepColumns, type Kept, type Rowed } from './columns.ts';
import { keepRows } from './keeprows.ts';
import { eased } from './pulls.ts';
import { breakCycles, rankVertices, type Directed } from './rank.ts';
import { heldAt, passings, type Stayed } from './passing.ts';
import { keepGaps, rowGaps, rowTops, type Gaps } from './rows.ts';
import { grownToSides, inRowsThatGrow, makeRoom, type Growth } from './room.ts';
import { reversed, routeOf } from './routes.ts';
import { closeGaps, isWarm } from './warm.ts';

/** A region that opens, and the one that mirrors it. */
const FEW = 2;
/** Vertices of a row, on average, in a part that may be folded. */
const SLIM = 4;

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
  /** Centres in the picture before, NaN for what is new; absent if there was none. */
  readonly before?: Float64Array;
  /** With `before`, how else they stood there, and how far their borders have moved since. */
  readonly stood?: Stood;
  readonly growth?: Growth;
  /** With `before`, each vertex and all that stands in it, from its centre now. */
  readonly holds?: readonly (readonly Stayed[])[];
  /** How far the end of an edge may slide along the border of a box, from its port. */
  readonly slide: Float64Array;
  /** Where given, a part that is far too high is folded into columns. */
  readonly aspect?: number;
  /** The share of the work that is spent on a whole picture of this kind. */
  readonly effort: number;
}

/** Vertices and pieces that hang together, in program order. */
export interface Part {
  readonly vertices: number[];
  readonly pieces: number[];
}

export interface PlacedPart extends Part {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly routes: (Float64Array | null)[];
  readonly row: Int32Array;
  readonly column: Int32Array;
  /** Between each row and the next, in px. */
  readonly gaps: Float64Array;
  readonly width: number;
  readonly height: number;
}

/** `effort` is the part's share of the work that is spent on a whole picture. */
export function layoutPart(input: FlatInput, { vertices, pieces }: Part, effort: number): PlacedPart {
  const local = new Map(vertices.map((vertex, i) => [vertex, i]));
  const count = vertices.length;
  const from = Int32Array.from(pieces, piece => local.get(input.from[piece]) as number);
  const to = Int32Array.from(pieces, piece => local.get(input.to[piece]) as number);
  const pin = Uint8Array.from(vertices, vertex => input.pin[vertex]);
  const gateAt = (vertex: number, side: number): boolean => pin[vertex] === side && input.gate[vertices[vertex]] === 1;
  // What comes in from below or leaves at the top runs upward.
  const upward = from.map((vertex, i) => (gateAt(vertex, Pin.bottom) || gateAt(to[i], Pin.top) ? 1 : 0));
  const cycles = breakCycles(
    count,
    from.map((vertex, i) => (upward[i] ? to[i] : vertex)),
    to.map((vertex, i) => (upward[i] ? from[i] : vertex))
  );
  const turned = upward.map((yes, i) => yes | cycles[i]);
  const fromOffset = Float64Array.from(pieces, piece => input.fromOffset[piece]);
  const toOffset = Float64Array.from(pieces, piece => input.toOffset[piece]);
  turned.forEach((yes, i) => {
    if (yes) {
      [from[i], to[i]] = [to[i], from[i]];
      [fromOffset[i], toOffset[i]] = [toOffset[i], fromOffset[i]];
    }
  });

  const graph = { count, from, to, pin };
  const isArgument = (vertex: number): boolean => pin[vertex] === Pin.top && !input.gate[vertices[vertex]];
  const rankedBy = (ranks: Int32Array): Ranked => {
    const proper = makeProper(ranks, from, to, isArgument);
    const extents = extentsOf(input, vertices, proper, fromOffset, toOffset);
    return { proper, extents, pulls: eased(extents), net: makeNet(proper, extents.upperOffset, extents.lowerOffset) };
  };
  const rankBefore = rankAsBefore(graph, input, vertices);
  const first = rankedBy(rankBefore);
  // In columns, a place says nothing about what stands left of what.
  const { rankCount } = first.proper;
  const slim = first.proper.count < SLIM * rankCount && rankCount * ROW_GAP > FOLD_FROM;
  const mayFold = input.aspect !== undefined && slim;
  const kept = columnsBefore(input, { from, to, row: rankBefore }, vertices);
  const before = mayFold && !kept ? undefined : placesBefore(input, vertices, rankBefore, kept);
  const real = Uint8Array.from(vertices, vertex => (input.gate[vertex] ? 0 : 1));
  const gap = (a: number, b: number): number => (real[a] && real[b] ? BOX_GAP : LANE_GAP);
  // Groups side by side are wide as it is.
  const narrow = pin.includes(Pin.ordered);
  const fixed = fixedOrders(input, vertices, pin);
  const holds = vertices.map(vertex => input.holds?.[vertex] ?? []);
  const { rows, x, proper, extents } = before
    ? arrangeAsBefore(first, gap, fixed[fixed.length - 1], before, x => passings(heldAt(holds, x)))
    : arrange(first, gap, fixed, effort, narrow, input.stood ? undefined : () => rankedBy(rankVertices(graph, true)));
  const rank = proper.rank.subarray(0, count);
  const heights = new Array<number>(rows.length).fill(0);
  for (let v = 0; v < count; v++) {
    heights[rank[v]] = Math.max(heights[rank[v]], input.height[vertices[v]]);
  }
  const wanted = rowGaps(proper, x, extents, heights);
  const gaps = before && input.stood ? keepGaps(wanted, rank, gapsBefore(input.stood, vertices)) : wanted;
  const tops = rowTops(heights, gaps);
  const heightOf = (vertex: number): number => (vertex < count ? input.height[vertices[vertex]] : 0);
  const y = Float64Array.from({ length: count }, (_, v) =>
    Math.round(tops[rank[v]] + (heights[rank[v]] - heightOf(v)) / 2)
  );
  let low = Infinity;
  for (let vertex = 0; vertex < proper.count; vertex++) {
    low = Math.min(low, x[vertex] - extents.left[vertex]);
  }
  let width = 0;
  for (let vertex = 0; vertex < proper.count; vertex++) {
    x[vertex] = wholePixels(x[vertex] - extents.left[vertex] - low) + extents.left[vertex];
    width = Math.max(width, x[vertex] + extents.right[vertex]);
  }
  const slideOf = (vertex: number): number => input.slide[vertices[vertex]];
  const { start, end } = placeEnds(proper, x, from, to, fromOffset, toOffset, slideOf);
  const routes = pieces.map((_, i) => {
    if (proper.firstLane[i] < 0) {
      return null;
    }
    return routeOf(proper, i, from[i], to[i], x, y, heightOf, tops, heights, start[i], end[i]);
  });
  const bottoms = tops.map((top, row) => top + heights[row]);
  const flat = { x: x.subarray(0, count), y, routes, width, height: bottoms[bottoms.length - 1] ?? 0 };
  const { left, right } = extents;
  const tall = { ...flat, row: rank, left, right, tops, bottoms };
  const folded =
    input.aspect === undefined ? null : fold(tall, input.aspect, kept?.cuts, isNearlySame(input, vertices));
  const placed = folded ?? { ...flat, column: new Int32Array(count) };
  return {
    ...placed,
    row: rank,
    gaps,
    vertices,
    pieces,
    routes: placed.routes.map((route, i) => (route && turned[i] ? reversed(route) : route))
  };
}

/** Ranks, the former ones if enough of the vertices stood anywhere. */
function rankAsBefore(graph: Directed, { before, stood, gate }: FlatInput, vertices: readonly number[]): Int32Array {
  const fresh = rankVertices(graph);
  const boxes = vertices.filter(vertex => !gate[vertex]).length;
  if (
    !stood ||
    !before ||
    !isWarm(
      Float64Array.from(vertices, vertex => before[vertex]),
      boxes
    )
  ) {
    return fresh;
  }
  return keepRows(
    graph,
    fresh,
    Int32Array.from(vertices, vertex => stood.row[vertex])
  );
}

/** Where the vertices may stand, if enough of them stood anywhere: as they stood, with room for what has grown or without. */
function placesBefore(
  { before, gate, left, right, growth }: FlatInput,
  vertices: readonly number[],
  row: Int32Array,
  kept: Kept | null
): readonly Float64Array[] | undefined {
  const of = (column: Float64Array): Float64Array => Float64Array.from(vertices, vertex => column[vertex]);
  const boxes = vertices.filter(vertex => !gate[vertex]).length;
  if (!before || !isWarm(of(before), boxes)) {
    return undefined;
  }
  const places = kept?.before ?? of(before);
  if (!growth) {
    return [places];
  }
  const taken = { row, left: of(left), right: of(right) };
  const grown = { left: of(growth.left), right: of(growth.right) };
  const closed = closeGaps(places, taken, grown);
  const room = makeRoom(closed, taken, grown);
  // In columns, nobody sees at once what passes what.
  return kept?.cuts.length
    ? [room]
    : [room, closed, ...grownToSides(closed, grown), ...inRowsThatGrow(closed, room, row, grown)];
}

/** The space above and below the former rows of the vertices. */
function gapsBefore({ above, below }: Stood, vertices: readonly number[]): Gaps {
  const of = (column: Float64Array): Float64Array => Float64Array.from(vertices, vertex => column[vertex]);
  return { above: of(above), below: of(below) };
}

/** True if only a few vertices of a part are wider or narrower than they were, as when one region opens. */
function isNearlySame({ growth }: FlatInput, vertices: readonly number[]): boolean {
  const changed = growth && vertices.filter(vertex => growth.left[vertex] + growth.right[vertex] !== 0);
  return changed !== undefined && changed.length <= FEW;
}

/** How the part was folded, if enough of its vertices stood anywhere. */
function columnsBefore(
  { before, stood, gate, aspect }: FlatInput,
  part: Rowed,
  vertices: readonly number[]
): Kept | null {
  if (aspect === undefined || !before || !stood) {
    return null;
  }
  const places = Float64Array.from(vertices, vertex => before[vertex]);
  const boxes = vertices.filter(vertex => !gate[vertex]).length;
  return isWarm(places, boxes)
    ? keepColumns(
        part,
        places,
        Int32Array.from(vertices, vertex => stood.column[vertex])
      )
    : null;
}

/**
 * Lines on whole pixels are crisp. What stood upright still does: ends that differ by whole numbers round alike, and the
 * small shift keeps noise from parting two that lie halfway between.
 */
function wholePixels(x: number): number {
  return Math.round(x + 0.001);
}

/**
 * Arguments and results keep the order of the signature. Gates may keep that of what they lead to outside: it mostly
 * saves crossings there.
 */
function fixedOrders(input: FlatInput, vertices: readonly number[], pin: Uint8Array): Int32Array[] {
  const kept = (gates: boolean): Int32Array =>
    Int32Array.from(vertices, (vertex, i) =>
      pin[i] !== Pin.free && (gates || !input.gate[vertex]) ? input.order[vertex] : -1
    );
  return vertices.filter(vertex => input.gate[vertex]).length < 2 ? [kept(false)] : [kept(false), kept(true)];
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
