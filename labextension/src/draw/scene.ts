/**
 * The scene: what is visible, where it stands, and how each thing is painted. Painters (canvas, SVG) only know
 * rectangles, texts and curves; everything that makes the picture look as it does is decided here, once.
 */
import type { Layout } from '../layout/input.ts';
import { families } from '../view/family.ts';
import type { Hull } from '../view/hulls.ts';
import { cut, MAX_NAME, withoutModules } from '../view/label.ts';
import {
  BOX_HEIGHT,
  BOX_INSET,
  CHIP_GAP,
  CHIP_HEIGHT,
  CHIP_INSET,
  chipWidth,
  DETAIL_GAP,
  FRAME_TITLE_INSET,
  OPEN_MARK
} from '../view/sizes.ts';
import { Shape, type Chip, type VisibleGraph } from '../view/visible.ts';
import { measure } from './text.ts';
import type { Ink, LookName } from './theme.ts';

/** Free space around the picture, in px. */
export const MARGIN = 14;

export interface Scene {
  readonly visible: VisibleGraph;
  readonly layout: Layout;
  /** How each box looks. */
  readonly looks: readonly LookName[];
  /** Boxes that run in one kernel, where these are to be shown. */
  readonly hulls: readonly Hull[];
  /** What is written at the end of the titles of frames, by box. */
  readonly notes: ReadonlyMap<number, string>;
  /** Size with the margin. */
  readonly width: number;
  readonly height: number;
}

/** What a painter can do. Lengths are px of the scene. */
export interface Painter {
  rect(look: LookName, x: number, y: number, width: number, height: number, radius: number): void;
  /** The area of a title in the colour of what it stands on: covers what passes there. */
  ground(look: LookName, x: number, y: number, width: number, height: number): void;
  /** `x` is the left end, `y` the base line. `whole` is what the text was cut from. */
  text(ink: Ink, x: number, y: number, text: string, whole?: string): void;
  /** `points` x, y, ... of a route; the painter follows `eachSegment`. */
  route(look: LookName, points: Float64Array): void;
  /** A line between the sides of two boxes. */
  cable(look: LookName, x1: number, y1: number, x2: number, y2: number): void;
  /** A small cross, `x` and `y` its middle. */
  plus(look: LookName, x: number, y: number, arm: number): void;
}

export function makeScene(
  visible: VisibleGraph,
  layout: Layout,
  looks: readonly LookName[] = kindLooks(visible),
  hulls: readonly Hull[] = [],
  notes: ReadonlyMap<number, string> = new Map()
): Scene {
  const [width, height] = [layout.totalWidth + 2 * MARGIN, layout.totalHeight + 2 * MARGIN];
  return { visible, layout, looks, hulls, notes, width, height };
}

/** The look of a box by the family of its operation. */
export function boxLook(family: number): LookName {
  return `box-${families[family].key}` as LookName;
}

/** The looks of the boxes by the families of their operations; frames have none. */
export function kindLooks({ family, ghost, shape }: VisibleGraph): LookName[] {
  return Array.from(family, (one, box) => (shape[box] === Shape.frame ? 'frame' : ghost[box] ? 'ghost' : boxLook(one)));
}

/** The look of an edge: what leads to or from a ghost is one too. */
export function edgeLook({ visible }: Scene, edge: number): 'edge' | 'edge-ghost' {
  return visible.ghost[visible.source[edge]] || visible.ghost[visible.target[edge]] ? 'edge-ghost' : 'edge';
}

/** What keeps an edge apart from those that it passes over: the colour of what it begins on. */
export function haloLook({ visible }: Scene, edge: number): 'halo' | 'halo-frame' {
  return visible.parent[visible.source[edge]] >= 0 ? 'halo-frame' : 'halo';
}

/** Points of an edge, as a view into the layout; empty for an edge that is not drawn. */
export function routeOf(layout: Layout, edge: number): Float64Array {
  return layout.route.subarray(2 * layout.routeStart[edge], 2 * layout.routeStart[edge + 1]);
}

/** Calls back for each segment of a route: a straight line, or a curve that begins and ends upright, by its middle height. */
export function eachSegment(
  points: Float64Array,
  line: (x: number, y: number) => void,
  curve: (middle: number, fromX: number, x: number, y: number) => void
): void {
  for (let i = 2; i < points.length; i += 2) {
    const [fromX, fromY, x, y] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
    if (Math.abs(fromX - x) < 0.05 || Math.abs(fromY - y) < 0.05) {
      line(x, y);
    } else {
      curve((fromY + y) / 2, fromX, x, y);
    }
  }
}

/** Paints the area of a frame. Its title is painted later, over the edges that enter there. */
export function paintFrame(painter: Painter, { visible, layout, looks }: Scene, box: number): void {
  if (visible.times[box] > 1 && !visible.spread[box]) {
    for (const step of [2, 1]) {
      painter.rect(
        looks[box],
        layout.x[box] + 3 * step,
        layout.y[box] + 3 * step,
        layout.width[box],
        layout.height[box],
        8
      );
    }
  }
  painter.rect(looks[box], layout.x[box], layout.y[box], layout.width[box], layout.height[box], 8);
}

/**
 * The title of a frame: of a long name as much as there is room for, where a box shows only its beginning. The modules
 * that a box leaves out stay away, so that what is mirrored reads as its twin, whichever of the two is wider.
 */
