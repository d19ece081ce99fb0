import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import { sceneOf } from '../draw/sceneOf.ts';
import { palettes } from '../draw/theme.ts';
import { Minimap } from './minimap.ts';
import { withWindow } from './testWindow.ts';

const window = withWindow();
const room = { width: 900, height: 600, right: 0, bottom: 0 };

test('pixels are kept for a map that is shown alone', () => {
  const sketch = new Sketch();
  const chain = Array.from({ length: 60 }).reduce(
    (value: ReturnType<Sketch['op']>) => sketch.op('mul', [value], 'f32[4]'),
    sketch.argument('x', 'f32[4]')
  );
  sketch.result('result', chain);
  const scene = sceneOf(sketch);
  const host = window().document.createElement('div') as unknown as HTMLElement;
  const map = new Minimap(host, () => undefined);
  const pixels = (): number => map.canvas.width * map.canvas.height;
  const show = (scale: number): void => map.update(scene, { x: 0, y: 0, scale }, room, palettes.light);
  assert.equal(pixels(), 0, 'before there is one');
  show(1);
  assert.ok(!map.canvas.hidden && pixels() > 100);
  map.drop();
  assert.equal(pixels(), 0, 'while it is out of sight');
  show(1);
  assert.ok(pixels() > 100, 'in sight again');
  show(0.01);
  assert.ok(map.canvas.hidden);
  assert.equal(pixels(), 0, 'where all is in view');
});
