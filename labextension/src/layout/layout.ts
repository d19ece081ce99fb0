/**
 * Lays out a graph with nested groups, the innermost groups first: a group that is done is one wide box in the group
 * around it, with ports where its gates are. Then all is composed into one picture.
 */
import { GROUP_PADDING, GROUP_TITLE, MOST_SLIDE, PORT_INSET, PORT_PITCH, RESULT_SLIDE } from './distances.ts';
import { layoutFlat, type FlatLayout } from './flat.ts';
import { cutIntoGroups, type Cut, type Flat } from './groups.ts';
import { Pin, type Layout, type LayoutInput } from './input.ts';
import { level } from './level.ts';
import type { LayoutMemory } from './memory.ts';
import type { FlatInput } from './part.ts';
import type { Growth } from './room.ts';
import type { Stayed } from './passing.ts';
import { placeOfInside, type Range } from './stays.ts';

/** With `memory`, groups that look as they did in an earlier picture are as they were there. */
export function layout(input: LayoutInput, memory?: LayoutMemory): Layout {
  memory?.next();
  const cut = cutIntoGroups(input);
  const width = input.width.slice();
  const height = input.height.slice();
  const layouts = new Map<number, FlatLayout>();
  const known = input.before;
  const before = known?.slice();
  const vertices = cut.flats.reduce((sum, flat) => sum + flat.vertices.length, 0);
  const flatOf = new Map(cut.flats.map(flat => [flat.group, flat]));
  const give = (flat: Flat, done: FlatLayout): void => {
    layouts.set(flat.group, done);
    if (flat.group >= 0) {
      width[flat.group] = Math.max(input.width[flat.group], 2 * Math.ceil(done.width / 2 + GROUP_PADDING));
      height[flat.group] = flat.vertices.length
        ? GROUP_TITLE + done.height + GROUP_PADDING
        : Math.max(input.height[flat.group], GROUP_TITLE);
      if (before && known) {
        before[flat.group] = whereInsideStays({ flatOf, layouts, width }, flat.group, before, known, input);
      }
    }
  };
  const depth = depths(input.parent);
  for (const flat of deepestFirst(cut.flats, depth)) {
    const all = flatInput(input, flat, { flatOf, layouts, width }, height, before);
    const make = (): FlatLayout => layoutFlat(all, (all.effort * flat.vertices.length) / vertices);
    give(flat, memory ? memory.recall(all, make) : make());
    const other = flatOf.get(input.level?.[flat.group] ?? -1);
    // What stands around a deeper one is placed already: that one cannot grow any more.
    if (other && other.group >= 0 && layouts.has(other.group) && depth[other.group] === depth[flat.group]) {
      const sides = [flat, other].map(({ group, vertices: members }) => ({
        layout: layouts.get(group) as FlatLayout,
        height: Float64Array.from(members, ({ box }) => (box < 0 ? 0 : height[box]))
      }));
      // In columns, what stands at one height has little to do with each other: to part it would leave large gaps.
      const folded = sides.some(side => side.layout.column.some(column => column > 0));
      const both = level(sides[0], sides[1], folded ? [] : pairsOf(flat, other, input.level as Int32Array));
      give(flat, both[0]);
      give(other, both[1]);
    }
  }
  return compose(input, cut, layouts, width, height);
}

/** How many groups each box stands in, and one more. */
function depths(parent: Int32Array): Int32Array {
  const depth = new Int32Array(parent.length);
  parent.forEach((around, box) => {
    depth[box] = around < 0 ? 1 : depth[around] + 1;
  });
  return depth;
}

/** What stands equally deep is laid out before anything around it: two groups can be compared then. */
function deepestFirst(flats: readonly Flat[], depth: Int32Array): readonly Flat[] {
  const depthOf = ({ group }: Flat): number => (group < 0 ? 0 : depth[group]);
  return [...flats].sort((a, b) => depthOf(b) - depthOf(a));
}

/** Members of two groups that should stand at one height, as vertices. */
function pairsOf(one: Flat, other: Flat, levelOf: Int32Array): [number, number][] {
  const vertexOf = new Map(other.vertices.map(({ box }, vertex) => [box, vertex]));
  return one.vertices.flatMap(({ box }, vertex): [number, number][] => {
    const partner = box < 0 || levelOf[box] < 0 ? undefined : vertexOf.get(levelOf[box]);
    return partner === undefined ? [] : [[vertex, partner]];
  });
}

/** The inside of a group stands below its title, in the middle of its width. */
function insideX(width: number, inside: FlatLayout): number {
  return Math.floor((width - inside.width) / 2);
}

/** Groups that are laid out, by number, with the widths that they have now. */
interface Done {
  readonly flatOf: ReadonlyMap<number, Flat>;
  readonly layouts: ReadonlyMap<number, FlatLayout>;
  readonly width: Float64Array;
}

