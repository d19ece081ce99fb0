import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loop, threeCarried } from '../document/sketch.ts';
import { BOX_HEIGHT } from '../view/sizes.ts';
import { paintCarries } from './carry.ts';
import type { Painter, Scene } from './scene.ts';
import { sceneOf } from './sceneOf.ts';

/** The ways back of a scene, each as pairs of points. */
function waysBack(scene: Scene): [number, number, number, number][][] {
  const ways: [number, number, number, number][][] = [];
  const route = (look: string, points: Float64Array): void => {
    if (look === 'carry') {
      ways.push(
        Array.from({ length: points.length / 2 - 1 }, (_, i) => [...points.subarray(2 * i, 2 * i + 4)]) as [
          number,
          number,
          number,
          number
        ][]
      );
    }
  };
  paintCarries({ route } as Partial<Painter> as Painter, scene);
  return ways;
}

test('the way back into a loop passes by the boxes that stand beside its ends', () => {
  const scene = sceneOf(loop(), [1]);
  const { visible, layout } = scene;
  const ways = waysBack(scene);
  assert.equal(ways.length, 1);
  for (const [x1, y1, x2, y2] of ways[0]) {
    assert(x1 === x2 || y1 === y2);
    for (let box = 0; box < visible.count; box++) {
      const [left, top] = [layout.x[box], layout.y[box]];
      const inside = (from: number, to: number, low: number, high: number): boolean =>
        Math.max(from, to) > low && Math.min(from, to) < high;
      const through =
        visible.shape[box] !== 1 &&
        inside(x1, x2, left, left + layout.width[box]) &&
        inside(y1, y2, top + 1, top + BOX_HEIGHT - 1);
      assert(!through, `${visible.label[box]} is passed through by ${[x1, y1, x2, y2]}`);
    }
  }
});

test('the way back to where a body begins ends in its frame, beside the title and above all boxes', () => {
  const scene = sceneOf(threeCarried(), [1]);
  const { visible, layout } = scene;
  const frame = visible.label.indexOf('cell');
  const ways = waysBack(scene);
  assert.equal(ways.length, 3);
  const highest = Math.min(...layout.y.filter((_, box) => visible.parent[box] === frame));
  for (const way of ways) {
    const [, , x, y] = way[way.length - 1];
    assert(layout.y[frame] < y && y < highest, `${layout.y[frame]} ${y} ${highest}`);
    assert(layout.x[frame] + layout.width[frame] / 2 < x && x < layout.x[frame] + layout.width[frame]);
  }
});
