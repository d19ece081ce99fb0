/**
 * Cables: what a phase needs of the one beside it. The largest run from box to box and say what they carry in the gap
 * between the two frames; of the others the ends say that there are more, and what they carry where there is room.
 */
import { CHIP_HEIGHT, CHIP_INSET } from '../view/sizes.ts';
import type { Cable } from '../view/visible.ts';
import { cableEnds, gapBetween, solids, type Solid } from './cablePlaces.ts';
import { paintWords, residualsText, STUB, STUB_WORDS, stubsOf, wordsArea, type Run, type Stub } from './cableStubs.ts';
import { bend, wayAround } from './cableWays.ts';
import type { Painter, Scene } from './scene.ts';
import type { Area } from './solid.ts';
import { measure } from './text.ts';
import type { Layout } from '../layout/input.ts';
import { getOrMake } from '../maps';

/** Cables that are drawn in full. */
const MOST_CABLES = 4;
/** Between labels: two that touched would look like one. */
const APART = 3;
/** Around words that are painted over lines. */
const AROUND = 1;
/** Places along the way of a cable that are looked at for its label, where the first one is over a box. */
const PLACES = 40;

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

/** Where the words of `paintCableLabels` stand. */
export function cableAreas(scene: Scene): Area[] {
  const { runs, stubs } = drawnOf(scene);
  const labels = labelled(runs).map(({ text, labelX, labelY }) => {
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
  const runs = runsOf(scene, cables, solids(scene), true);
  runs.forEach(run => paintRun(painter, run));
  paintLabels(painter, runs);
  const ends = new Set(cables.flatMap(({ source, target }) => [source, target]));
  for (const stub of drawnOf(scene).stubs) {
    if (stub.text && ends.has(stub.box)) {
      const width = Math.ceil(measure(stub.text, 'chip'));
      painter.rect('ground', stub.textX - AROUND, stub.textY - STUB_WORDS / 2, width + 2 * AROUND, STUB_WORDS, 0);
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
  for (const { text, labelX, labelY } of labelled(runs)) {
    // On whole pixels borders are crisp.
    const width = Math.ceil(measure(text, 'chip') + 2 * CHIP_INSET);
    const [left, top] = [Math.round(labelX - width / 2), Math.round(labelY)];
    painter.rect('cable-label', left, top, width, CHIP_HEIGHT, CHIP_HEIGHT / 2);
    painter.text('cabled', left + CHIP_INSET, top + 11.5, text);
  }
}

/** Of what takes no memory there is nothing to say. */
function labelled(runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ text }) => text !== '');
}

function drawnOf(scene: Scene): Drawn {
  return getOrMake(known, scene.layout, () => {
    const boxes = scene.visible.cables.length ? solids(scene) : [];
    const sorted = bySize(scene);
    const runs = runsOf(scene, sorted.slice(0, MOST_CABLES), boxes);
    return { runs, stubs: stubsOf(scene, sorted.slice(MOST_CABLES), boxes, runs) };
  });
}

function bySize({ visible }: Scene): Cable[] {
  return [...visible.cables].sort((a, b) => b.bytes - a.bytes || a.source - b.source || a.target - b.target);
}

/** Where the gap has no room for all that there is to say, it is said `inFull` only on request. */
function runsOf(scene: Scene, cables: readonly Cable[], boxes: readonly Solid[], inFull = false): Run[] {
  const runs = cables.map(cable => {
    const [left, right] = gapBetween(scene, cable.source, cable.target);
    const gap = (left + right) / 2;
    const points = wayAround(cableEnds(scene, cable), gap, boxes, cable);
    const texts = [residualsText(cable), ...(cable.values ? [residualsText({ ...cable, shared: 0 })] : [])];
    const fits = texts.find(one => inFull || measure(one, 'chip') + 2 * CHIP_INSET <= right - left);
    const text = fits ?? texts[texts.length - 1];
    const labelX = clearPlace(points, gap, measure(text, 'chip') / 2 + CHIP_INSET, boxes);
    return { cable, points, text, labelX, labelY: heightAt(points, labelX) };
  });
  const told = labelled(runs);
  const tops = spreadOut(told.map(({ labelY }) => labelY - CHIP_HEIGHT / 2));
  return runs.map(run => ({ ...run, labelY: tops[told.indexOf(run)] ?? run.labelY }));
}

/** Where a label of such a half width covers no box: as it is wished, or else at the nearest place along the way. */
function clearPlace(points: readonly number[], wish: number, half: number, boxes: readonly Solid[]): number {
  const [from, to] = [points[0], points[points.length - 2]];
  const along = Array.from({ length: PLACES + 1 }, (_, i) => from + ((to - from) * i) / PLACES);
  const covers = (x: number): boolean => {
    const y = heightAt(points, x);
    return boxes.some(
      ({ left, right, top, bottom }) =>
        left < x + half && right > x - half && top < y + CHIP_HEIGHT / 2 && bottom > y - CHIP_HEIGHT / 2
    );
  };
  const places = [wish, ...along.sort((a, b) => Math.abs(a - wish) - Math.abs(b - wish))];
  return places.find(x => !covers(x)) ?? wish;
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
