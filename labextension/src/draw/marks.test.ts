import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loop, Sketch } from '../document/sketch.ts';
import { Shape } from '../view/visible.ts';
import { LABEL_HEIGHT, labelSpots } from './labelSpots.ts';
import { paintMarks, type Mark } from './marks.ts';
import { MARGIN, type Painter, type Scene } from './scene.ts';
import { sceneOf } from './sceneOf.ts';
import { meet, solid, type Area } from './solid.ts';

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

/** How many things of the picture each label reaches into by more than its own border. */
function covered(scene: Scene, marks: readonly Mark[]): number[] {
  const areas = labelSpots(scene, marks).map(({ left, top, width }): Area => ({
    left,
    right: left + width,
    top: top + 2,
    bottom: top + LABEL_HEIGHT - 2
  }));
  return areas.map((area, at) => {
    const others = [...solid(scene), ...areas.filter((_, other) => other !== at)];
    return others.filter(other => meet(area, other)).length;
  });
}

test('labels of marks cover neither each other nor what else is written: titles of frames, chips, counts of copies', () => {
  const scene = sceneOf(loop(), [1]);
  for (const text of ['folded', '199 folded', 'only here', '12,345 only here +678']) {
    const boxes = Array.from({ length: scene.visible.count }, (_, box) => box);
    const marks = boxes.map((box): Mark => ({ box, kind: 'fused', text }));
    assert.deepEqual(covered(scene, marks), boxes.fill(0), text);
  }
});

test('the number of copies stands over the outline of a mark', () => {
  const made = sceneOf(loop(), [1]);
  const box = made.visible.shape.indexOf(Shape.box);
  const scene = {
    ...made,
    visible: { ...made.visible, times: made.visible.times.map((_, at) => (at === box ? 12 : 1)) }
  };
  const painted: string[] = [];
  const painter = { rect: (look: string) => painted.push(look), text: () => undefined } as unknown as Painter;
  paintMarks(painter, scene, [{ box, kind: 'added', text: '12 new' }], true);
  assert.deepEqual(painted, ['mark-added', 'badge', 'label-added']);
});
