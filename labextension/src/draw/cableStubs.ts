/**
 * The short ends of cables that are not drawn in full: that there are more, and in words what they carry, where there is
 * room beside the line, beyond the frame that it ends at, above it or below it.
 */
import { bytesText } from '../view/words.ts';
import type { Cable } from '../view/visible.ts';
import { ByRows } from './byRows.ts';
import { areaOf, cableEnds, holds, isFrame, type Solid } from './cablePlaces.ts';
import { bend } from './cableWays.ts';
import { carryWays } from './carry.ts';
import { routeOf, type Painter, type Scene } from './scene.ts';
import { measure } from './text.ts';

/** px of a cable that are drawn at each end of one that is not. */
export const STUB = 14;
/** From the end of a stub, or from the frame that it ends at, to its words. */
const STUB_GAP = 3;
export const STUB_WORDS = 11;
/** From the middle of a stub to that of words above or below it. */
const STUB_OVER = 7.5;
/** Words stand beyond a frame that a stub comes as near to as this. */
const AT_FRAME = 10;

/** A cable as it is drawn: x, y, ... of the points between which it runs, and where its label stands. */
export interface Run {
  readonly cable: Cable;
  readonly points: readonly number[];
  readonly text: string;
  readonly labelX: number;
  readonly labelY: number;
}

/** The end of one or several cables at a side of a box, with words beside it where there is room. */
export interface Stub {
  readonly box: number;
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly textX: number;
  /** The middle of the words: that of the line, or above or below it where there is no room beside. */
  readonly textY: number;
}

/** Of the areas that words keep clear of, those that belong to no box have -1. */
const NO_BOX = -2;
const NOWHERE = { text: '', textX: 0, textY: 0 };

/** Short ends, once for each side of a box, with their words beside, above or below the line. */
export function stubsOf(scene: Scene, cables: readonly Cable[], boxes: readonly Solid[], runs: readonly Run[]): Stub[] {
  const sides = new Map<string, Cable[]>();
  for (const cable of cables) {
    for (const side of [`right ${cable.source}`, `left ${cable.target}`]) {
      sides.set(side, [...(sides.get(side) ?? []), cable]);
    }
  }
  const placed = [...sides].map(([side, these]) => {
    const right = side.startsWith('right');
    const { x1, y1, x2, y2 } = cableEnds(scene, these[0]);
    return { right, these, x: right ? x1 : x2 - STUB, y: right ? y1 : y2 };
  });
  const lines = placed.map(({ x, y }) => lineSolid(x, y, x + STUB, y));
  const taken = new ByRows([...boxes, ...linesOf(scene), ...runs.flatMap(linesOfRun), ...lines]);
  const frames = new ByRows(framesOf(scene));
  return placed.map(({ right, these, x, y }) => {
    const box = right ? these[0].source : these[0].target;
    const end = right ? x + STUB + STUB_GAP : x - STUB_GAP;
    const start = right ? x + STUB_GAP : x + STUB - STUB_GAP;
    // Words over a line that also is the end of a cable drawn in full would seem to tell of that.
    const isShared = runs.some(({ cable }) => (right ? cable.source : cable.target) === box);
    const frame = scene.visible.parent[box];
    const beyond = frame < 0 ? null : beyondFrame(scene, frame, end, right);
    const places = [
      { near: end, textY: y, around: box },
      ...(beyond === null ? [] : [{ near: beyond, textY: y, around: frame }]),
      ...(isShared ? [] : [-STUB_OVER, STUB_OVER].map(over => ({ near: start, textY: y + over, around: box })))
    ];
    for (const { near, textY, around } of places) {
      for (const text of wordsOf(these, right)) {
        const textX = right ? near : near - measure(text, 'chip');
        const area = wordsArea(text, textX, textY);
        const own = textY === y ? box : NO_BOX;
        if (isInside(scene, frames, around, area) && !taken.some(area, other => meet(other, area, own))) {
          taken.add(area);
          return { box, x, y, text, textX, textY };
        }
      }
    }
    return { box, x, y, ...NOWHERE };
  });
}

