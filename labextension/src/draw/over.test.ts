import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import { layersOf } from './over.ts';
import { sceneOf } from './sceneOf.ts';

test('of two edges that cross, one stands in a higher layer and has a halo there', () => {
  const sketch = new Sketch();
  const [a, b] = ['a', 'b'].map(name => sketch.op('neg', [sketch.argument(name, 'f32[4]')], 'f32[4]'));
  sketch.result(
    'result',
    sketch.op('sub', [sketch.op('sub', [b, a], 'f32[4]'), sketch.op('sub', [a, b], 'f32[4]')], 'f32[4]')
  );
  const { layer, halos } = layersOf(sceneOf(sketch));
  assert.equal(new Set(layer).size, 2);
  assert.equal(halos[0].length, 0);
  assert.ok(halos[1].length > 0);
  assert.ok(halos[1].every(({ edge }) => layer[edge] === 1));
});

test('edges of one value stand together, and what crosses nothing stays below', () => {
  const sketch = new Sketch();
  const x = sketch.op('sin', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  sketch.result(
    'result',
    sketch.op('add', [sketch.op('cos', [x], 'f32[4]'), sketch.op('exp', [x], 'f32[4]')], 'f32[4]')
  );
  const { layer, halos } = layersOf(sceneOf(sketch));
  assert.deepEqual([...new Set(layer)], [0]);
  assert.ok(halos.every(list => list.length === 0));
});

test('crossings of thousands of edges side by side are found in no longer than their layout takes', () => {
  const wide = new Sketch();
  const tree = [wide.argument('x', 'f32[4]')];
  for (let i = 0; i < 5000; i++) {
    tree.push(wide.op('sin', [tree[i >> 1]], 'f32[4]'));
  }
  const began = process.cpuUsage().user;
  const scene = sceneOf(wide);
  const laidOut = process.cpuUsage().user;
  layersOf(scene);
  assert.ok(process.cpuUsage().user - laidOut < laidOut - began);
});
