import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loop, Sketch } from '../document/sketch.ts';
import { BOX_HEIGHT } from '../view/sizes.ts';
import { Shape } from '../view/visible.ts';
import { isWritten, LABEL_HEIGHT, labelSpots } from './labelSpots.ts';
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

test('a label stays inside the frame around its box, where it has a place there', () => {
  const scene = sceneOf(loop(), [1]);
  const { x, width } = scene.layout;
  const inside = [...scene.visible.parent.keys()].filter(box => scene.visible.parent[box] >= 0);
  assert.ok(inside.length > 2);
  const spots = labelSpots(
    scene,
    inside.map((box): Mark => ({ box, kind: 'changed', text: 'changed' }))
  );
  spots.forEach(({ left, width: wide }, at) => {
    const frame = scene.visible.parent[inside[at]];
    assert.ok(left >= x[frame] && left + wide <= x[frame] + width[frame], scene.visible.label[inside[at]]);
  });
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

/** Boxes as near to each other as they can be, in rows of eight. */
function crowded(): Scene {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  for (let at = 0; at < 40; at++) {
    sketch.op('neg', [x], 'f32[4]');
  }
  const made = sceneOf(sketch);
  const boxes = [...made.layout.x.keys()];
  return {
    ...made,
    layout: {
      ...made.layout,
      x: Float64Array.from(boxes, box => (box % 8) * 50),
      y: Float64Array.from(boxes, box => Math.floor(box / 8) * (BOX_HEIGHT + 12)),
      width: Float64Array.from(boxes, () => 44)
    }
  };
}

test('where there is no room for all labels, some are shorter or left out, and none stands on other words', () => {
  const scene = crowded();
  const marks = Array.from({ length: scene.visible.count }, (_, box): Mark => {
    const many = box % 3 > 0;
    return { box, kind: 'changed', text: many ? '1,200 changed' : 'changed', short: many ? '1,200' : '' };
  });
  const spots = labelSpots(scene, marks);
  const area = ({ left, top, width }: (typeof spots)[number]): Area => ({
    left,
    right: left + width,
    top: top + 2,
    bottom: top + LABEL_HEIGHT - 2
  });
  const written = spots.filter(isWritten);
  const words = solid(scene).map(({ top, bottom, ...sides }) => ({ ...sides, top: top + 4, bottom: bottom - 4 }));
  for (const spot of written) {
    const others = written.filter(other => other !== spot).map(area);
    assert.ok(
      ![...others, ...words].some(other => meet(area(spot), other)),
      `${spot.text} at ${spot.left}, ${spot.top}`
    );
  }
  const told = new Set(spots.map(({ text }) => text));
  assert.deepEqual([...told].sort(), ['', '1,200', '1,200 changed', 'changed']);
  // Those that say least give way.
  const share = (many: boolean): number => {
    const of = spots.filter((_, at) => (marks[at].short !== '') === many);
    return of.filter(isWritten).length / of.length;
  };
  assert.ok(share(true) > 1.2 * share(false), `${share(true)} of those with a number, ${share(false)} of the others`);
});

test('a label without room for a letter is not painted', () => {
  const scene = crowded();
  const marks = [...scene.layout.x.keys()].map((box): Mark => ({ box, kind: 'changed', text: 'changed', short: '' }));
  const painted: string[] = [];
  const painter = {
    rect: (look: string) => look.startsWith('label-') && painted.push(look),
    text: (_ink: string, _x: number, _y: number, text: string) => painted.push(text)
  } as unknown as Painter;
  paintMarks(painter, scene, marks, true);
  assert.ok(painted.length < 2 * marks.length && !painted.includes(''));
});
