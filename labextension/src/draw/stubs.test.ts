import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine } from '../document/sketch.ts';
import { sceneOf } from './sceneOf.ts';
import { paintStubs, wayOf } from './stubs.ts';
import { routeOf, type Painter, type Scene } from './scene.ts';

/** The scene with its first edge left out by the layout. */
function withStub(): Scene {
  const scene = sceneOf(affine());
  const { layout } = scene;
  const cut = layout.routeStart[1];
  return {
    ...scene,
    layout: {
      ...layout,
      routeStart: layout.routeStart.map(start => Math.max(0, start - cut)),
      route: layout.route.slice(2 * cut)
    }
  };
}

function painted(scene: Scene): number[][] {
  const routes: number[][] = [];
  const painter = { route: (_: string, points: Float64Array) => routes.push([...points]) } as unknown as Painter;
  paintStubs(painter, scene);
  return routes;
}

test('an edge without a route has its ends drawn, at the boxes that it joins', () => {
  const scene = withStub();
  const { layout, visible } = scene;
  const [source, target] = [visible.source[0], visible.target[0]];
  const [leaving, coming] = painted(scene);
  assert.equal(leaving[1], layout.y[source] + layout.height[source]);
  assert.equal(coming[3], layout.y[target]);
  assert.ok(coming[1] < coming[3] && leaving[3] > leaving[1]);
  assert.deepEqual([...wayOf(scene, 0)], [leaving[0], leaving[1], coming[2], coming[3]]);
});

test('edges with a route have no such ends', () => {
  const scene = sceneOf(affine());
  assert.deepEqual(painted(scene), []);
  assert.deepEqual(wayOf(scene, 0), routeOf(scene.layout, 0));
});
