/**
 * Cables: what a phase needs of the one beside it. The largest run from box to box and say what they carry in the gap
 * between the two frames; of the others the ends say that there are more, and what they carry where there is room.
 */
import { CHIP_HEIGHT, CHIP_INSET } from '../view/sizes.ts';
import { bytesText } from '../view/words.ts';
import type { Cable } from '../view/visible.ts';
import { areaOf, cableEnds, gapBetween, holds, isFrame, solids, type Solid } from './cablePlaces.ts';
import { bend, wayAround } from './cableWays.ts';
import { routeOf, type Painter, type Scene } from './scene.ts';
import type { Area } from './solid.ts';
import { measure } from './text.ts';
import type { Layout } from '../layout/input.ts';

/** Cables that are drawn in full. */
const MOST_CABLES = 4;
/** px of a cable that are drawn at each end of one that is not. */
const STUB = 14;
/** Between labels, and from the end of a stub to its words. */
const APART = 1;
const STUB_GAP = 3;
const STUB_WORDS = 11;
/** From the middle of a stub to that of words above or below it. */
const STUB_OVER = 7.5;

/** A cable as it is drawn: x, y, ... of the points between which it runs, and where its label stands. */
interface Run {
  readonly cable: Cable;
  readonly points: readonly number[];
  readonly text: string;
  readonly labelX: number;
  readonly labelY: number;
}

