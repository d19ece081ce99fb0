import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shape, type VisibleGraph } from '../view/visible.ts';
import { paintBundleLabels } from './bundles.ts';
import type { Painter, Scene } from './scene.ts';

/** The points of its way: x and y of each. */
type Line = readonly number[];

/** Edges, the first from the left to the right below it, and a frame or a box; gives where the words about edges stand. */
function wordsOf(
  frame: readonly [x: number, y: number, width: number, height: number],
  copies = 1,
  title = '',
  shape: number = Shape.frame,
  lines: readonly Line[] = [[100, 100, 300, 140]],
  chips: VisibleGraph['chips'] = new Map()
): [number, number][] {
  const visible = {
    count: 1,
    shape: Uint8Array.of(shape),
    times: Int32Array.of(copies),
    label: [title],
    others: new Map(),
    whole: new Map(),
    detail: [''],
    chips,
    source: new Int32Array(lines.length),
    target: new Int32Array(lines.length),
    bundles: lines.map((_, edge) => ({ edge, values: 12, gradients: true }))
  } as Partial<VisibleGraph> as VisibleGraph;
  const layout = {
    x: Float64Array.of(frame[0]),
    y: Float64Array.of(frame[1]),
    width: Float64Array.of(frame[2]),
    height: Float64Array.of(frame[3]),
    routeStart: Int32Array.from([0, ...lines.keys()], (_, edge) => lines.slice(0, edge).flat().length / 2),
    route: Float64Array.from(lines.flat()),
    totalWidth: 600,
    totalHeight: 400,
    row: new Int32Array(0),
    column: new Int32Array(0),
    shelf: new Int32Array(0),
    above: new Float64Array(0),
    below: new Float64Array(0),
    simplified: []
  };
  const scene: Scene = { visible, layout, looks: [], hulls: [], notes: new Map(), width: 600, height: 400 };
  const found: [number, number][] = [];
  const painter = { text: (_ink: string, x: number, y: number) => void found.push([x, y]) };
  paintBundleLabels(painter as Partial<Painter> as Painter, scene);
  return found;
}

test('the number of values stands beside the line, not on it', () => {
  const [[x, y], ...more] = wordsOf([500, 300, 50, 50]);
  assert.deepEqual(more, []);
  assert.ok(x < 100 && y > 100, 'to the left of where the line begins, as it runs to the right');
});

test('the words stand clear of the number of copies at the corner of a stack', () => {
  const stack = [20, 122, 74, 40] as const;
  assert.ok(wordsOf(stack)[0][0] < 100);
  assert.ok(wordsOf(stack, 6)[0][0] > 300);
});

test('the words do not stand on a box that is as large as they are', () => {
  assert.ok(wordsOf([10, 95, 100, 40], 1, '', Shape.box)[0][0] > 300);
});

test('the words do not stand on a chip', () => {
  const chip = { text: '→ params x134', value: 1, side: 'right', title: '' } as const;
  const chips = new Map([[0, [chip]]]);
  const box = [-100, 95, 100, 40] as const;
  assert.ok(wordsOf(box, 1, '', Shape.box)[0][0] < 100);
  assert.ok(wordsOf(box, 1, '', Shape.box, undefined, chips)[0][0] > 300);
});

test('no border of a frame runs through the words, nor through what letters have below their foot', () => {
  // This one ends right below the words that would stand where the line begins.
  const [[x, y]] = wordsOf([-50, 50, 500, 67]);
  assert.ok(x > 300 && y > 120, 'beside the end of the line');
});

test('the words do not cover the title of the frame that they stand in', () => {
  const frame = [-40, 90, 640, 200] as const;
  const [[x]] = wordsOf(frame);
  const [[beside]] = wordsOf(frame, 1, 'for layer in layers');
  assert.ok(x < 100, 'where the line begins, inside of the frame');
  assert.ok(beside > 300, 'where it ends');
});

test('the words of one line do not stand on those of another', () => {
  const lines: readonly Line[] = [
    [300, 100, 300, 300],
    [390, 104, 390, 300]
  ];
  // To the right of the second line there is no room where it begins.
  const wordsOfLines = (lines: readonly Line[]) => wordsOf([394, 90, 100, 60], 1, '', Shape.box, lines);
  const [first, second] = wordsOfLines(lines);
  const [alone] = wordsOfLines(lines.slice(1));
  assert.ok(first[0] > 300 && alone[0] < 390 && Math.abs(alone[1] - first[1]) < 10, 'both between the two lines');
  assert.ok(second[1] > 250, 'so the second goes to the end of its line');
});

test('where neither end has room, the words stand beside the line itself, wherever it leads around', () => {
  const around = [100, 100, 300, 120, 300, 300, 120, 320];
  const [[x, y]] = wordsOf([-20, 95, 240, 230], 1, '', Shape.box, [around]);
  assert.ok(x > 300 && x < 310 && Math.abs(y - 210) < 10, `${x} ${y}`);
});
