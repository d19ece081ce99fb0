import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Shape, type Cable, type VisibleGraph } from '../view/visible.ts';
import { cableEnds, solids } from './cablePlaces.ts';
import { cableAreas, paintCableLabels, paintCables, paintWholeCables, stubCables } from './cables.ts';
import { bend } from './cableWays.ts';
import { LABEL_HEIGHT, labelSpots } from './labelSpots.ts';
import type { Painter, Scene } from './scene.ts';
import { meet } from './solid.ts';

interface Placed {
  readonly parent: number;
  readonly at: readonly [x: number, y: number, width: number, height: number];
}

/** Two frames side by side, 120 px apart, with boxes in them, and cables between these. */
function sceneWith(placed: readonly Placed[], cables: readonly Cable[]): Scene {
  const column = (of: (one: Placed) => number): Float64Array => Float64Array.from(placed, of);
  const visible = {
    count: placed.length,
    parent: Int32Array.from(placed, one => one.parent),
    shape: Uint8Array.from(placed, one => (one.parent < 0 ? Shape.frame : Shape.box)),
    times: new Int32Array(placed.length).fill(1),
    label: placed.map(() => 'one'),
    others: new Map(),
    whole: new Map(),
    detail: placed.map(() => ''),
    bundles: [],
    chips: new Map(),
    source: new Int32Array(0),
    target: new Int32Array(0),
    carries: [],
    cables
  } as Partial<VisibleGraph> as VisibleGraph;
  const layout = {
    x: column(one => one.at[0]),
    y: column(one => one.at[1]),
    width: column(one => one.at[2]),
    height: column(one => one.at[3]),
    routeStart: new Int32Array(1),
    route: new Float64Array(0),
    totalWidth: 720,
    totalHeight: 400,
    row: new Int32Array(0),
    column: new Int32Array(0),
    shelf: new Int32Array(0),
    above: new Float64Array(0),
    below: new Float64Array(0),
    simplified: []
  };
  return { visible, layout, looks: [], hulls: [], notes: new Map(), width: 720, height: 400 };
}

const forward: Placed = { parent: -1, at: [0, 0, 300, 400] };
const narrow: Placed = { parent: -1, at: [0, 0, 200, 400] };
const backward: Placed = { parent: -1, at: [420, 0, 300, 400] };
const box = (parent: number, x: number, row: number): Placed => ({ parent, at: [x, 30 + 35 * row, 80, 22] });
const cable = (source: number, target: number, bytes: number, values = 1): Cable => ({
  source,
  target,
  values,
  bytes,
  ...(values === 1 ? { type: 'f32[8]' } : {})
});

type Line = readonly [x1: number, y1: number, x2: number, y2: number];

function painted(scene: Scene): { lines: Line[]; texts: { x: number; y: number; text: string }[] } {
  const lines: Line[] = [];
  const texts: { x: number; y: number; text: string }[] = [];
  const painter: Painter = {
    rect() {},
    ground() {},
    route() {},
    plus() {},
    text: (_ink, x, y, text) => void texts.push({ x, y, text }),
    cable: (_look, ...line) => void lines.push(line)
  };
  paintCables(painter, scene);
  paintCableLabels(painter, scene);
  return { lines, texts };
}

/** Boxes that a line runs through, but those at its ends. */
function through(scene: Scene, lines: readonly Line[], ends: readonly number[]): number[] {
  return solids(scene)
    .filter(one => !ends.includes(one.box))
    .filter(one =>
      lines.some(([x1, y1, x2, y2]) =>
        Array.from({ length: 101 }, (_, i) => x1 + ((x2 - x1) * i) / 100).some(x => {
          const y = bend(x1, y1, x2, y2, x);
          return x > one.left && x < one.right && y > one.top && y < one.bottom;
        })
      )
    )
    .map(one => one.box);
}