export function titleOf({ visible, layout, notes }: Scene, box: number): string {
  const [name, detail, note] = [visible.whole.get(box), visible.detail[box], notes.get(box)];
  let shown = visible.label[box];
  if (name === undefined) {
    return shown;
  }
  const whole = withoutModules(name);
  const beside = [detail, note].reduce((sum, text) => sum + (text ? DETAIL_GAP + measure(text, 'type') : 0), 0);
  const room = layout.width[box] - 2 * FRAME_TITLE_INSET - beside;
  for (let most = MAX_NAME + 1; shown !== whole; most++) {
    const longer = cut(whole, most);
    if (measure(longer, 'title') > room) {
      break;
    }
    shown = longer;
  }
  return shown;
}

/** The ground on which the title of a frame stands: `[x, y, width, height]`. */
export function titleGround(scene: Scene, box: number): readonly [number, number, number, number] {
  const { visible, layout } = scene;
  const detail = visible.detail[box];
  const width = measure(titleOf(scene, box), 'title') + (detail ? DETAIL_GAP + measure(detail, 'type') : 0);
  return [layout.x[box] + FRAME_TITLE_INSET - 4, layout.y[box] + 6, Math.ceil(width) + 8, 17];
}

/** Paints the title of a frame, on ground that keeps it clear of edges. */
export function paintTitle(painter: Painter, scene: Scene, box: number): void {
  const { visible, layout, notes } = scene;
  const [x, y] = [layout.x[box] + FRAME_TITLE_INSET, layout.y[box]];
  const [label, detail] = [titleOf(scene, box), visible.detail[box]];
  const labelWidth = measure(label, 'title');
  const width = labelWidth + (detail ? DETAIL_GAP + measure(detail, 'type') : 0);
  const ground = scene.looks[box] === 'frame' ? 'ground' : (`ground-${scene.looks[box]}` as LookName);
  painter.ground(ground, ...titleGround(scene, box));
  painter.text('title', x, y + 18, label, visible.whole.get(box));
  if (detail) {
    painter.text('type', x + labelWidth + DETAIL_GAP, y + 18, detail);
  }
  const note = notes.get(box);
  if (note !== undefined) {
    const left = layout.x[box] + layout.width[box] - FRAME_TITLE_INSET - measure(note, 'type');
    // Where there is no room for both, the title is what tells.
    if (left >= x + width + DETAIL_GAP) {
      painter.ground(ground, left - 4, y + 6, Math.ceil(measure(note, 'type')) + 8, 17);
      painter.text('type', left, y + 18, note);
    }
  }
}

/** Paints a box with its words and chips. */
export function paintBox(painter: Painter, { visible, layout, looks }: Scene, box: number): void {
  const [x, y, width] = [layout.x[box], layout.y[box], layout.width[box]];
  const [label, detail, shape] = [visible.label[box], visible.detail[box], visible.shape[box]];
  if (shape === Shape.turn) {
    painter.rect('turn', x, y, width, BOX_HEIGHT, BOX_HEIGHT / 2);
  } else if (visible.ghost[box]) {
    painter.rect(looks[box], x, y, width, BOX_HEIGHT, 5);
  } else if (shape !== Shape.port) {
    if (visible.times[box] > 1) {
      for (const step of [2, 1]) {
        painter.rect('chip', x + 2.5 * step, y + 2.5 * step, width, BOX_HEIGHT, 5);
      }
    }
    painter.rect(looks[box], x, y, width, BOX_HEIGHT, 5);
  }
  const ink = shape !== Shape.box ? 'port' : visible.ghost[box] ? 'gone' : 'name';
  // The room in the box was kept for the bold face; lighter words are put into its middle.
  const words = measure(label, ink === 'name' ? 'name' : 'title') + (detail ? DETAIL_GAP + measure(detail, 'type') : 0);
  const room = width - 2 * BOX_INSET - (visible.closed[box] ? OPEN_MARK : 0);
  const start = x + BOX_INSET + Math.max(0, (room - words) / 2);
  painter.text(ink, start, y + 15, label, visible.whole.get(box));
  if (detail) {
    painter.text('type', start + words - measure(detail, 'type'), y + 15, detail);
  }
  if (visible.closed[box]) {
    painter.plus('mark', x + width - BOX_INSET - 2, y + BOX_HEIGHT / 2, 4);
  }
  for (const { chip, left } of placeChips(visible.chips.get(box) ?? [], x, width)) {
    const top = y + (BOX_HEIGHT - CHIP_HEIGHT) / 2;
    painter.rect('chip', left, top, chipWidth(measure, chip.text), CHIP_HEIGHT, CHIP_HEIGHT / 2);
    painter.text('label', left + CHIP_INSET, top + 11.5, chip.text, wholeChip(chip));
  }
}

/** What a chip stands for, where its text does not say all of it. */
export function wholeChip({ text, title }: Chip): string | undefined {
  return title.includes(text.replace(/^→ /, '')) ? undefined : title;
}

/** Where the chips of a box at `x` stand: to its left from the box outwards in reading order, to its right likewise. */
export function placeChips(chips: readonly Chip[], x: number, width: number): { chip: Chip; left: number }[] {
  const placed: { chip: Chip; left: number }[] = [];
  const before = chips.filter(chip => chip.side === 'left');
  let left = x - before.reduce((sum, chip) => sum + chipWidth(measure, chip.text) + CHIP_GAP, 0);
  for (const chip of before) {
    placed.push({ chip, left });
    left += chipWidth(measure, chip.text) + CHIP_GAP;
  }
  left = x + width + CHIP_GAP;
  for (const chip of chips) {
    if (chip.side === 'right') {
      placed.push({ chip, left });
      left += chipWidth(measure, chip.text) + CHIP_GAP;
    }
  }
  return placed;
}
