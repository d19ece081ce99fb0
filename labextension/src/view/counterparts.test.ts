import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { counterparts } from './counterparts.ts';
import { show } from './view.ts';

/** A program of a sum and a product as two stages, with these links from the operations of the one to the other's. */
function linked(...links: (readonly [from: string, to: string])[]): string[] {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const ops = new Map([['add', sketch.last + 1]]);
  const sum = sketch.op('add', [x], 'f32[4]');
  ops.set('mul', sketch.last + 1);
  sketch.result('result', sketch.op('mul', [sum], 'f32[4]'));
  const plain = sketch.plain();
  const [source, target] = [0, 1].map(end => links.map(link => ops.get(link[end]) as number));
  const document = decodePlain({
    ...plain,
    graphs: [plain.graphs[0], plain.graphs[0]],
    programs: [{ ...plain.programs[0], stages: [...plain.programs[0].stages, { kind: 'hlo', graph: 1, seconds: {} }] }],
    links: [{ from: 0, to: 1, source, target, kind: links.map(() => 0), shares: {} }]
  });
  const [before, after] = document.graphs.map(graph => show(document, graph, { open: new Set() }));
  const from = counterparts(document, before, after);
  return ['add', 'mul', 'x'].map(name => before.label[from[after.label.indexOf(name)]] ?? 'new');
}

test('a box that holds operations of two is the one that no other box is', () => {
  assert.deepEqual(linked(['add', 'add'], ['mul', 'mul']), ['add', 'mul', 'x']);
  assert.deepEqual(linked(['add', 'add'], ['add', 'mul'], ['mul', 'mul']), ['add', 'mul', 'x']);
  assert.deepEqual(linked(['add', 'add'], ['mul', 'add'], ['mul', 'mul']), ['add', 'mul', 'x']);
});

test('what one box has become, all are; and what comes from none is new', () => {
  assert.deepEqual(linked(['add', 'add'], ['add', 'mul']), ['add', 'add', 'x']);
  assert.deepEqual(linked(['mul', 'mul']), ['new', 'mul', 'x']);
});
