import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { measure } from '../draw/text.ts';
import { layout } from '../layout/layout.ts';
import { toLayout } from './place.ts';
import { show } from './view.ts';
import type { VisibleGraph } from './visible.ts';

/** A condition whose branches are all open. */
function open(branches: number): VisibleGraph {
  const sketch = new Sketch();
  const which = sketch.op('clamp', [sketch.argument('which', 'i32[]')], 'i32[]');
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.op('cond', [which, x], 'f32[4]');
  const owner = sketch.last;
  for (let branch = 0; branch < branches; branch++) {
    sketch.region(owner, 'branch', `case ${branch}`, () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
      sketch.result('', sketch.op('sin', [inner], 'f32[4]'), { kind: 'leave', to: y });
    });
  }
  sketch.result('result', sketch.op('exp', [y], 'f32[4]'));
  const document = decodePlain(sketch.plain());
  return show(document, document.graphs[0], { open: new Set(Array.from({ length: branches + 1 }, (_, i) => i + 1)) });
}

function edgesInto(visible: VisibleGraph, label: string): string[] {
  const at = visible.label.indexOf(label);
  return [...visible.target.keys()]
    .filter(edge => visible.target[edge] === at)
    .map(edge => visible.label[visible.source[edge]]);
}

test('of few branches each leads on by itself', () => {
  assert.deepEqual(edgesInto(open(3), 'exp'), ['sin', 'sin', 'sin']);
});

test('of many branches the condition leads on as a whole, and each says that it gives the result', () => {
  const visible = open(40);
  assert.deepEqual(edgesInto(visible, 'exp'), ['cond']);
  const given = [...visible.chips.values()].filter(chips => chips.some(({ text }) => text === '→ result'));
  assert.equal(given.length, 40);
});

test('many branches stand in rows, in the order of the program, in a shape that can be read', () => {
  const visible = open(40);
  const { totalWidth, totalHeight, x, y } = layout(toLayout(visible, measure, { aspect: 1.5 }));
  assert.ok(totalWidth < 4 * totalHeight, `${totalWidth} x ${totalHeight}`);
  const cases = Array.from({ length: 40 }, (_, branch) => visible.label.indexOf(`case ${branch}`));
  cases.slice(1).forEach((box, index) => {
    const before = cases[index];
    assert.ok(y[box] > y[before] || (y[box] === y[before] && x[box] > x[before]), `${visible.label[box]}`);
  });
});
