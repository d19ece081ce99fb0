import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import { paintMarks } from './marks.ts';
import { MARGIN, type Painter } from './scene.ts';
import { sceneOf } from './sceneOf.ts';

test('what is written on a box stays inside the picture, at whatever end the box stands', () => {
  const sketch = new Sketch();
  const [a, b, c] = ['a', 'b', 'c'].map(name => sketch.op('neg', [sketch.argument(name, 'f32[4]')], 'f32[4]'));
  sketch.result('result', sketch.op('add', [sketch.op('mul', [a, b], 'f32[4]'), c], 'f32[4]'));
  const scene = sceneOf(sketch);
  const labels: { left: number; right: number }[] = [];
  const painter = {
    rect: (look: string, x: number, _y: number, width: number) => {
      if (look.startsWith('label-')) {
        labels.push({ left: x, right: x + width });
      }
    },
    text: () => undefined
  } as unknown as Painter;
  const text = '12,345 only here +678';
  const marks = Array.from({ length: scene.visible.count }, (_, box) => ({ box, kind: 'changed' as const, text }));
  paintMarks(painter, scene, marks, true);
  assert.equal(labels.length, scene.visible.count);
  for (const { left, right } of labels) {
    assert.ok(left >= -MARGIN && right <= scene.width - MARGIN, `from ${left} to ${right} of ${scene.width - MARGIN}`);
  }
});
