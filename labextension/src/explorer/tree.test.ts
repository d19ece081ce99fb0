import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import { sceneOf } from '../draw/sceneOf.ts';
import { describe } from './tree.ts';

test('a listener is told all of a name that is cut on its box', () => {
  const name = 'a_name_of_a_function_that_is_far_too_long_for_a_box';
  const sketch = new Sketch();
  sketch.result('result', sketch.op(name, [sketch.argument('x', 'f32[4]')], 'f32[4]'));
  const { visible } = sceneOf(sketch);
  const box = [...visible.whole.keys()][0];
  assert.notEqual(visible.label[box], name);
  assert.ok(describe(visible, box).startsWith(name));
});