/** The end of one or several cables at a side of a box, with words beside it where there is room. */
interface Stub {
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

interface Drawn {
  readonly runs: readonly Run[];
  readonly stubs: readonly Stub[];
}

const known = new WeakMap<Layout, Drawn>();

/** Paints the largest as lines from box to box, the rest as short ends. */
export function paintCables(painter: Painter, scene: Scene): void {
  const { runs, stubs } = drawnOf(scene);
  runs.forEach(run => paintRun(painter, run));
  for (const { x, y } of stubs) {
    painter.cable('cable', x, y, x + STUB, y);
  }
}

/** Paints what cables carry: in the gap between the two frames, where no box stands, and beside short ends. */
export function paintCableLabels(painter: Painter, scene: Scene): void {
  const { runs, stubs } = drawnOf(scene);
  paintLabels(painter, runs);
  stubs.forEach(stub => paintWords(painter, stub));
}

function paintWords(painter: Painter, { text, textX, textY }: Stub): void {
  if (text) {
    painter.text('cabled', textX, textY + 3.5, text);
  }
}

/** Where the words of `paintCableLabels` stand. */
export function cableAreas(scene: Scene): Area[] {
  const { runs, stubs } = drawnOf(scene);
  const labels = runs.map(({ text, labelX, labelY }) => {
    const half = measure(text, 'chip') / 2 + CHIP_INSET;
    return { left: labelX - half, right: labelX + half, top: labelY, bottom: labelY + CHIP_HEIGHT };
  });
  const ends = stubs.flatMap(({ text, textX, textY }) => (text ? [wordsArea(text, textX, textY)] : []));
  return [...labels, ...ends];
}

/** The cables at a box of which only the ends are drawn. */
export function stubCables(scene: Scene, box: number): readonly Cable[] {
  const short = box < 0 ? [] : bySize(scene).slice(MOST_CABLES);
  return short.filter(({ source, target }) => source === box || target === box);
}

/** Paints cables in full, with what they carry; the words at their ends stay clear of them. */
export function paintWholeCables(painter: Painter, scene: Scene, cables: readonly Cable[]): void {
  const runs = runsOf(scene, cables, solids(scene));
  runs.forEach(run => paintRun(painter, run));
  paintLabels(painter, runs);
  const ends = new Set(cables.flatMap(({ source, target }) => [source, target]));
  for (const stub of drawnOf(scene).stubs) {
    if (stub.text && ends.has(stub.box)) {
      const width = Math.ceil(measure(stub.text, 'chip'));
      painter.rect('ground', stub.textX - APART, stub.textY - STUB_WORDS / 2, width + 2 * APART, STUB_WORDS, 0);
      paintWords(painter, stub);
    }
  }
}

function paintRun(painter: Painter, { points }: Run): void {
  for (let i = 2; i < points.length; i += 2) {
    painter.cable('cable', points[i - 2], points[i - 1], points[i], points[i + 1]);
  }
}

function paintLabels(painter: Painter, runs: readonly Run[]): void {
  for (const { text, labelX, labelY } of runs) {
    // On whole pixels borders are crisp.
    const width = Math.ceil(measure(text, 'chip') + 2 * CHIP_INSET);
    const [left, top] = [Math.round(labelX - width / 2), Math.round(labelY)];
    painter.rect('cable-label', left, top, width, CHIP_HEIGHT, CHIP_HEIGHT / 2);
    painter.text('cabled', left + CHIP_INSET, top + 11.5, text);
  }
}

function drawnOf(scene: Scene): Drawn {
  let drawn = known.get(scene.layout);
  if (!drawn) {
    const boxes = scene.visible.cables.length ? solids(scene) : [];
    const sorted = bySize(scene);
    const runs = runsOf(scene, sorted.slice(0, MOST_CABLES), boxes);
    drawn = { runs, stubs: stubsOf(scene, sorted.slice(MOST_CABLES), boxes, runs) };
    known.set(scene.layout, drawn);
  }
  return drawn;
}

function bySize({ visible }: Scene): Cable[] {
  return [...visible.cables].sort((a, b) => b.bytes - a.bytes || a.source - b.source || a.target - b.target);
}

/** Without any, what goes across takes no memory; what another cable counts is told without its size. */
function residualsText({ values, bytes, shared = 0 }: Pick<Cable, 'values' | 'bytes' | 'shared'>): string {
  if (values === 0) {
    return shared === 0 ? 'takes no memory' : `${shared} shared residual${shared === 1 ? '' : 's'}`;
  }
  return `${values} residual${values === 1 ? '' : 's'} ${bytesText(bytes)}${shared ? `, ${shared} shared` : ''}`;
}

function runsOf(scene: Scene, cables: readonly Cable[], boxes: readonly Solid[]): Run[] {
  const runs = cables.map(cable => {
    const gap = gapBetween(scene, cable.source, cable.target);
    const points = wayAround(cableEnds(scene, cable), gap, boxes, cable);
    return {
      cable,
      points,
      text: residualsText(cable),
      labelX: gap,
      labelY: heightAt(points, gap)
    };
  });
  const tops = spreadOut(runs.map(({ labelY }) => labelY - CHIP_HEIGHT / 2));
  return runs.map((run, i) => ({ ...run, labelY: tops[i] }));
}

/** Where a way crosses a vertical line. */
function heightAt(points: readonly number[], x: number): number {
  for (let i = 2; i < points.length; i += 2) {
    if (x <= points[i] || i + 2 === points.length) {
      return bend(points[i - 2], points[i - 1], points[i], points[i + 1], x);
    }
  }
  return points[1];
}

/** Upper edges of labels, in the order of their wishes, none over another, and as a whole where they want to be. */
function spreadOut(wishes: readonly number[]): number[] {
  const order = [...wishes.keys()].sort((a, b) => wishes[a] - wishes[b] || a - b);
  const step = CHIP_HEIGHT + APART;
  // Groups of labels that touch: the wish of the first one, on average, and how many there are.
  const groups: { top: number; count: number }[] = [];
  for (const label of order) {
    let group = { top: wishes[label], count: 1 };
    for (let last = groups.at(-1); last && last.top + last.count * step > group.top; last = groups.at(-1)) {
      const count = last.count + group.count;
      const top = (last.top * last.count + (group.top - last.count * step) * group.count) / count;
      group = { top, count };
      groups.pop();
    }
    groups.push(group);
  }
  const tops = new Array<number>(wishes.length).fill(0);
  let next = 0;
  for (const { top, count } of groups) {
    for (let i = 0; i < count; i++) {
      tops[order[next++]] = top + i * step;
    }
  }
  return tops;
}

/** Short ends, once for each side of a box, with their words beside, above or below the line. */
function stubsOf(scene: Scene, cables: readonly Cable[], boxes: readonly Solid[], runs: readonly Run[]): Stub[] {
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
  const taken: Solid[] = [...boxes, ...linesOf(scene), ...runs.flatMap(linesOfRun), ...lines];
  return placed.map(({ right, these, x, y }) => {
    const box = right ? these[0].source : these[0].target;
    const end = right ? x + STUB + STUB_GAP : x - STUB_GAP;
    const start = right ? x + STUB_GAP : x + STUB - STUB_GAP;
    // Words over a line that also is the end of a cable drawn in full would seem to tell of that.
    const isShared = runs.some(({ cable }) => (right ? cable.source : cable.target) === box);
    const over = [
      [start, y - STUB_OVER],
      [start, y + STUB_OVER]
    ];
    for (const [near, textY] of [[end, y], ...(isShared ? [] : over)]) {
      for (const text of wordsOf(these, right)) {
        const textX = right ? near : near - measure(text, 'chip');
        const area = wordsArea(text, textX, textY);
        if (isInside(scene, box, area) && !taken.some(other => meet(other, area, textY === y ? box : NO_BOX))) {
          taken.push(area);
          return { box, x, y, text, textX, textY };
        }
      }
    }
    return { box, x, y, ...NOWHERE };
  });
}

function wordsArea(text: string, left: number, middle: number): Solid {
  const half = STUB_WORDS / 2;
  return { left, right: left + measure(text, 'chip'), top: middle - half, bottom: middle + half, box: -1 };
}

/**
 * What short ends say, the longest first: type and bytes of one value, count and bytes of several, bytes alone. What a
 * box gives to several is told once where it `gives` it.
 */
function wordsOf(cables: readonly Cable[], gives: boolean): string[] {
  const sum = (of: (cable: Cable) => number): number => cables.reduce((all, cable) => all + of(cable), 0);
  const [values, bytes] = [sum(cable => cable.values), sum(cable => cable.bytes)];
  const shared = gives && values ? 0 : sum(cable => cable.shared ?? 0);
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
function isInside({ visible, layout }: Scene, box: number, area: Solid): boolean {
  const around = visible.parent[box];
  const fits =
    around >= 0 && area.left > layout.x[around] + 2 && area.right < layout.x[around] + layout.width[around] - 2;
  return (
    fits &&
    !visible.shape.some(
      (_, frame) => isFrame(visible, frame) && !holds(visible, frame, box) && meet(areaOf(layout, frame), area, box)
    )
  );
}

/** The lines of edges, by the rectangles that hold each of their parts. */
function linesOf({ visible, layout }: Scene): Solid[] {
  const found: Solid[] = [];
  for (let edge = 0; edge < visible.source.length; edge++) {
    const points = routeOf(layout, edge);
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
