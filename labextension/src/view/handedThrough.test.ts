/** Results that no operation makes: arguments that are given back as they came, and constants. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { rowsOf } from './outline.ts';
import { boxOfNode } from './seen.ts';
import { show } from './view.ts';
import { Shape } from './visible.ts';

/** A step that changes one of its weights and gives back the others, and whatever is `given` beside them. */
function step(weights: number, given: readonly string[] = []): ReturnType<typeof seen> {
  const sketch = new Sketch('step');
  const all = Array.from({ length: weights }, (_, at) => sketch.argument(`state['w${at}']`, 'f32[4]'));
  const changed = sketch.op('mul', [all[0], '0.9'], 'f32[4]');
  [changed, ...all.slice(1), ...given].forEach((value, at) => sketch.result(`new['w${at}']`, value));
  return seen(sketch);
}

function seen(sketch: Sketch) {
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const visible = show(document, graph, { open: new Set() });
  const rows = rowsOf(document, graph);
  const boxes = [...visible.shape.keys()].filter(box => visible.shape[box] === Shape.port);
  const ports = boxes.map(box => [visible.label[box], visible.detail[box]].filter(Boolean).join(' '));
  return { visible, ports, boxes, boxOf: (node: number) => boxOfNode(rows, visible, node), last: sketch.last };
}

test('many results that are arguments as they came are one box, with what they are beside it', () => {
  const { visible, ports, boxes, boxOf, last } = step(12);
  assert.deepEqual(ports, ['11 results unchanged']);
  assert.deepEqual(
    visible.chips.get(boxes[0])?.map(({ text }) => text),
    ['state x11']
  );
  assert.equal(visible.whole.get(boxes[0])?.split('\n')[1], "new['w1']");
  // Each of them is found in that box.
  assert.deepEqual(new Set(Array.from({ length: 11 }, (_, at) => boxOf(last - at))), new Set(boxes));
  assert.equal(visible.others.get(boxes[0])?.length, 10);
});

test('a few are named one by one', () => {
  const { visible, ports } = step(3, ['0.0', '1.0']);
  assert.ok(!ports.some(port => port.includes('unchanged')), ports.join());
  assert.equal(visible.others.size, 0);
});

test('where constants are among them, not all are unchanged', () => {
  const { ports } = step(12, ['0.0']);
  assert.deepEqual(ports, ['12 results']);
});
