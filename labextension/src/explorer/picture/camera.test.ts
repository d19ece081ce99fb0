import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold, pan, reveal, zoomAt } from './camera.ts';

test('the camera: zoom has a floor and a ceiling', () => {
  const camera = { x: 0, y: 0, scale: 1 };
  assert.equal(zoomAt(camera, 1e9, 0, 0).scale, 8);
  assert.equal(zoomAt(camera, 1e-9, 0, 0).scale, 0.02);
  // Where a large picture was fitted smaller than that, it does not jump.
  assert.equal(zoomAt({ ...camera, scale: 0.01 }, 0.5, 0, 0).scale, 0.01);
});

test('the camera: a part of the picture stays in view, however far it is moved', () => {
  const picture = { x: -12, y: -12, width: 300, height: 200 };
  const inside = { x: 20, y: -50, scale: 2 };
  assert.deepEqual(hold(inside, picture, 400, 300), inside);
  for (const [dx, dy] of [
    [9e9, 0],
    [-9e9, 0],
    [0, 9e9],
    [0, -9e9]
  ]) {
    const { x, y, scale } = hold(pan(inside, dx, dy), picture, 400, 300);
    const across = Math.min(x + 400 / scale, picture.x + picture.width) - Math.max(x, picture.x);
    const down = Math.min(y + 300 / scale, picture.y + picture.height) - Math.max(y, picture.y);
    assert.ok(across * scale >= 40 - 1e-6 && down * scale >= 40 - 1e-6, `${across} ${down}`);
  }
});

test('the camera: zooming keeps the point under the pointer, revealing moves as little as it must', () => {
  const camera = { x: 10, y: 20, scale: 0.5 };
  const zoomed = zoomAt(camera, 2, 100, 60);
  assert.deepEqual([zoomed.x + 100 / zoomed.scale, zoomed.y + 60 / zoomed.scale], [10 + 200, 20 + 120]);
  assert.deepEqual(pan(camera, 5, -5), { x: 0, y: 30, scale: 0.5 });
  const box = { x: 100, y: 100, width: 50, height: 20 };
  assert.deepEqual(reveal(camera, box, 400, 300), camera);
  const moved = reveal({ ...camera, x: 140 }, box, 400, 300);
  assert.ok(moved.x < 100 && moved.y === camera.y);
});
