import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../../document/sketch.ts';
import { paintWholeCables, stubCables } from '../../draw/cables.ts';
import type { Painter, Scene } from '../../draw/scene.ts';
import { sceneOf } from '../../draw/sceneOf.ts';
import { showsMore, wordsFor } from './hovering.ts';

const LONG = 'a_name_of_a_function_that_is_far_too_long_for_a_box';

function scene(): Scene {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 8; i++) {
    value = sketch.op(i === 0 ? LONG : `op${i}`, [value], 'f32[4]');
  }
  sketch.result('result', value);
  const made = sceneOf(sketch);
  const box = (label: string): number => made.visible.label.indexOf(label);
  // Six cables into the last box, the first of them the largest.
  const cables = [1, 2, 3, 4, 5, 6].map(i => ({
    source: box(`op${i}`),
    target: box('op7'),
    values: i,
    bytes: 1000 * (10 - i)
  }));
  return { ...made, visible: { ...made.visible, cables } };
}

test('a name that is cut on its box is told in full', () => {
  const { visible } = scene();
  const box = visible.label.findIndex(label => label.endsWith('…'));
  assert.ok(box >= 0);
  assert.match(wordsFor(scene(), box), new RegExp(`^${LONG}`));
  assert.equal(wordsFor(scene(), -1), '');
});

test('a box of a kernel tells its bytes too, for which there may be no room at the hull', () => {
  const made = scene();
  const box = made.visible.label.indexOf('op3');
  const hulls = [{ label: 'fusion.2', note: '32 B → 16 B', boxes: [box, box + 1], edges: [] }];
  assert.match(wordsFor({ ...made, hulls }, box), /\nkernel fusion\.2: 32 B → 16 B$/);
  assert.doesNotMatch(wordsFor({ ...made, hulls }, box - 1), /kernel/);
});

test('the cables that are only ends show in full at either of their boxes, with what they carry', () => {
  const made = scene();
  const { label } = made.visible;
  assert.deepEqual(
    stubCables(made, label.indexOf('op7')).map(({ values }) => values),
    [5, 6]
  );
  assert.equal(showsMore(made, label.indexOf('op5')), true);
  assert.equal(showsMore(made, label.indexOf('op1')), false);
  const lines: string[] = [];
  const texts: string[] = [];
  const painter = {
    cable: (look: string) => lines.push(look),
    rect: () => undefined,
    text: (_ink: string, _x: number, _y: number, text: string) => texts.push(text)
  } as unknown as Painter;
  paintWholeCables(painter, made, stubCables(made, label.indexOf('op5')));
  assert.deepEqual(lines, ['cable']);
  assert.deepEqual(texts, ['5 residuals 5.0 kB']);
});