/** Where words begin beyond the frame that a stub comes near to; null where it ends further inside. */
function beyondFrame({ layout }: Scene, frame: number, end: number, right: boolean): number | null {
  const side = right ? layout.x[frame] + layout.width[frame] : layout.x[frame];
  const line = right ? end - STUB_GAP : end + STUB_GAP;
  if (Math.abs(side - line) > AT_FRAME) {
    return null;
  }
  return right ? Math.max(end, side + STUB_GAP) : Math.min(end, side - STUB_GAP);
}

export function wordsArea(text: string, left: number, middle: number): Solid {
  const half = STUB_WORDS / 2;
  return { left, right: left + measure(text, 'chip'), top: middle - half, bottom: middle + half, box: -1 };
}

/**
 * What short ends say, the longest first: type and bytes of one value, count and bytes of several, bytes alone. What a
 * box gives to several is told once where it `gives` it. Of what takes no memory there is nothing to say.
 */
function wordsOf(cables: readonly Cable[], gives: boolean): string[] {
  const sum = (of: (cable: Cable) => number): number => cables.reduce((all, cable) => all + of(cable), 0);
  const [values, bytes] = [sum(cable => cable.values), sum(cable => cable.bytes)];
  const shared = gives && values ? 0 : sum(cable => cable.shared ?? 0);
  if (!values && !shared) {
    return [];
  }
  const type = values === 1 && !shared ? cables.find(cable => cable.values)?.type : undefined;
  const short = values || !shared ? bytesText(bytes) : 'shared';
  return [type ? `${type} ${bytesText(bytes)}` : residualsText({ values, bytes, shared }), short];
}

function meet(one: Solid, other: Solid, own: number): boolean {
  return (
    one.box !== own &&
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}

/** True for an area in the frame of a box, clear of the frames beside the box. */
function isInside({ visible, layout }: Scene, frames: ByRows, box: number, area: Solid): boolean {
  const around = visible.parent[box];
  const fits =
    around >= 0 && area.left > layout.x[around] + 2 && area.right < layout.x[around] + layout.width[around] - 2;
  return fits && !frames.some(area, frame => meet(frame, area, box) && !holds(visible, frame.box, box));
}

function framesOf({ visible, layout }: Scene): Solid[] {
  return Array.from(visible.shape.keys())
    .filter(box => isFrame(visible, box))
    .map(frame => areaOf(layout, frame));
}

/** The lines of edges and the ways back into loops, by the rectangles that hold each of their parts. */
function linesOf(scene: Scene): Solid[] {
  const found: Solid[] = [];
  const routes = Array.from(scene.visible.source, (_, edge) => routeOf(scene.layout, edge));
  for (const points of [...routes, ...carryWays(scene)]) {
    for (let i = 2; i < points.length; i += 2) {
      found.push(lineSolid(points[i - 2], points[i - 1], points[i], points[i + 1]));
    }
  }
  return found;
}

/** Parts into which a curve is cut, so that its rectangles are close to it. */
const CURVE_PARTS = 12;

function linesOfRun({ points }: Run): Solid[] {
  const found: Solid[] = [];
  for (let i = 2; i < points.length; i += 2) {
    const [x1, y1, x2, y2] = points.slice(i - 2, i + 2);
    for (let part = 0; part < CURVE_PARTS; part++) {
      const at = (step: number): [number, number] => {
        const x = x1 + ((x2 - x1) * step) / CURVE_PARTS;
        return [x, bend(x1, y1, x2, y2, x)];
      };
      found.push(lineSolid(...at(part), ...at(part + 1)));
    }
  }
  return found;
}

function lineSolid(x1: number, y1: number, x2: number, y2: number): Solid {
  return {
    left: Math.min(x1, x2) - 1,
    right: Math.max(x1, x2) + 1,
    top: Math.min(y1, y2) - 1,
    bottom: Math.max(y1, y2) + 1,
    box: -1
  };
}

/** Empty where what goes across takes no memory; what another cable counts is told without its size. */
export function residualsText({ values, bytes, shared = 0 }: Pick<Cable, 'values' | 'bytes' | 'shared'>): string {
  if (values === 0) {
    return shared === 0 ? '' : `${shared} shared residual${shared === 1 ? '' : 's'}`;
  }
  return `${values} residual${values === 1 ? '' : 's'} ${bytesText(bytes)}${shared ? `, ${shared} shared` : ''}`;
}

export function paintWords(painter: Painter, { text, textX, textY }: Stub): void {
  if (text) {
    painter.text('cabled', textX, textY + 3.5, text);
  }
}
