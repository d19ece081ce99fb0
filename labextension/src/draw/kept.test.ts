import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import type { Scene } from './scene.ts';
import { sceneOf } from './sceneOf.ts';
import { palettes } from './theme.ts';

/** A canvas that only counts what is asked of it. */
function canvas() {
  const calls = { fillRect: 0, drawImage: 0 };
  const context = new Proxy(
    {},
    {
      get: (_, name) => (name in calls ? () => calls[name as keyof typeof calls]++ : () => undefined),
      set: () => true
    }
  ) as CanvasRenderingContext2D;
  return { calls, context, canvas: { width: 0, height: 0, getContext: () => context } };
}

function large(): Scene {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 1600; i++) {
    value = sketch.op('mul', [value], 'f32[4]');
  }
  sketch.result('result', value);
  return sceneOf(sketch);
}

const plain = { selected: -1, linked: [], marks: [], faded: null, ways: null, edges: 1, arrives: () => false };
const size = { width: 800, height: 400, ratio: 1 };

test('a large picture is drawn once; then its copy moves, is stretched, and is made anew where it ends', async t => {
  const behind = canvas();
  Object.assign(globalThis, { document: { createElement: () => behind.canvas } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const { isKept, KeptGround } = await import('./kept.ts');
  const scene = large();
  const kept = new KeptGround();
  const front = canvas();
  const draw = (x: number, y: number, scale: number): boolean =>
    kept.draw(front.context, scene, { x, y, scale }, size, palettes.light, plain);
  assert.ok(isKept(scene, { x: 0, y: 0, scale: 0.02 }));
  assert.ok(!isKept(scene, { x: 0, y: 0, scale: 1 }), 'close by, words must be sharp');

  assert.ok(draw(0, 1000, 0.05));
  const drawn = behind.calls.fillRect;
  assert.ok(drawn > 100);
  assert.ok(draw(10, 1100, 0.05), 'moved, and sharp');
  assert.ok(!draw(10, 1100, 0.06), 'stretched');
  assert.equal(behind.calls.fillRect, drawn, 'nothing was drawn for it');
  assert.equal(front.calls.drawImage, 3);
  assert.ok(draw(10, 20_000, 0.05), 'beyond the copy');
  assert.ok(behind.calls.fillRect > drawn);
  const again = behind.calls.fillRect;
  assert.ok(draw(10, 20_000, 0.15), 'too far from its scale');
  assert.ok(behind.calls.fillRect > again);
});

test('once all of a large picture was in view, moving never waits: what is beyond the copy is there, coarser', async t => {
  const made: ReturnType<typeof canvas>[] = [];
  const createElement = () => {
    const behind = canvas();
    made.push(behind);
    return behind.canvas;
  };
  Object.assign(globalThis, { document: { createElement } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const { KeptGround } = await import('./kept.ts');
  const scene = large();
  const kept = new KeptGround();
  const front = canvas();
  const draw = (x: number, y: number, scale: number): boolean =>
    kept.draw(front.context, scene, { x, y, scale }, size, palettes.light, plain);
  const all = Math.min(size.width / scene.width, size.height / scene.height) / 2;
  assert.ok(draw(0, 0, all));
  assert.equal(made.length, 1);
  assert.ok(!draw(0, 5_000, 20 * all), 'far closer than the copy');
  assert.equal(made.length, 1, 'nothing was drawn for it');
  kept.refresh();
  assert.ok(draw(0, 5_000, 20 * all), 'at rest it is sharp');
  assert.equal(made.length, 2);
  const pasted = front.calls.drawImage;
  assert.ok(!draw(0, 25_000, 20 * all), 'beyond the copy');
  assert.equal(made.length, 2);
  assert.equal(front.calls.drawImage - pasted, 2, 'the whole, and what is near over it');
  kept.drop();
  assert.ok(made.every(one => one.canvas.width === 0));
});

test('small pictures are drawn as they are', async () => {
  const { isKept } = await import('./kept.ts');
  assert.ok(!isKept(sceneOf(new Sketch()), { x: 0, y: 0, scale: 0.1 }));
});
