import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { BindingKind } from '../document/graph.ts';
import { condition, loop, Sketch } from '../document/sketch.ts';
import { keptOf, tallied } from './residuals.ts';

/** What is kept of all values, by the nodes that make it, where the document names the makers. */
function keptWhere(sketch: Pick<Sketch, 'plain'>, node: readonly number[]): number[] {
  const plain = sketch.plain();
  plain.residuals = [{ graph: 0, node, size: node.map(() => 4), order: node.map(() => 1), policies: [] }] as never;
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  return keptOf(document, graph)(graph.valueNode.keys()).map(value => graph.valueNode[value]);
}

/** A call that gives what it makes, what it was handed and a number. */
function call(): { sketch: Sketch; outer: number; inner: number } {
  const sketch = new Sketch();
  const made = sketch.op('tanh', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  const outer = sketch.last;
  const given = sketch.op('jit', [made], ['f32[4]', 'f32[4]', 'f32[]']);
  let inner = -1;
  sketch.region(sketch.last, 'jit', 'jit', () => {
    const handed = sketch.argument('y', 'f32[4]', { kind: 'enter', from: made });
    const squared = sketch.op('mul', [handed, handed], 'f32[4]');
    inner = sketch.last;
    sketch.result('', squared, { kind: 'leave', to: given });
    sketch.result('', handed, { kind: 'leave', to: given + 1 });
    sketch.result('', '1.0', { kind: 'leave', to: given + 2 });
  });
  sketch.result('result', given);
  return { sketch, outer, inner };
}

test('a document that says nothing of what is kept is taken to keep all that goes across, each value once', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const handed = graph.bindingTo[graph.bindingKind.indexOf(BindingKind.enter)];
  const values = [...graph.valueNode.keys()];
  assert.deepEqual(
    keptOf(document, graph)(values),
    values.filter(value => graph.valueNode[value] !== handed)
  );
});

test('a value that is handed into several kernels, or that a loop keeps, counts once', () => {
  const sketch = new Sketch();
  const made = sketch.op('exponential', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  const inside: number[] = [];
  for (const op of ['fusion', 'fusion', 'while']) {
    const given = sketch.op(op, [made], 'f32[4]');
    sketch.region(sketch.last, op, op, () => {
      inside.push(sketch.argument('', 'f32[4]', { kind: op === 'while' ? 'init' : 'enter', from: made }));
      const argument = sketch.last;
      const result = sketch.result('', inside[inside.length - 1], { kind: 'leave', to: given });
      if (op === 'while') {
        sketch.bind('carry', result, argument);
      }
    });
  }
  const document = decodePlain(sketch.plain());
  assert.deepEqual(keptOf(document, document.graphs[0])(inside), [made]);
});

test('what a call gives is kept if what makes it is, inside the call or before it, and counts once', () => {
  const { sketch, outer, inner } = call();
  assert.deepEqual(keptWhere(sketch, [inner]), [inner]);
  assert.deepEqual(keptWhere(sketch, [outer]), [outer]);
  assert.deepEqual(keptWhere(sketch, [outer, inner]), [outer, inner]);
});

test('where the document keeps nothing, nothing that goes across is kept', () => {
  assert.deepEqual(keptWhere(call().sketch, []), []);
});

test('what a loop gives, or a branch, is made by them', () => {
  for (const sketch of [loop(), condition()]) {
    const [{ graphs }] = [decodePlain(sketch.plain())];
    const owner = graphs[0].valueNode.find(node => graphs[0].firstRegion[node] < graphs[0].firstRegion[node + 1]);
    assert.ok(owner !== undefined);
    assert.ok(keptWhere(sketch, [owner]).every(node => node === owner));
    assert.ok(keptWhere(sketch, [owner]).length > 0);
  }
});

test('a value on several cables counts at one of them, and the others tell that they share it', () => {
  const cables = [{ values: [1, 2] }, { values: [2, 3] }, { values: [1, 3] }];
  const told = tallied(values => [...values], cables);
  assert.deepEqual(
    cables.map(cable => told.get(cable)),
    [
      { kept: [1, 2], shared: 0 },
      { kept: [3], shared: 1 },
      { kept: [], shared: 2 }
    ]
  );
});
