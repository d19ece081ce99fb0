/**
 * Which edge passes over which. Where two edges cross, one of them has a halo, so that the eye follows each across the
 * other. Edges of one value never part from each other by one: they stand in the same layer.
 */
import type { Layout } from '../layout/input.ts';
import { routeOf, type Scene } from './scene.ts';
import { getOrMake } from '../maps';

/** Layers of edges; where more would be needed, a few crossings have no halo. */
const LAYERS = 3;
/** In larger pictures, and past this work, nothing is looked for: halos would not be seen. */
const MOST_SEGMENTS = 20_000;
const MOST_PAIRS = 2_000_000;
const MOST_CROSSINGS = 50_000;

export interface Over {
  /** For each edge its layer; a higher one is painted later. */
  readonly layer: Uint8Array;
  /** Layer by layer, the segments that have a halo: an edge and the ordinal of the point at which the segment ends. */
  readonly halos: readonly (readonly Segment[])[];
}

interface Segment {
  readonly edge: number;
  readonly point: number;
}

const known = new WeakMap<Layout, Over>();

export function layersOf(scene: Scene): Over {
  return getOrMake(known, scene.layout, () => makeLayers(scene));
}

function makeLayers({ visible, layout }: Scene): Over {
  const edges = visible.source.length;
  // An edge that a layout adds to those of the view is not drawn.
  const values = Int32Array.from(
    { length: edges },
    (_, edge) => 1024 * visible.source[edge] + visible.sourcePort[edge]
  );
  const crossings = findCrossings(layout, values);
  const crossed = new Map<number, Set<number>>();
  const meet = (one: number, other: number): void => {
    const known = crossed.get(one);
    if (known) {
      known.add(other);
    } else {
      crossed.set(one, new Set([other]));
    }
  };
  for (const [a, b] of crossings) {
    meet(values[a.edge], values[b.edge]);
    meet(values[b.edge], values[a.edge]);
  }
  const layerOf = new Map<number, number>();
  for (const value of values) {
    if (!layerOf.has(value)) {
      const taken = new Set([...(crossed.get(value) ?? [])].map(other => layerOf.get(other)));
      let layer = 0;
      while (layer < LAYERS - 1 && taken.has(layer)) {
        layer++;
      }
      layerOf.set(value, layer);
    }
  }
  const layer = Uint8Array.from(values, value => layerOf.get(value) ?? 0);
  return { layer, halos: halosOf(crossings, layer) };
}

function halosOf(crossings: readonly (readonly [Segment, Segment])[], layer: Uint8Array): Segment[][] {
  const halos: Segment[][] = Array.from({ length: LAYERS }, () => []);
  const seen = new Set<number>();
  for (const [a, b] of crossings) {
    const upper = layer[a.edge] > layer[b.edge] ? a : b;
    const key = 65_536 * upper.edge + upper.point;
    if (layer[a.edge] !== layer[b.edge] && !seen.has(key)) {
      seen.add(key);
      halos[layer[upper.edge]].push(upper);
    }
  }
  return halos;
}

/** Pairs of segments that cross. A curve between two rows crosses another where the straight lines between its ends do. */
function findCrossings(layout: Layout, values: Int32Array): [Segment, Segment][] {
  const segments = segmentsOf(layout, values.length);
  const found: [Segment, Segment][] = [];
  if (segments.length > MOST_SEGMENTS) {
    return found;
  }
  segments.sort((a, b) => a.top - b.top || a.edge - b.edge || a.point - b.point);
  let active: Line[] = [];
  let pairs = 0;
  for (const one of segments) {
    active = active.filter(other => other.bottom > one.top);
    pairs += active.length;
    if (pairs > MOST_PAIRS || found.length > MOST_CROSSINGS) {
      break;
    }
    for (const other of active) {
      const near = one.left < other.right && one.right > other.left;
      if (near && values[one.edge] !== values[other.edge] && cross(one, other)) {
        found.push([one, other]);
      }
    }
    active.push(one);
  }
  return found;
}

interface Line extends Segment {
  readonly top: number;
  readonly bottom: number;
  /** Where it is at its top and at its bottom. */
  readonly x1: number;
  readonly x2: number;
  readonly left: number;
  readonly right: number;
}

function segmentsOf(layout: Layout, edges: number): Line[] {
  const lines: Line[] = [];
  for (let edge = 0; edge < edges; edge++) {
    const points = routeOf(layout, edge);
    for (let i = 2; i < points.length; i += 2) {
      const [x1, y1, x2, y2] = points.subarray(i - 2, i + 2);
      if (y1 !== y2) {
        const down = y1 < y2;
        lines.push({
          edge,
          point: i / 2,
          top: Math.min(y1, y2),
          bottom: Math.max(y1, y2),
          x1: down ? x1 : x2,
          x2: down ? x2 : x1,
          left: Math.min(x1, x2),
          right: Math.max(x1, x2)
        });
      }
    }
  }
  return lines;
}

/** True if two lines change sides within the height that they share. */
function cross(a: Line, b: Line): boolean {
  const top = Math.max(a.top, b.top);
  const bottom = Math.min(a.bottom, b.bottom);
  return (across(a, top) - across(b, top)) * (across(a, bottom) - across(b, bottom)) < -1e-6;
}

/** Where a line is at a height. */
function across(line: Line, y: number): number {
  return line.x1 + ((line.x2 - line.x1) * (y - line.top)) / (line.bottom - line.top);
}
