import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { BindingKind } from '../document/graph.ts';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { openEverything } from './opening.ts';
import { itemOfNode } from './folds.ts';
import { rowsOf } from './outline.ts';
import { around, between, Way, type Relations, type Seen } from './relations.ts';
import { show } from './view.ts';

function seen(sketch: Sketch): Seen {
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const visible = show(document, graph, { open: openEverything(rowsOf(document, graph), true) });
  return { document, visible, spread: new Set() };
}

/** Labels of the boxes that have something to do with the selection. */
const together = ({ visible }: Seen, { apart }: Relations): string[] => visible.label.filter((_, box) => !apart[box]);

/** Two chains that meet in `add`; `neg` stands apart. */
function fork(): Sketch {
  const sketch = new Sketch();
  const [x, y] = [sketch.argument('x', 'f32[2]'), sketch.argument('y', 'f32[2]')];
  const left = sketch.op('sin', [x], 'f32[2]');
  const right = sketch.op('cos', [y], 'f32[2]');
  const sum = sketch.op('add', [left, right], 'f32[2]');
  sketch.result('out', sketch.op('tanh', [sum], 'f32[2]'));
  sketch.result('other', sketch.op('neg', [right], 'f32[2]'));
  return sketch;
}

test('what leads to a selection and what it leads to; the rest stands apart', () => {
  const all = seen(fork());
  const found = around(all, itemOfNode(2));
  assert.deepEqual(together(all, found), ['x', 'sin', 'add', 'tanh', 'out']);
  assert.equal(found.words, 'used by 2 operations');
  const words = (box: number): string => around(all, itemOfNode(box)).words;
  assert.equal(words(5), 'made from 3 operations, used by no other operation');
  const { source, target, label } = all.visible;
  const ways = [...found.ways].map((way, edge) => [way, label[source[edge]], label[target[edge]]]);
  assert.deepEqual(
    ways.filter(([way]) => way === Way.to),
    [[Way.to, 'x', 'sin']]
  );
  assert.deepEqual(
    ways.filter(([way]) => way === Way.from).map(way => way[2]),
    ['add', 'tanh', 'out']
  );
});

test('the ways between two boxes, whichever is chosen first', () => {
  const all = seen(fork());
  const [sin, cos, tanh, neg] = [2, 3, 5, 7].map(itemOfNode);
  for (const [one, other] of [
    [sin, tanh],
    [tanh, sin]
  ]) {
    const found = between(all, one, other);
    assert.deepEqual(together(all, found), ['sin', 'add', 'tanh']);
    assert.equal(found.words, 'from sin to tanh: 1 operation on the way');
  }
  assert.equal(between(all, cos, neg).words, 'from cos to neg: directly');
  assert.equal(between(all, sin, neg).words, 'nothing leads from sin to neg or back');
});

test('a way leads into a loop and out of it, and not through values that it does not use', () => {
  const all = seen(loop());
  const out = between(all, itemOfNode(0), itemOfNode(11));
  assert.match(out.words, /^from w to neg: 2 operations on the way/);
  assert.ok(together(all, out).includes('mul'));
  // What the slice gives does not come from the first state.
  const slice = around(all, itemOfNode(6));
  assert.ok(!together(all, slice).includes('mul'));
});

test('through the next turn of a loop only where there is no other way', () => {
  const all = seen(loop());
  const [mul, add] = [7, 8].map(itemOfNode);
  assert.doesNotMatch(between(all, mul, add).words, /turn/);
  assert.match(between(all, itemOfNode(6), mul).words, /through the next turn of a loop/);
});

test('what a loop hands on is made from its start at first, then from the turn before', () => {
  const all = seen(loop());
  const { graph } = all.visible;
  const binding = graph.bindingKind.indexOf(BindingKind.carry);
  const { words } = around(all, itemOfNode(graph.bindingTo[binding]));
  assert.match(words, /^made from \d+ operations? from the second turn on, used by/);
});

test('where nothing leads to an operation nor on from it, that is said once', () => {
  const sketch = new Sketch();
  sketch.result('out', sketch.op('sin', [sketch.argument('x', 'f32[2]')], 'f32[2]'));
  assert.equal(around(seen(sketch), itemOfNode(1)).words, 'no other operation leads here or goes on from here');
});

test('everything belongs to the only operation of a chain', () => {
  const all = seen(affine());
  assert.deepEqual([...around(all, itemOfNode(4)).apart], [0, 0, 0, 0, 0, 0, 0]);
});