test('a cable goes straight where nothing is in its way', () => {
  const scene = sceneWith([forward, backward, box(0, 20, 2), box(1, 500, 4)], [cable(2, 3, 100)]);
  const { x1, y1, x2, y2 } = cableEnds(scene, scene.visible.cables[0]);
  assert.deepEqual(painted(scene).lines, [[x1, y1, x2, y2]]);
});

test('a cable of which nothing is kept has no words', () => {
  const placed = [forward, backward, box(0, 20, 2), box(1, 500, 4), box(0, 20, 8), box(1, 500, 8)];
  const scene = sceneWith(placed, [cable(2, 3, 0, 0), cable(4, 5, 3e6)]);
  assert.deepEqual(
    painted(scene)
      .texts.map(({ text }) => text)
      .sort(),
    ['1 residual 3.0 MB']
  );
});

test('a cable leaves its row to pass a box that stands beside its own, on either side', () => {
  const placed = [forward, backward, box(0, 20, 2), box(0, 160, 2), box(1, 440, 2), box(1, 560, 2)];
  const scene = sceneWith(placed, [cable(2, 5, 100)]);
  const { lines } = painted(scene);
  assert.deepEqual(through(scene, lines, [2, 5]), []);
  const { x1, y1, x2, y2 } = cableEnds(scene, scene.visible.cables[0]);
  assert.deepEqual(
    [lines[0].slice(0, 2), lines[lines.length - 1].slice(2)],
    [
      [x1, y1],
      [x2, y2]
    ]
  );
  lines.slice(1).forEach((line, i) => assert.deepEqual(line.slice(0, 2), lines[i].slice(2)));
});

test('cables run through no box wherever boxes stand in rows of two', () => {
  const row = fc.record({ left: fc.integer({ min: 10, max: 40 }), right: fc.integer({ min: 150, max: 200 }) });
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 9 }), fc.nat(), fc.nat(), (rows, from, to) => {
      const boxes = rows.flatMap(({ left, right }, i) => [box(0, left, i), box(0, right, i), box(1, 420 + left, i)]);
      const [source, target] = [2 + 3 * (from % rows.length), 4 + 3 * (to % rows.length)];
      const scene = sceneWith([forward, backward, ...boxes], [cable(source, target, 100)]);
      assert.deepEqual(through(scene, painted(scene).lines, [source, target]), []);
    })
  );
});

test('labels stand in the order of their cables and none over another', () => {
  const rows = Array.from({ length: 4 }, (_, i) => [box(0, 20, 3), box(1, 500, i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2, 3 + 2 * i, 100 + i, 2 + i));
  const { texts } = painted(sceneWith([forward, backward, ...rows], cables));
  const heights = texts.sort((a, b) => a.y - b.y);
  assert.deepEqual(
    heights.map(({ text }) => text),
    ['2 residuals 100 B', '3 residuals 101 B', '4 residuals 102 B', '5 residuals 103 B']
  );
  heights.slice(1).forEach(({ y }, i) => assert.ok(y - heights[i].y >= 17, `${y} after ${heights[i].y}`));
});

test('labels of cables that meet do not touch each other', () => {
  const rows = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 620, 3 - i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 100));
  const said = cableAreas(sceneWith([forward, backward, ...rows], cables)).sort((a, b) => a.top - b.top);
  said.slice(1).forEach(({ top }, i) => assert.ok(top - said[i].bottom >= 3, `${top} after ${said[i].bottom}`));
});

