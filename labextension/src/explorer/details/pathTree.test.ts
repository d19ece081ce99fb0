import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { Sketch } from '../../document/sketch.ts';
import { details } from './details.ts';
import { isBranch, stepsOf, type Branch, type Leaf } from './pathTree.ts';
import { rowsOf } from '../../view/outline.ts';
import { boxesReading } from '../../view/seen.ts';
import { show } from '../../view/view.ts';
import { rowDetails } from './row.ts';
import { explore, withExplorers } from '../testExplorer.ts';

withExplorers();

/** A network of two layers: arguments `params`, and `x` by itself. */
function network(): Sketch {
  const sketch = new Sketch();
  const params = ["['Dense_0']['kernel']", "['Dense_0']['bias']", "['Dense_1']['kernel']", "['Dense_1']['bias']"].map(
    (path, i) => sketch.argument(`params['params']${path}`, i % 2 ? 'f32[4]' : 'f32[4,4]')
  );
  const x = sketch.argument('x', 'f32[4]');
  let value = x;
  for (const param of params) {
    value = sketch.op('multiply', [value, param], 'f32[4]');
  }
  sketch.result('result', value);
  return sketch;
}

const told = (one: Branch | Leaf): string =>
  isBranch(one) ? `${one.step} ${one.bytes} (${one.inside.map(told).join(', ')})` : `${one.step} ${one.type}`;

test('a path is told by its steps', () => {
  assert.deepEqual(stepsOf("params['params']['Dense_0'][0].mu"), ['params', "['params']", "['Dense_0']", '[0]', '.mu']);
  assert.deepEqual(stepsOf("p['a.b[0]'].c"), ['p', "['a.b[0]']", '.c']);
  assert.deepEqual(stepsOf('x'), ['x']);
  assert.deepEqual(stepsOf(''), []);
  assert.deepEqual(stepsOf('a[0'), []);
});

test('an argument that is a part of a tree is told with the whole tree', () => {
  const document = decodePlain(network().plain());
  const [graph] = document.graphs;
  const { tree } = details(document, graph, 1);
  assert.equal(
    tree && told(tree),
    "params['params'] 160 (['Dense_0'] 80 (['kernel'] f32[4,4], ['bias'] f32[4]), ['Dense_1'] 80 (['kernel'] f32[4,4], ['bias'] f32[4]))"
  );
  assert.equal(details(document, graph, 4).tree, undefined);
});

test('what reads many parts of a tree is told with the tree of these', () => {
  const document = decodePlain(network().plain());
  const [tree] = rowDetails(document, document.graphs[0], 0).readTrees ?? [];
  assert.equal(tree, undefined, 'the program itself reads nothing');
  assert.deepEqual(details(document, document.graphs[0], 5).readTrees, [], 'two operands are no tree');
});

test('the tree in the details opens, and leads to each argument', async () => {
  const { root, press } = await explore(network());
  await press('ArrowDown');
  const pane = root.querySelector('.jv-inspector') as HTMLElement;
  const go = (name: string): HTMLElement =>
    [...pane.querySelectorAll<HTMLElement>('.jv-link')].find(({ title }) => title === `Go to ${name}`) as HTMLElement;
  while (!pane.querySelector('.jv-paths')) {
    const label = pane.querySelector('h4')?.textContent;
    await press('ArrowDown');
    assert.notEqual(pane.querySelector('h4')?.textContent, label, 'no argument was reached');
    go("params['params']['Dense_0']['kernel']")?.click();
  }
  const lines = (): string[] => [...pane.querySelectorAll('.jv-path-leaf')].map(line => line.textContent ?? '');
  assert.deepEqual(lines(), [
    "['kernel']f32[4,4]64 B",
    "['bias']f32[4]16 B",
    "['kernel']f32[4,4]64 B",
    "['bias']f32[4]16 B"
  ]);
  assert.equal(pane.querySelector('.jv-paths summary')?.textContent, "params['params']4 arrays, 160 B");
  go("params['params']['Dense_1']['bias']").click();
  assert.equal(pane.querySelector('h4')?.textContent, "params['params']['Dense_1']['bias']");
  assert.equal(pane.querySelector('[aria-current]')?.textContent, "['bias']");
});

test('what has no box is marked where its chip stands', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const w = sketch.argument("params['w']", 'f32[4]');
  const product = sketch.op('multiply', [x, w], 'f32[4]');
  sketch.result('result', sketch.op('add', [product, w], 'f32[4]'));
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const visible = show(document, graph, { open: new Set() });
  assert.ok(!visible.label.includes("params['w']"));
  const boxes = boxesReading(graph, rowsOf(document, graph), visible, 1);
  assert.deepEqual(
    boxes.map(box => visible.label[box]),
    ['multiply', 'add']
  );
});
