import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_SLIDE, PORT_INSET, RESULT_SLIDE } from './distances.ts';
import { Pin } from './input.ts';
import { layout } from './layout.ts';
import { graph } from './layout.test.ts';

function ends(boxes: { width: number; pin?: number }[], edges: [number, number][]) {
  const out = layout(graph(boxes, edges));
  const middle = (box: number): number => out.x[box] + out.width[box] / 2;
  return edges.map(([source, target], edge) => ({
    start: out.route[2 * out.routeStart[edge]] - middle(source),
    end: out.route[2 * out.routeStart[edge + 1] - 2] - middle(target)
  }));
}

test('an edge that is alone on its side slides towards where it goes, and stays off the corner', () => {
  const wide = Array.from({ length: 4 }, () => ({ width: 100 }));
  const [left, middle, right] = ends(wide, [
    [0, 3],
    [1, 3],
    [2, 3]
  ]);
  assert.equal(middle.start, 0);
  const most = Math.min(MOST_SLIDE, 50 - PORT_INSET);
  assert.deepEqual([left.start, right.start], [most, -most]);
  assert.ok(left.end < middle.end && middle.end < right.end, 'operands keep their order');
});

test('edges of one value begin at one point', () => {
  const [one, other] = ends(
    [{ width: 100 }, { width: 60 }, { width: 60 }],
    [
      [0, 1],
      [0, 2]
    ]
  );
  assert.equal(one.start, 0);
  assert.equal(other.start, 0);
});

test('boxes of different width that stand under each other are joined by an upright line', () => {
  for (const { start, end } of ends(
    [{ width: 40 }, { width: 120 }, { width: 60 }],
    [
      [0, 1],
      [1, 2]
    ]
  )) {
    assert.equal(start, 0);
    assert.equal(end, 0);
  }
});

test('an edge to a result ends above its words', () => {
  const results = Array.from({ length: 3 }, () => ({ width: 120, pin: Pin.bottom }));
  const edges = ends(
    [{ width: 60 }, ...results],
    [
      [0, 1],
      [0, 2],
      [0, 3]
    ]
  );
  assert.deepEqual(
    edges.map(({ end }) => end),
    [RESULT_SLIDE, 0, -RESULT_SLIDE]
  );
});
