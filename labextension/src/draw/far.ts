/**
 * What is seen from far out: boxes as rectangles filled family by family, edges as straight lines, no words. Here tens
 * of thousands may be in view, so nothing is made for each of them.
 */
import type { Layout } from '../layout/input.ts';
import { Shape } from '../view/visible.ts';
import type { CanvasPainter } from './canvasPainter.ts';
import { edgeLook, routeOf, type Scene } from './scene.ts';
import { looks as lookTable, type Look, type LookName, type Palette } from './theme.ts';
import { getOrMake } from '../maps';

/** Below this scale words cannot be read and curves look like lines. */
export const FAR_SCALE = 0.4;
/** No more edges than this are drawn: more would be one grey area and take too long. */
const MOST_EDGES = 8_000;
/** Width of an edge on the screen, in px. */
const EDGE_WIDTH = 0.7;
/** A box is drawn at least this large on the screen, in px, or it would be but a shade. */
const LEAST_BOX = 1;
/** Chips reach out of their box; a generous bound saves measuring each. */
const CHIP_ROOM = 320;

export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export function inView({ layout }: Scene, box: number, seen: Bounds): boolean {
  return (
    layout.x[box] + layout.width[box] + CHIP_ROOM > seen.left &&
    layout.x[box] - CHIP_ROOM < seen.right &&
    layout.y[box] + layout.height[box] > seen.top &&
    layout.y[box] < seen.bottom
  );
}

/** Whether any part of an edge may be in view; false for one that is not drawn. */
export function edgeInView(layout: Layout, edge: number, seen: Bounds): boolean {
  const reach = reachOf(layout);
  return (
    reach[4 * edge + 2] > seen.left &&
    reach[4 * edge] < seen.right &&
    reach[4 * edge + 3] > seen.top &&
    reach[4 * edge + 1] < seen.bottom
  );
}

export function drawFarEdges(painter: CanvasPainter, scene: Scene, scale: number, seen: Bounds): void {
  const { layout, visible } = scene;
  const edges = visible.source.length;
  const anyGhost = visible.ghost.includes(1);
  const step = Math.max(1, Math.ceil(edges / MOST_EDGES));
  for (const look of anyGhost ? (['edge', 'edge-ghost'] as const) : (['edge'] as const)) {
    painter.begin(look, EDGE_WIDTH / scale);
    for (let edge = 0; edge < edges; edge += step) {
      if (edgeInView(layout, edge, seen) && (!anyGhost || edgeLook(scene, edge) === look)) {
        painter.traceRough(routeOf(layout, edge), 1 / scale);
      }
    }
    painter.end();
  }
}

export function drawFarBoxes(
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  scale: number,
  drawn: (box: number) => boolean
): void {
  const { x, y, width, height } = scene.layout;
  const least = LEAST_BOX / scale;
  for (const [name, boxes] of byLook(scene)) {
    const { stroke }: Look = lookTable[name];
    context.fillStyle = stroke ? palette[stroke] : palette.plainLine;
    for (const box of boxes) {
      if (drawn(box)) {
        context.fillRect(x[box], y[box], Math.max(width[box], least), Math.max(height[box], least));
      }
    }
  }
}

const knownLooks = new WeakMap<readonly LookName[], Map<LookName, number[]>>();

function byLook({ visible, looks }: Scene): Map<LookName, number[]> {
  return getOrMake(knownLooks, looks, () => {
    const found = new Map<LookName, number[]>();
    for (let box = 0; box < visible.count; box++) {
      if (visible.shape[box] !== Shape.frame) {
        const boxes = found.get(looks[box]);
        if (boxes) {
          boxes.push(box);
        } else {
          found.set(looks[box], [box]);
        }
      }
    }
    return found;
  });
}

const knownReach = new WeakMap<Layout, Float64Array>();

/** For each edge the left, upper, right and lower end of what its route covers; nothing for one that is not drawn. */
function reachOf(layout: Layout): Float64Array {
  return getOrMake(knownReach, layout, () => {
    const edges = layout.routeStart.length - 1;
    const reach = new Float64Array(4 * edges);
    const { route, routeStart } = layout;
    for (let edge = 0; edge < edges; edge++) {
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      for (let i = routeStart[edge]; i < routeStart[edge + 1]; i++) {
        left = Math.min(left, route[2 * i]);
        right = Math.max(right, route[2 * i]);
        top = Math.min(top, route[2 * i + 1]);
        bottom = Math.max(bottom, route[2 * i + 1]);
      }
      reach[4 * edge] = left;
      reach[4 * edge + 1] = top;
      reach[4 * edge + 2] = right;
      reach[4 * edge + 3] = bottom;
    }
    return reach;
  });
}