test('the end of a cable that is not drawn says what it carries, as much as there is room for', () => {
  const largest = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 500, i)]).flat();
  const wordsOf = (source: readonly Placed[], values = 1): string[] => {
    const placed = [forward, backward, ...largest, ...source, box(1, 500, 6)];
    const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 9000 + i));
    const scene = sceneWith(placed, [...cables, cable(10, placed.length - 1, 32, values)]);
    return painted(scene)
      .texts.map(({ text }) => text)
      .filter(text => text.includes('32 B'));
  };
  assert.deepEqual(wordsOf([box(0, 20, 6)]), ['f32[8] 32 B', '32 B']);
  assert.deepEqual(wordsOf([box(0, 20, 6)], 3), ['3 residuals 32 B', '32 B']);
  assert.deepEqual(wordsOf([box(0, 160, 6)]), ['32 B', '32 B']);
  assert.deepEqual(wordsOf([box(0, 20, 6), box(0, 120, 6)]), ['32 B']);
  // Where something stands in the way beside the end, but not over or under it.
  for (const row of [6.35, 5.65]) {
    assert.deepEqual(wordsOf([box(0, 20, 6), box(0, 120, row)]), ['f32[8] 32 B', '32 B'], `${row}`);
  }
});

test('what another cable counts is told without its size', () => {
  const placed = [narrow, backward, box(0, 20, 0), ...[0, 2, 4].map(row => box(1, 500, row))];
  const cables = [cable(2, 3, 32), { ...cable(2, 4, 16), shared: 1 }, { ...cable(2, 5, 0, 0), shared: 2 }];
  assert.deepEqual(
    painted(sceneWith(placed, cables)).texts.map(({ text }) => text),
    ['1 residual 32 B', '1 residual 16 B, 1 shared', '2 shared residuals']
  );
});

test('what a cable shares with another is left out where it would reach into the frames, and said on request', () => {
  const placed = [forward, backward, box(0, 20, 2), box(1, 500, 2)];
  const scene = sceneWith(placed, [{ ...cable(2, 3, 16), shared: 1 }]);
  const [label] = cableAreas(scene);
  assert.ok(300 <= label.left && label.right <= 420, `${label.left} ${label.right}`);
  const said: string[] = [];
  const painter = {
    rect() {},
    cable() {},
    text: (_ink: string, _x: number, _y: number, text: string) => said.push(text)
  };
  paintCableLabels(painter as unknown as Painter, scene);
  paintWholeCables(painter as unknown as Painter, scene, scene.visible.cables);
  assert.deepEqual(said, ['1 residual 16 B', '1 residual 16 B, 1 shared']);
});

test('the words at the end of a cable stand clear of the way back into a loop', () => {
  const largest = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 500, i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 9000 + i));
  const scene = sceneWith([forward, backward, ...largest, box(0, 20, 6)], [...cables, cable(10, 5, 32)]);
  const heights = (carries: VisibleGraph['carries']): number[] =>
    painted({ ...scene, visible: { ...scene.visible, carries }, layout: { ...scene.layout } })
      .texts.filter(({ x, text }) => x < 300 && text.includes('32 B'))
      .map(({ y }) => y - 3.5);
  const middle = 30 + 35 * 6 + 11;
  assert.deepEqual(heights([]), [middle]);
  assert.deepEqual(heights([{ maker: 10, turn: 0 }]), [middle - 7.5]);
});

test('words that have no room in a frame stand beyond it, where the end of the cable comes near to it', () => {
  const largest = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 500, i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 9000 + i));
  const wordsAt = (inner: number): number[] => {
    const frame: Placed = { parent: 0, at: [10, 220, inner, 60] };
    const placed = [forward, backward, ...largest, frame, box(10, 20, 6)];
    const { texts } = painted(sceneWith(placed, [...cables, cable(11, 9, 32)]));
    return texts.filter(({ x, text }) => x < 300 && text.includes('32 B')).map(({ x }) => x);
  };
  assert.deepEqual(wordsAt(200), [20 + 80 + 14 + 3]);
  assert.deepEqual(wordsAt(112), [10 + 112 + 3]);
  assert.deepEqual(wordsAt(100), [20 + 80 + 14 + 3]);
});

