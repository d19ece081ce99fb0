/**
 * A scene on a Canvas 2D: only what is in view, and only as much of it as can be read. Far out, boxes are plain
 * rectangles filled family by family and edges are straight.
 */
import { Shape } from '../view/visible.ts';
import {
  boxLook,
  edgeLook,
  eachSegment,
  MARGIN,
  paintBox,
  paintCableLabels,
  paintCables,
  paintFrame,
  paintTitle,
  routeOf,
  type Painter,
  type Scene
} from './scene.ts';
import { paintMarks, type Mark } from './marks.ts';
import { faces } from './text.ts';
import { inks, looks, type Ink, type Look, type LookName, type Palette } from './theme.ts';

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
  /** Boxes that belong with the selection in another stage or in the source. */
  readonly linked: readonly number[];
  /** What a pass of the compiler did to boxes. */
  readonly marks: readonly Mark[];
  /** 1 for each box that steps back, so that the others are seen; null where none does. */
  readonly faded: Uint8Array | null;
  /** Opacity of the edges: below 1 while boxes are on their way to new places. */
  readonly edges: number;
  /** True for a box that comes in with the edges, because it was not there before. */
  arrives(box: number): boolean;
}

/** Opacity of what steps back: still there, no longer in the way. */
const FADED = 0.28;

/** Below this scale words cannot be read and are left out. */
const WORDS_SCALE = 0.3;
/** Below this scale curves look like lines. */
const CURVES_SCALE = 0.25;
/** Far out, no more edges than this are drawn: more would be one grey area and take too long. */
const MOST_FAR_EDGES = 12_000;

/** Draws the scene; `width` and `height` are CSS px, `ratio` is that of the screen. */
export function drawScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  camera: Camera,
  size: { readonly width: number; readonly height: number; readonly ratio: number },
  palette: Palette,
  highlight: Highlight
): void {
  const { visible, layout } = scene;
  const { scale } = camera;
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, size.width, size.height);
  context.setTransform(
    size.ratio * scale,
    0,
    0,
    size.ratio * scale,
    -camera.x * scale * size.ratio,
    -camera.y * scale * size.ratio
  );
  const seen = {
    left: camera.x,
    top: camera.y,
    right: camera.x + size.width / scale,
    bottom: camera.y + size.height / scale
  };
  const painter = new CanvasPainter(context, palette);
  const inView = (box: number): boolean =>
    layout.x[box] + layout.width[box] + CHIP_ROOM > seen.left &&
    layout.x[box] - CHIP_ROOM < seen.right &&
    layout.y[box] + layout.height[box] > seen.top &&
    layout.y[box] < seen.bottom;

  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame && inView(box)) {
      context.globalAlpha = highlight.arrives(box) ? highlight.edges : 1;
      paintFrame(painter, scene, box);
    }
  }
  const { faded } = highlight;
  context.globalAlpha = highlight.edges * (faded ? FADED : 1);
  drawEdges(context, painter, scene, scale, seen);
  if (scale >= WORDS_SCALE) {
    paintCables(painter, scene);
  }
  context.globalAlpha = 1;
  if (scale < WORDS_SCALE) {
    for (const back of faded ? [true, false] : [false]) {
      context.globalAlpha = back ? FADED : 1;
      drawFarBoxes(context, scene, palette, box => (faded?.[box] === 1) === back && inView(box));
    }
  } else {
    for (let box = 0; box < visible.count; box++) {
      if (inView(box)) {
        context.globalAlpha = opacityOf(highlight, box);
        (visible.shape[box] === Shape.frame ? paintTitle : paintBox)(painter, scene, box);
      }
    }
  }
  context.globalAlpha = faded ? FADED : 1;
  if (scale >= WORDS_SCALE && highlight.edges === 1) {
    paintCableLabels(painter, scene);
  }
  context.globalAlpha = 1;
  if (highlight.edges === 1) {
    paintMarks(painter, scene, highlight.marks, scale >= WORDS_SCALE);
  }
  for (const box of highlight.linked) {
    if (box !== highlight.selected) {
      outline(painter, scene, box, 'linked');
    }
  }
  drawSelection(painter, scene, highlight);
}

function opacityOf({ arrives, edges, faded }: Highlight, box: number): number {
  return (arrives(box) ? edges : 1) * (faded?.[box] ? FADED : 1);
}

/** Chips reach out of their box; a generous bound saves measuring each. */
const CHIP_ROOM = 320;

interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function drawEdges(
  context: CanvasRenderingContext2D,
  painter: CanvasPainter,
  scene: Scene,
  scale: number,
  seen: Bounds
): void {
  const { layout, visible } = scene;
  const edges = visible.source.length;
  const far = scale < CURVES_SCALE;
  const step = far ? Math.max(1, Math.floor(edges / MOST_FAR_EDGES)) : 1;
  const anyGhost = visible.ghost.includes(1);
  for (const look of anyGhost ? (['edge', 'edge-ghost'] as const) : (['edge'] as const)) {
    painter.begin(look, far ? 0.7 / scale : undefined);
    for (let edge = 0; edge < edges; edge += step) {
      if (!anyGhost || edgeLook(scene, edge) === look) {
        const points = routeOf(layout, edge);
        if (points.length >= 4 && mayBeSeen(points, seen)) {
          painter.trace(points, far);
        }
      }
    }
    context.stroke();
  }
}

