import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { fadedBoxes } from './faded.ts';
import { itemOfNode } from './folds.ts';
import { rowsOf } from './outline.ts';
import { show } from './view.ts';

test('an argument that is a chip is seen at the boxes that read it', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[8]');
  const weight = sketch.argument("params['w']", 'f32[8]');
  const scaled = sketch.op('mul', [x, weight], 'f32[8]');
  sketch.result('result', sketch.op('sin', [scaled], 'f32[8]'));
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const visible = show(document, graph, { open: new Set() });
  const lit = (node: number): string[] => {
    const faded = fadedBoxes(rowsOf(document, graph), visible, [itemOfNode(node)]);
    return visible.label.filter((_, box) => faded?.[box] === 0);
  };
  assert.ok(!visible.label.includes("params['w']"));
  assert.deepEqual(lit(1), ['mul']);
  assert.deepEqual(lit(0), ['x']);
  assert.equal(fadedBoxes(rowsOf(document, graph), visible, []), null);
});

test('of many arguments that are only counted, each is seen at its own reader', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[8]');
  const many = Array.from({ length: 9 }, (_, i) => sketch.argument(`params['w${i}']`, 'f32[8]'));
  const joined = sketch.op('concatenate', [x, ...many], 'f32[80]');
  sketch.result('result', sketch.op('sin', [joined], 'f32[80]'));
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const visible = show(document, graph, { open: new Set() });
  for (let node = 1; node <= many.length; node++) {
    const faded = fadedBoxes(rowsOf(document, graph), visible, [itemOfNode(node)]);
    assert.deepEqual(
      visible.label.filter((_, box) => faded?.[box] === 0),
      ['concatenate']
    );
  }
});
