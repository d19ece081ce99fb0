/** What is counted in a picture, the same for every engine: crossings, length, bends, area, and what must not be. */
import type { BenchGraph } from './graphs.ts';

/** Boxes by their upper left corner; edges as points x, y, x, y, ... from source to target. */
export interface Picture {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly routes: readonly (ArrayLike<number> | null)[];
}

export interface Figures {
  readonly crossings: number;
  /** Mean length of an edge in px. */
  readonly length: number;
  /** Mean distance between the centres of two boxes that an edge joins, wherever it meets them. */
  readonly between: number;
  /** Bends of an edge, on average. */
  readonly bends: number;
  readonly width: number;
  readonly height: number;
  /** Edges that run through a box, boxes that overlap, edges that were not drawn. */
  readonly through: number;
  readonly overlaps: number;
  readonly missing: number;
}

/** A route bends where its points lie further than this from a straight line, in px. */
const STRAIGHT = 2;
/** An edge may touch the border of a box by this much, in px. */
const TOUCH = 1.5;

interface Segments {
  readonly x1: Float64Array;
  readonly y1: Float64Array;
  readonly x2: Float64Array;
  readonly y2: Float64Array;
  readonly edge: Int32Array;
  /** By upper end. */
  readonly order: Int32Array;
}

export function measure(graph: BenchGraph, picture: Picture): Figures {
  let [length, bends, missing] = [0, 0, 0];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const see = (x: number, y: number): void => {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  };
  for (const route of picture.routes) {
    if (!route || route.length < 4) {
      missing++;
      continue;
    }
    for (let k = 2; k < route.length; k += 2) {
      length += Math.hypot(route[k] - route[k - 2], route[k + 1] - route[k - 1]);
    }
    for (let k = 0; k < route.length; k += 2) {
      see(route[k], route[k + 1]);
    }
    bends += bendsOf(route, 0, route.length / 2 - 1);
  }
  for (let i = 0; i < graph.count; i++) {
    see(picture.x[i], picture.y[i]);
    see(picture.x[i] + graph.width[i], picture.y[i] + graph.height[i]);
  }
  let between = 0;
  graph.source.forEach((source, edge) => {
    const target = graph.target[edge];
    const across = (graph.width[target] - graph.width[source]) / 2 + picture.x[target] - picture.x[source];
    const down = (graph.height[target] - graph.height[source]) / 2 + picture.y[target] - picture.y[source];
    between += Math.hypot(across, down) / graph.source.length;
  });
  const segments = segmentsOf(picture);
  const drawn = Math.max(1, picture.routes.length - missing);
  return {
    crossings: countCrossings(segments),
    length: length / drawn,
    between,
    bends: bends / drawn,
    width: right - left,
    height: bottom - top,
    through: countThrough(graph, picture, segments),
    overlaps: countOverlaps(graph, picture),
    missing
  };
}

/** Inner points that are left between points `a` and `b` of a route when it is simplified. */
function bendsOf(route: ArrayLike<number>, a: number, b: number): number {
  const [ax, ay, bx, by] = [route[2 * a], route[2 * a + 1], route[2 * b], route[2 * b + 1]];
  const span = Math.hypot(bx - ax, by - ay) || 1;
  let furthest = -1;
  let most = STRAIGHT;
  for (let i = a + 1; i < b; i++) {
    const away = Math.abs((route[2 * i] - ax) * (by - ay) - (route[2 * i + 1] - ay) * (bx - ax)) / span;
    if (away > most) {
      most = away;
      furthest = i;
    }
  }
  return furthest < 0 ? 0 : 1 + bendsOf(route, a, furthest) + bendsOf(route, furthest, b);
}