/** A route runs downward from its first to its last point, except for the few of cycles. */
function mayBeSeen(points: Float64Array, seen: Bounds): boolean {
  const [first, last] = [points[1], points[points.length - 1]];
  if (Math.max(first, last) < seen.top || Math.min(first, last) > seen.bottom) {
    return false;
  }
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    low = Math.min(low, points[i]);
    high = Math.max(high, points[i]);
  }
  return high > seen.left && low < seen.right;
}

function drawFarBoxes(
  context: CanvasRenderingContext2D,
  { visible, layout }: Scene,
  palette: Palette,
  inView: (box: number) => boolean
): void {
  const byLook = new Map<LookName, number[]>();
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] !== Shape.frame && inView(box)) {
      const look = visible.ghost[box] ? 'ghost' : boxLook(visible.family[box]);
      const boxes = byLook.get(look);
      if (boxes) {
        boxes.push(box);
      } else {
        byLook.set(look, [box]);
      }
    }
  }
  for (const [look, boxes] of byLook) {
    const { stroke } = looks[look] as Look;
    context.fillStyle = stroke ? palette[stroke] : palette.plainLine;
    context.beginPath();
    for (const box of boxes) {
      context.rect(layout.x[box], layout.y[box], layout.width[box], layout.height[box]);
    }
    context.fill();
  }
}

function outline(painter: CanvasPainter, { visible, layout }: Scene, box: number, look: LookName): void {
  const frame = visible.shape[box] === Shape.frame;
  painter.rect(look, layout.x[box], layout.y[box], layout.width[box], layout.height[box], frame ? 8 : 5);
}

function drawSelection(painter: CanvasPainter, scene: Scene, { selected, edges }: Highlight): void {
  const { visible, layout } = scene;
  if (selected < 0) {
    return;
  }
  if (edges === 1) {
    for (let edge = 0; edge < visible.source.length; edge++) {
      if (visible.source[edge] === selected || visible.target[edge] === selected) {
        painter.route('strong', routeOf(layout, edge));
      }
    }
  }
  outline(painter, scene, selected, 'selected');
}

class CanvasPainter implements Painter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly palette: Palette
  ) {}

  rect(name: LookName, x: number, y: number, width: number, height: number, radius: number): void {
    const { context } = this;
    const look: Look = looks[name];
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    if (look.fill) {
      context.fillStyle = this.palette[look.fill];
      context.fill();
    }
    this.stroke(look);
  }

  text(ink: Ink, x: number, y: number, text: string): void {
    const { face, role } = inks[ink];
    const { size, weight, family } = faces[face];
    this.context.font = `${weight} ${size}px ${family}`;
    this.context.fillStyle = this.palette[role];
    this.context.fillText(text, x, y);
  }

  route(name: LookName, points: Float64Array): void {
    if (points.length >= 4) {
      this.begin(name);
      this.trace(points, false);
      this.context.stroke();
    }
  }

  cable(name: LookName, x1: number, y1: number, x2: number, y2: number): void {
    this.begin(name);
    const middle = (x1 + x2) / 2;
    this.context.moveTo(x1, y1);
    this.context.bezierCurveTo(middle, y1, middle, y2, x2, y2);
    this.context.stroke();
  }

  plus(name: LookName, x: number, y: number, arm: number): void {
    this.begin(name);
    this.context.moveTo(x - arm, y);
    this.context.lineTo(x + arm, y);
    this.context.moveTo(x, y - arm);
    this.context.lineTo(x, y + arm);
    this.context.stroke();
  }

  /** Begins a path that many routes are traced into. */
  begin(name: LookName, width?: number): void {
    const look: Look = looks[name];
    this.context.beginPath();
    this.context.strokeStyle = this.palette[look.stroke ?? 'edge'];
    this.context.lineWidth = width ?? look.width ?? 1;
    this.context.setLineDash(look.dash ? [...look.dash] : []);
  }

  trace(points: Float64Array, straight: boolean): void {
    const { context } = this;
    context.moveTo(points[0], points[1]);
    if (straight) {
      for (let i = 2; i < points.length; i += 2) {
        context.lineTo(points[i], points[i + 1]);
      }
      return;
    }
    eachSegment(
      points,
      (x, y) => context.lineTo(x, y),
      (middle, fromX, x, y) => context.bezierCurveTo(fromX, middle, x, middle, x, y)
    );
  }

  private stroke(look: Look): void {
    if (look.stroke) {
      this.context.strokeStyle = this.palette[look.stroke];
      this.context.lineWidth = look.width ?? 1;
      this.context.setLineDash(look.dash ? [...look.dash] : []);
      this.context.stroke();
    }
  }
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