/** The boxes of a group, at all depths, with their centres from the left border of what is in the group. */
function boxesInside({ flatOf, layouts, width }: Done, group: number, left = 0): [number, number][] {
  const inside = layouts.get(group) as FlatLayout;
  return (flatOf.get(group) as Flat).vertices.flatMap(({ box }, vertex): [number, number][] => {
    const x = left + inside.x[vertex];
    const deeper = layouts.get(box);
    const around: [number, number][] = box < 0 ? [] : [[box, x]];
    return box < 0 || !deeper
      ? around
      : around.concat(boxesInside({ flatOf, layouts, width }, box, x - width[box] / 2 + insideX(width[box], deeper)));
  });
}

/** A box and all that stands in it, from its centre; nothing for a gate. */
function heldBy(done: Done, box: number, before: Float64Array): Stayed[] {
  if (box < 0) {
    return [];
  }
  const inside = done.layouts.get(box);
  const left = inside ? insideX(done.width[box], inside) - done.width[box] / 2 : 0;
  const deeper = inside ? boxesInside(done, box, left) : [];
  return [[box, 0], ...deeper].map(([one, now]) => ({ was: before[one], now }));
}

/** The centre of a group where it is least in the way of the order from left to right; its own one if all in it is new. */
function whereInsideStays(
  done: Done,
  group: number,
  wanted: Float64Array,
  before: Float64Array,
  { stood }: LayoutInput
): number {
  const { x, width } = done.layouts.get(group) as FlatLayout;
  const { vertices } = done.flatOf.get(group) as Flat;
  const members = vertices.map(({ box }, vertex) => ({ was: box < 0 ? NaN : wanted[box], now: x[vertex] }));
  const inside = (): Stayed[] => boxesInside(done, group).map(([box, now]) => ({ was: before[box], now }));
  // It covers what it covered before: it moves no further than it grows.
  const grown = stood && Math.abs(done.width[group] - stood.width[group]) / 2;
  const begin = before[group] - width / 2;
  const range: Range | undefined =
    grown === undefined || Number.isNaN(grown) ? undefined : [begin - grown, begin + grown];
  const place = placeOfInside(members, inside, before, range);
  return Number.isNaN(place) ? wanted[group] : place + width / 2;
}

function flatInput(
  input: LayoutInput,
  flat: Flat,
  done: Done,
  height: Float64Array,
  before: Float64Array | undefined
): FlatInput {
  const { layouts, width } = done;
  const { vertices, pieces } = flat;
  const { stood } = input;
  const known = (column: Int32Array): Int32Array => Int32Array.from(boxes, box => (box < 0 ? -1 : column[box]));
  const pixels = (column: Float64Array): Float64Array => Float64Array.from(boxes, box => (box < 0 ? NaN : column[box]));
  const boxes = Int32Array.from(vertices, vertex => vertex.box);
  const half = (box: number): number => (box < 0 ? 0 : width[box] / 2);
  const outs = portCounts(vertices.length, pieces, 'from', 'fromPort');
  const ins = portCounts(vertices.length, pieces, 'to', 'toPort');
  const offset = (vertex: number, port: number, count: number): number => {
    const box = boxes[vertex];
    if (box < 0) {
      return 0;
    }
    if (port >= 0) {
      return portOffset(width[box], port, count);
    }
    const inside = layouts.get(box) as FlatLayout;
    return insideX(width[box], inside) + inside.x[-1 - port] - width[box] / 2;
  };
  return {
    pin: Uint8Array.from(vertices, vertex => vertex.pin),
    order: Int32Array.from(vertices, vertex => vertex.order),
    gate: Uint8Array.from(vertices, vertex => (vertex.gate ? 1 : 0)),
    height: Float64Array.from(boxes, box => (box < 0 ? 0 : height[box])),
    left: Float64Array.from(boxes, box => (box < 0 ? 0 : half(box) + input.left[box])),
    right: Float64Array.from(boxes, box => (box < 0 ? 0 : half(box) + input.right[box])),
    from: Int32Array.from(pieces, piece => piece.from),
    to: Int32Array.from(pieces, piece => piece.to),
    fromOffset: Float64Array.from(pieces, piece => offset(piece.from, piece.fromPort, outs[piece.from])),
    before: before && Float64Array.from(boxes, box => (box < 0 ? NaN : before[box])),
    stood: stood && {
      width: pixels(stood.width),
      above: pixels(stood.above),
      below: pixels(stood.below),
      row: known(stood.row),
      column: known(stood.column),
      shelf: known(stood.shelf)
    },
    growth: before && growthOf(input, boxes, width, before),
    holds: input.before && Array.from(boxes, box => heldBy(done, box, input.before as Float64Array)),
    toOffset: Float64Array.from(pieces, piece => offset(piece.to, piece.toPort, ins[piece.to])),
    slide: Float64Array.from(boxes, box => (box < 0 || input.group[box] ? 0 : mostSlide(width[box], input.pin[box]))),
    aspect: input.aspect,
    effort: input.effort ?? 1
  };
}

/** How far from the middle of a box an end may slide. A result is only words: an edge ends above them. */
function mostSlide(width: number, pin: number): number {
  const most = pin === Pin.bottom ? RESULT_SLIDE : MOST_SLIDE;
  return Math.min(most, Math.max(0, Math.floor(width / 2 - PORT_INSET)));
}

