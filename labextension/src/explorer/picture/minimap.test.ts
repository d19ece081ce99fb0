import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../../document/sketch.ts';
import { MARGIN, type Scene } from '../../draw/scene.ts';
import { sceneOf } from '../../draw/sceneOf.ts';
import { palettes } from '../../draw/theme.ts';
import { Minimap } from './minimap.ts';
import { withWindow } from '../testWindow.ts';

const window = withWindow();
const room = { width: 900, height: 600, left: 0, right: 0, top: 0, bottom: 0 };

/** A picture that is higher than its window, and less wide. */
function tall(): Scene {
  const sketch = new Sketch();
  const chain = Array.from({ length: 60 }).reduce(
    (value: ReturnType<Sketch['op']>) => sketch.op('mul', [value], 'f32[4]'),
    sketch.argument('x', 'f32[4]')
  );
  sketch.result('result', chain);
  return sceneOf(sketch);
}

test('pixels are kept for a map that is shown alone', () => {
  const scene = tall();
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

test('however far the mark is dragged, the window shows no more beside the picture than what is covered of it', () => {
  const scene = tall();
  const host = window().document.createElement('div') as unknown as HTMLElement;
  let middle = { x: NaN, y: NaN };
  const map = new Minimap(host, (x, y) => (middle = { x, y }));
  const covered = { ...room, height: 300, top: 24, right: 250 };
  map.update(scene, { x: -MARGIN, y: -MARGIN, scale: 1 }, covered, palettes.light);
  const [width, height] = [scene.width / 10, scene.height / 10];
  Object.assign(map.canvas, { getBoundingClientRect: () => ({ left: 0, top: 0, width, height }) });
  Object.assign(map.canvas, { setPointerCapture: () => undefined });
  const press = (kind: string, clientX: number, clientY: number): void => {
    const event = new (window().PointerEvent)(kind, { pointerId: 1, clientX, clientY });
    map.canvas.dispatchEvent(event as unknown as Event);
  };
  press('pointerdown', width / 2, 1);
  press('pointermove', width / 2, 10 * height);
  assert.equal(middle.y + 150, scene.height - MARGIN, 'the end of the picture at the lower end of the window');
  press('pointermove', width / 2, -10 * height);
  assert.equal(middle.y - 150, -MARGIN - 24, 'its beginning below what covers the upper end');
  press('pointermove', -10 * width, 0);
  assert.equal(middle.x + 450, scene.width - MARGIN + 250, 'all of what is less wide is in view');
  press('pointermove', 10 * width, 0);
  assert.equal(middle.x - 450, -MARGIN);
});