function segmentsOf({ routes }: Picture): Segments {
  const ends: [number, number, number, number, number][] = [];
  routes.forEach((route, edge) => {
    for (let k = 2; route && k < route.length; k += 2) {
      const [x1, y1, x2, y2] = [route[k - 2], route[k - 1], route[k], route[k + 1]];
      if (x1 !== x2 || y1 !== y2) {
        ends.push(y1 <= y2 ? [x1, y1, x2, y2, edge] : [x2, y2, x1, y1, edge]);
      }
    }
  });
  const column = (i: number): Float64Array => Float64Array.from(ends, end => end[i]);
  return {
    x1: column(0),
    y1: column(1),
    x2: column(2),
    y2: column(3),
    edge: Int32Array.from(ends, end => end[4]),
    order: Int32Array.from(ends.keys()).sort((a, b) => ends[a][1] - ends[b][1])
  };
}

/** Pairs of segments of different edges that cross within both; touching ends and lines upon each other do not count. */
function countCrossings(segments: Segments): number {
  const { x1, y1, x2, y2, edge, order } = segments;
  const turn = (ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number => {
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    return Math.abs(area) < 1e-6 * (Math.abs(bx - ax) + Math.abs(by - ay) + 1) ? 0 : Math.sign(area);
  };
  let crossings = 0;
  let active: number[] = [];
  for (const s of order) {
    active = active.filter(t => y2[t] >= y1[s]);
    const [low, high] = [Math.min(x1[s], x2[s]), Math.max(x1[s], x2[s])];
    for (const t of active) {
      if (edge[s] === edge[t] || Math.max(x1[t], x2[t]) < low || Math.min(x1[t], x2[t]) > high) {
        continue;
      }
      const a = turn(x1[s], y1[s], x2[s], y2[s], x1[t], y1[t]) * turn(x1[s], y1[s], x2[s], y2[s], x2[t], y2[t]);
      const b = turn(x1[t], y1[t], x2[t], y2[t], x1[s], y1[s]) * turn(x1[t], y1[t], x2[t], y2[t], x2[s], y2[s]);
      crossings += a < 0 && b < 0 ? 1 : 0;
    }
    active.push(s);
  }
  return crossings;
}

/** Pairs of an edge and a box, not its own, that it runs through. */
function countThrough(graph: BenchGraph, { x, y }: Picture, segments: Segments): number {
  const boxes = Int32Array.from({ length: graph.count }, (_, i) => i).sort((a, b) => y[a] - y[b]);
  const found = new Set<number>();
  let active: number[] = [];
  let next = 0;
  for (const s of segments.order) {
    const [ax, ay, bx, by, edge] = [segments.x1[s], segments.y1[s], segments.x2[s], segments.y2[s], segments.edge[s]];
    while (next < boxes.length && y[boxes[next]] <= by) {
      active.push(boxes[next++]);
    }
    // Segments come by their upper ends, so a box above this one is above all that follow.
    active = active.filter(box => y[box] + graph.height[box] >= ay);
    for (const box of active) {
      const top = Math.max(ay, y[box] + TOUCH);
      const bottom = Math.min(by, y[box] + graph.height[box] - TOUCH);
      if (top > bottom || box === graph.source[edge] || box === graph.target[edge]) {
        continue;
      }
      const at = (py: number): number => (by === ay ? ax : ax + ((bx - ax) * (py - ay)) / (by - ay));
      const [p, q] = by === ay ? [ax, bx] : [at(top), at(bottom)];
      if (Math.max(p, q) > x[box] + TOUCH && Math.min(p, q) < x[box] + graph.width[box] - TOUCH) {
        found.add(edge * graph.count + box);
      }
    }
  }
  return found.size;
}

function countOverlaps(graph: BenchGraph, { x, y }: Picture): number {
  const boxes = Int32Array.from({ length: graph.count }, (_, i) => i).sort((a, b) => y[a] - y[b]);
  let overlaps = 0;
  let active: number[] = [];
  for (const box of boxes) {
    active = active.filter(other => y[other] + graph.height[other] > y[box] + TOUCH);
    for (const other of active) {
      const apart = x[other] + graph.width[other] <= x[box] + TOUCH || x[box] + graph.width[box] <= x[other] + TOUCH;
      overlaps += apart ? 0 : 1;
    }
    active.push(box);
  }
  return overlaps;
}