/** How far the borders of boxes have moved outward, where they are known; `now` has the centres that they want. */
function growthOf(
  { before, stood }: LayoutInput,
  boxes: Int32Array,
  width: Float64Array,
  now: Float64Array
): Growth | undefined {
  if (!before || !stood) {
    return undefined;
  }
  const to = (side: number): Float64Array =>
    Float64Array.from(boxes, box => {
      const moved = side * (now[box] - before[box]) + (width[box] - stood.width[box]) / 2;
      return Number.isNaN(moved) ? 0 : moved;
    });
  return { left: to(-1), right: to(1) };
}

function portCounts(
  count: number,
  pieces: Flat['pieces'],
  end: 'from' | 'to',
  port: 'fromPort' | 'toPort'
): Int32Array {
  const counts = new Int32Array(count);
  for (const piece of pieces) {
    counts[piece[end]] = Math.max(counts[piece[end]], piece[port] + 1);
  }
  return counts;
}

/** Where port `port` of `count` stands, from the middle of a box: spread about the middle, never past the corners. */
function portOffset(width: number, port: number, count: number): number {
  const pitch = Math.min(PORT_PITCH, Math.max(0, width - 2 * PORT_INSET) / Math.max(1, count - 1));
  return Math.round((port - (count - 1) / 2) * pitch);
}

function compose(
  input: LayoutInput,
  cut: Cut,
  layouts: ReadonlyMap<number, FlatLayout>,
  width: Float64Array,
  height: Float64Array
): Layout {
  const count = input.parent.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const row = new Int32Array(count);
  const column = new Int32Array(count);
  const shelf = new Int32Array(count);
  const above = new Float64Array(count);
  const below = new Float64Array(count);
  const originX = new Map<number, number>([[-1, 0]]);
  const originY = new Map<number, number>([[-1, 0]]);
  // Outermost first: a group is placed before what stands in it.
  for (let i = cut.flats.length - 1; i >= 0; i--) {
    const { group, vertices } = cut.flats[i];
    const inside = layouts.get(group) as FlatLayout;
    if (group >= 0) {
      originX.set(group, x[group] + insideX(width[group], inside));
      originY.set(group, y[group] + GROUP_TITLE);
    }
    const [left, top] = [originX.get(group) as number, originY.get(group) as number];
    vertices.forEach(({ box }, vertex) => {
      if (box >= 0) {
        x[box] = left + inside.x[vertex] - width[box] / 2;
        y[box] = top + inside.y[vertex];
        row[box] = inside.row[vertex];
        column[box] = inside.column[vertex];
        shelf[box] = inside.shelf[vertex];
        above[box] = inside.above[vertex];
        below[box] = inside.below[vertex];
      }
    });
  }
  const { routeStart, route, missing } = composeRoutes(input, cut, layouts, originX, originY);
  const all = layouts.get(-1) as FlatLayout;
  return {
    x,
    y,
    row,
    column,
    shelf,
    above,
    below,
    width,
    height,
    routeStart,
    route,
    totalWidth: all.width,
    totalHeight: all.height,
    simplified: missing ? [`of the ${missing} longest edges only the ends are drawn`] : []
  };
}

function composeRoutes(
  { source, target }: LayoutInput,
  cut: Cut,
  layouts: ReadonlyMap<number, FlatLayout>,
  originX: ReadonlyMap<number, number>,
  originY: ReadonlyMap<number, number>
): { routeStart: Int32Array; route: Float64Array; missing: number } {
  const routeStart = new Int32Array(cut.ways.length + 1);
  const points: number[] = [];
  let missing = 0;
  cut.ways.forEach((way, edge) => {
    const own: number[] = [];
    let whole = way.length > 0;
    for (const { flat, piece } of way) {
      const { group } = cut.flats[flat];
      const inside = layouts.get(group) as FlatLayout;
      const route = inside.routes[piece];
      if (!route) {
        whole = false;
        break;
      }
      const [left, top] = [originX.get(group) as number, originY.get(group) as number];
      // From the border of the group, where the edge begins there.
      if (group === source[edge]) {
        append(own, route[0] + left, top - GROUP_TITLE);
      }
      for (let k = 0; k < route.length; k += 2) {
        append(own, route[k] + left, route[k + 1] + top);
      }
      if (group === target[edge]) {
        append(own, own[own.length - 2], top + inside.height + GROUP_PADDING);
      }
    }
    if (whole) {
      for (const value of own) {
        points.push(value);
      }
    } else {
      missing += way.length ? 1 : 0;
    }
    routeStart[edge + 1] = points.length / 2;
  });
  return { routeStart, route: Float64Array.from(points), missing };
}

/** Adds a point, unless it repeats the last one; a point in the middle of a vertical line is dropped. */
function append(points: number[], x: number, y: number): void {
  const n = points.length;
  if (n >= 2 && Math.abs(points[n - 2] - x) < 0.01 && Math.abs(points[n - 1] - y) < 0.01) {
    return;
  }
  if (n >= 4 && Math.abs(points[n - 2] - x) < 0.01 && Math.abs(points[n - 4] - x) < 0.01) {
    points[n - 1] = y;
    return;
  }
  points.push(x, y);
}
