import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loop } from '../../document/sketch.ts';
import { sceneOf } from '../../draw/sceneOf.ts';
import { between, cameraBetween } from './transition.ts';

/** A region that opens: boxes that were there keep to themselves, those inside are new. */
function opening(): { before: ReturnType<typeof sceneOf>; after: ReturnType<typeof sceneOf>; from: Int32Array } {
  const [before, after] = [sceneOf(loop()), sceneOf(loop(), [1])];
  const from = after.visible.item.map(item => before.visible.item.indexOf(item));
  return { before, after, from };
}

test('boxes begin where they stood, end where they belong, and never turn back on the way', () => {
  const { before, after, from } = opening();
  const kept = [...from.keys()].filter(box => from[box] >= 0);
  assert.ok(kept.length > 1 && kept.length < from.length);
  const steps = Array.from({ length: 21 }, (_, i) => between(before, after, from, i / 20));
  for (const name of ['x', 'y', 'width', 'height'] as const) {
    for (const box of kept) {
      const [start, end] = [before.layout[name][from[box]], after.layout[name][box]];
      const values = steps.map(step => step[name][box]);
      assert.ok(Math.abs(values[0] - start) < 1e-9 && Math.abs(values[20] - end) < 1e-9);
      values.slice(1).forEach((value, i) => assert.ok((value - values[i]) * (end - start) >= -1e-9));
      // Smooth: no step is more than a tenth of the way.
      values
        .slice(1)
        .forEach((value, i) => assert.ok(Math.abs(value - values[i]) <= 0.1 * Math.abs(end - start) + 1e-9));
    }
  }
});

test('what is new stands at its place from the start', () => {
  const { before, after, from } = opening();
  const first = between(before, after, from, 0);
  const added = [...from.keys()].filter(box => from[box] < 0);
  assert.ok(added.length > 0);
  for (const box of added) {
    assert.deepEqual([first.x[box], first.y[box]], [after.layout.x[box], after.layout.y[box]]);
  }
});

test('a box that stands still on the screen does so at every moment of the way', () => {
  const { before, after, from } = opening();
  const box = from.findIndex(old => old >= 0);
  const place = fc.double({ min: -500, max: 500, noNaN: true });
  fc.assert(
    fc.property(place, place, fc.double({ min: 0, max: 1, noNaN: true }), (x, y, t) => {
      const [was, is] = [before.layout, after.layout];
      const moved = { x: x + is.x[box] - was.x[from[box]], y: y + is.y[box] - was.y[from[box]], scale: 1 };
      const camera = cameraBetween({ x, y, scale: 1 }, moved, t);
      const now = between(before, after, from, t);
      assert.ok(Math.abs(now.x[box] - camera.x - (was.x[from[box]] - x)) < 1e-6);
      assert.ok(Math.abs(now.y[box] - camera.y - (was.y[from[box]] - y)) < 1e-6);
    })
  );
});