test('where a cable that is drawn in full ends at the same side, no words stand over the line of another', () => {
  const largest = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 500, i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 9000 + i));
  const scene = sceneWith([forward, backward, ...largest, box(0, 20, 6)], [...cables, cable(10, 9, 32)]);
  const small = painted(scene).texts.filter(({ text }) => text.includes('32 B'));
  assert.deepEqual(
    small.map(({ text }) => text),
    ['f32[8] 32 B']
  );
});

test('a cable that is drawn in full for its box does not run through the words at its ends', () => {
  const largest = Array.from({ length: 4 }, (_, i) => [box(0, 20, i), box(1, 500, i)]).flat();
  const cables = [0, 1, 2, 3].map(i => cable(2 + 2 * i, 3 + 2 * i, 9000 + i));
  const placed = [forward, backward, ...largest, box(0, 20, 6), box(1, 500, 6)];
  const scene = sceneWith(placed, [...cables, cable(10, 11, 32)]);
  const steps: string[] = [];
  const painter: Painter = {
    rect: look => void (look === 'ground' && steps.push(look)),
    ground() {},
    route() {},
    plus() {},
    text: (_ink, _x, _y, text) => void steps.push(text),
    cable: () => void (steps[steps.length - 1] !== 'line' && steps.push('line'))
  };
  paintWholeCables(painter, scene, stubCables(scene, 10));
  assert.deepEqual(steps, ['line', '1 residual 32 B', 'ground', 'f32[8] 32 B', 'ground', '32 B']);
});

test('the label of a mark on a box at the end of a cable stands clear of what the cables say', () => {
  // No border of a frame keeps the label back.
  const around: Placed = { parent: -1, at: [0, 0, 720, 400] };
  const free = { ...box(0, 215, 1), parent: 6 };
  const boxes = [forward, backward, box(0, 215, 0), free, box(1, 425, 0), box(1, 425, 1), around];
  const mark = [{ box: 3, text: '12 gone +34' }];
  const areaOf = (scene: Scene) => {
    const [{ left, top, width }] = labelSpots(scene, [...mark]);
    return { left, right: left + width, top, bottom: top + LABEL_HEIGHT };
  };
  const tied = sceneWith(boxes, [cable(2, 4, 9_000, 2), cable(2, 5, 8_000, 2), cable(3, 4, 7_000, 2)]);
  const said = cableAreas(tied);
  assert.equal(said.length, 3);
  const covers = (scene: Scene): boolean => said.some(area => meet(area, areaOf(scene)));
  assert.ok(covers(sceneWith(boxes, [])), 'where it stands at first, it would be in the way');
  assert.ok(!covers(tied));
});

test('where one phase stands below the other, what a cable carries is said where it covers no box', () => {
  const above: Placed = { parent: -1, at: [100, 0, 300, 120] };
  const below: Placed = { parent: -1, at: [0, 200, 300, 200] };
  const scene = sceneWith(
    [above, below, box(0, 250, 1), box(1, 100, 8), { parent: 1, at: [150, 218, 80, 22] }],
    [cable(2, 3, 4096)]
  );
  const [label] = cableAreas(scene);
  const covered = solids(scene).filter(
    ({ left, right, top, bottom }) =>
      left < label.right && right > label.left && top < label.bottom && bottom > label.top
  );
  assert.deepEqual(covered, []);
});

test('thousands of short ends find room for their words in a moment', () => {
  const rows = 6000;
  const [left, right] = [0, 420].map(x => ({ parent: -1, at: [x, 0, 300, 40 + 35 * rows] }) as const);
  const boxes = Array.from({ length: rows }, (_, row) => [box(0, 20, row), box(1, 600, row)]).flat();
  const cables = Array.from({ length: rows }, (_, row) => cable(2 + 2 * row, 3 + 2 * row, rows - row));
  const start = performance.now();
  const { texts } = painted(sceneWith([left, right, ...boxes], cables));
  assert.ok(texts.length > rows);
  assert.ok(performance.now() - start < 2000);
});
