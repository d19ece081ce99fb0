/**
 * A scene on a Canvas 2D: only what is in view, and only as much of it as can be read. What stands out is drawn on top of
 * the rest, so that the rest can be kept while the camera moves.
 */
import { Way } from '../view/relations.ts';
import { Shape } from '../view/visible.ts';
import { paintBadge } from './badge.ts';
import { paintCableLabels, paintCables, paintWholeCables, stubCables } from './cables.ts';
import { paintHulls, paintHullWords } from './hull.ts';
import { paintBundleLabels, paintBundles } from './bundles.ts';
import { paintCarries } from './carry.ts';
import { CanvasPainter } from './canvasPainter.ts';
import { drawFarBoxes, drawFarEdges, edgeInView, FAR_SCALE, inView, type Bounds } from './far.ts';
import { layersOf } from './over.ts';
import { edgeLook, haloLook, MARGIN, paintBox, paintFrame, paintTitle, routeOf, type Scene } from './scene.ts';
import { paintMarks, type Mark } from './marks.ts';
import { paintStubs, wayOf } from './stubs.ts';
import type { LookName, Palette } from './theme.ts';

/** Screen = (scene - place) * scale. Scene coordinates include negative margins. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** What stands out. */
export interface Highlight {
  /** Box that is selected, or -1. */
  readonly selected: number;
  /** Box under the pointer, or -1. */
  readonly hovered?: number;
  /** Boxes that belong with the selection in another stage or in the source. */
  readonly linked: readonly number[];
  /** What a pass of the compiler did to boxes. */
  readonly marks: readonly Mark[];
  /** One of `Fade` for each box; null where none steps back. */
  readonly faded: Uint8Array | null;
  /** One of `Way` for each edge; null where nothing is selected. */
  readonly ways: Uint8Array | null;
  /** Opacity of the edges: below 1 while boxes are on their way to new places. */
  readonly edges: number;
  /** True for a box that comes in with the edges, because it was not there before. */
  arrives(box: number): boolean;
}

/** How far a box steps back, so that others are seen: not at all, almost out of sight, or a little. */
export const Fade = { none: 0, far: 1, near: 2 } as const;

/** Opacity by `Fade`. */
const OPACITY = [1, 0.28, 0.5] as const;

/** CSS px, and how many pixels of the screen one has. */
export interface Size {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** Draws the scene with what stands out. */
export function drawScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  camera: Camera,
  size: Size,
  palette: Palette,
  highlight: Highlight
): void {
  drawGround(context, scene, camera, size, palette, highlight);
  drawMarks(context, scene, camera, size, palette, highlight);
}

/** Draws all but the selection and what is linked to it. */
export function drawGround(
  context: CanvasRenderingContext2D,
  scene: Scene,
  camera: Camera,
  size: Size,
  palette: Palette,
  highlight: Highlight
): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, Math.ceil(size.width * size.ratio), Math.ceil(size.height * size.ratio));
  aim(context, camera, size);
  const seen = seenFrom(camera, size);
  const { visible } = scene;
  const { edges, faded } = highlight;
  const painter = new CanvasPainter(context, palette);
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame && inView(scene, box, seen)) {
      context.globalAlpha = highlight.arrives(box) ? edges : 1;
      paintFrame(painter, scene, box);
    }
  }
  const deepest = faded?.includes(Fade.far) ? Fade.far : faded?.includes(Fade.near) ? Fade.near : Fade.none;
  context.globalAlpha = edges * OPACITY[deepest];
  paintHulls(painter, scene);
  if (camera.scale < FAR_SCALE) {
    drawFarEdges(painter, scene, camera.scale, seen);
    for (const fade of faded ? [Fade.far, Fade.near, Fade.none] : [Fade.none]) {
      context.globalAlpha = OPACITY[fade];
      drawFarBoxes(
        context,
        scene,
        palette,
        camera.scale,
        box => (faded?.[box] ?? Fade.none) === fade && inView(scene, box, seen)
      );
    }
    return;
  }
  drawEdges(painter, scene, seen, edges === 1);
  paintBundles(painter, scene);
  paintStubs(painter, scene, box => inView(scene, box, seen));
  // Cables tie the two phases together: they step back only where something else is asked for.
  const cables = deepest === Fade.far ? OPACITY[Fade.far] : 1;
  context.globalAlpha = edges * cables;
  paintCarries(painter, scene);
  paintCables(painter, scene);
  for (let box = 0; box < visible.count; box++) {
    if (inView(scene, box, seen)) {
      context.globalAlpha = opacityOf(highlight, box);
      (visible.shape[box] === Shape.frame ? paintTitle : paintBox)(painter, scene, box);
    }
  }
  for (let box = 0; box < visible.count; box++) {
    if (visible.times[box] > 1 && inView(scene, box, seen)) {
      context.globalAlpha = opacityOf(highlight, box);
      paintBadge(painter, scene, box);
    }
  }
  context.globalAlpha = cables;
  if (edges === 1) {
    paintHullWords(painter, scene);
    paintCableLabels(painter, scene);
    paintBundleLabels(painter, scene);
  }
  context.globalAlpha = 1;
}

