import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../../document/sketch.ts';
import { sceneOf } from '../../draw/sceneOf.ts';
import { describe, fillTree } from './tree.ts';
import { withExplorers } from '../testExplorer.ts';

withExplorers();

test('a listener is told all of a name that is cut on its box', () => {
  const name = 'a_name_of_a_function_that_is_far_too_long_for_a_box';
  const sketch = new Sketch();
  sketch.result('result', sketch.op(name, [sketch.argument('x', 'f32[4]')], 'f32[4]'));
  const { visible } = sceneOf(sketch);
  const box = [...visible.whole.keys()][0];
  assert.notEqual(visible.label[box], name);
  assert.ok(describe(visible, box).startsWith(name));
});

test('a listener is told what a box reads, of many values the first by name', () => {
  const sketch = new Sketch();
  const makers = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => sketch.op(name, [], 'f32[4]'));
  sketch.result('result', sketch.op('concatenate', makers, 'f32[24]'));
  const tree = document.createElement('div');
  fillTree(tree, sceneOf(sketch).visible, 'p-');
  const told = [...tree.children].map(item => item.textContent ?? '').find(text => text.startsWith('concatenate'));
  assert.match(told ?? '', /reads a, b, c, d and 2 more$/);
});

test('a listener is told how many residuals lead to a box, also where another counts them', () => {
  const sketch = new Sketch();
  const made = sketch.op('sin', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  sketch.result('result', sketch.op('cos', [made], 'f32[4]'));
  const { visible } = sceneOf(sketch);
  const [source, target] = ['sin', 'cos'].map(name => visible.label.indexOf(name));
  const told = [
    { values: 2, shared: 1 },
    { values: 0, shared: 3 },
    { values: 0, shared: 0 }
  ].map(counts => {
    const tree = document.createElement('div');
    fillTree(tree, { ...visible, cables: [{ source, target, bytes: 0, ...counts }] }, 'p-');
    return tree.children[target].textContent;
  });
  assert.deepEqual(told, [
    'cos, reads sin, 2 residuals of sin',
    'cos, reads sin, 3 shared residuals of sin',
    'cos, reads sin'
  ]);
});