function opacityOf({ arrives, edges, faded }: Highlight, box: number): number {
  return (arrives(box) ? edges : 1) * OPACITY[faded?.[box] ?? Fade.none];
}

/** Draws what stands out. */
export function drawMarks(
  context: CanvasRenderingContext2D,
  scene: Scene,
  camera: Camera,
  size: Size,
  palette: Palette,
  { selected, hovered = -1, linked, marks, faded, ways, edges }: Highlight
): void {
  aim(context, camera, size);
  const painter = new CanvasPainter(context, palette);
  if (edges === 1) {
    for (const box of new Set([selected, hovered])) {
      paintWholeCables(painter, scene, stubCables(scene, box));
    }
  }
  if (edges === 1) {
    paintMarks(painter, scene, marks, camera.scale >= FAR_SCALE);
  }
  for (const box of linked) {
    if (box !== selected) {
      outline(painter, scene, box, 'linked');
      if (camera.scale >= FAR_SCALE) {
        paintBadge(painter, scene, box);
      }
    }
  }
  if (selected < 0) {
    return;
  }
  const { visible } = scene;
  if (edges === 1) {
    ways?.forEach((way, edge) => {
      if (way !== Way.none) {
        const own = visible.source[edge] === selected || visible.target[edge] === selected;
        painter.route(way === Way.to ? 'way-to' : 'way-from', own ? wayOf(scene, edge) : routeOf(scene.layout, edge));
      }
    });
    if (ways && camera.scale >= FAR_SCALE) {
      paintTitlesOver(painter, scene, faded, seenFrom(camera, size));
    }
  }
  outline(painter, scene, selected, 'selected');
  if (camera.scale >= FAR_SCALE) {
    paintBadge(painter, scene, selected);
  }
}

/** The titles of frames, over what was lit: no way that is lit leads into a frame that steps back. */
function paintTitlesOver(painter: CanvasPainter, scene: Scene, faded: Uint8Array | null, seen: Bounds): void {
  const { count, shape } = scene.visible;
  for (let box = 0; box < count; box++) {
    if (shape[box] === Shape.frame && !faded?.[box] && inView(scene, box, seen)) {
      paintTitle(painter, scene, box);
    }
  }
}

/**
 * Sets the transform. Places are moved to whole pixels of the screen, and by half a pixel where a line of 1 px is an odd
 * number of them wide: then lines fill pixels instead of halves of two.
 */
function aim(context: CanvasRenderingContext2D, { x, y, scale }: Camera, { ratio }: Size): void {
  const unit = ratio * scale;
  const half = Math.round(unit) % 2 === 1 ? 0.5 : 0;
  context.setTransform(unit, 0, 0, unit, Math.round(-x * unit) + half, Math.round(-y * unit) + half);
}

function seenFrom({ x, y, scale }: Camera, { width, height }: Size): Bounds {
  return { left: x, top: y, right: x + width / scale, bottom: y + height / scale };
}

/** Edges from the lowest layer up; where they move, or where nothing crosses, there is one layer. */
function drawEdges(painter: CanvasPainter, scene: Scene, seen: Bounds, still: boolean): void {
  const { visible, layout } = scene;
  const { layer, halos } = still ? layersOf(scene) : { layer: null, halos: [[]] };
  const anyGhost = visible.ghost.includes(1);
  halos.forEach((segments, level) => {
    if (level > 0 && segments.length === 0) {
      return;
    }
    for (const { edge, point } of segments) {
      painter.route(haloLook(scene, edge), routeOf(layout, edge).subarray(2 * point - 2, 2 * point + 2));
    }
    for (const look of anyGhost ? (['edge', 'edge-ghost'] as const) : (['edge'] as const)) {
      painter.begin(look);
      for (let edge = 0; edge < visible.source.length; edge++) {
        if ((layer?.[edge] ?? 0) === level && (!anyGhost || edgeLook(scene, edge) === look)) {
          const points = routeOf(layout, edge);
          if (points.length >= 4 && edgeInView(layout, edge, seen)) {
            painter.trace(points);
          }
        }
      }
      painter.end();
    }
  });
}

function outline(painter: CanvasPainter, { visible, layout }: Scene, box: number, look: LookName): void {
  const frame = visible.shape[box] === Shape.frame;
  painter.rect(look, layout.x[box], layout.y[box], layout.width[box], layout.height[box], frame ? 8 : 5);
}

/** The box under a point of the scene: a plain box before a frame, an inner frame before an outer one; -1 for none. */
export function boxAt({ visible, layout }: Scene, x: number, y: number): number {
  for (let box = visible.count - 1; box >= 0; box--) {
    if (
      x >= layout.x[box] &&
      x <= layout.x[box] + layout.width[box] &&
      y >= layout.y[box] &&
      y <= layout.y[box] + layout.height[box]
    ) {
      return box;
    }
  }
  return -1;
}

/** The camera that shows the whole scene in the given space, never larger than life, in the middle. */
export function fitCamera(scene: Scene, width: number, height: number): Camera {
  const scale = Math.min(1, width / scene.width, height / scene.height) || 1;
  return {
    x: -MARGIN - (width / scale - scene.width) / 2,
    y: -MARGIN - Math.max(0, (height / scale - scene.height) / 2),
    scale
  };
}
