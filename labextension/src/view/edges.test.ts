/** In which order edges leave and meet their boxes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { NodeRole, RowKind } from '../document/graph.ts';
import { plainOutline, Sketch } from '../document/sketch.ts';
import { rowsOf } from './outline.ts';
import { show } from './view.ts';
import type { VisibleGraph } from './visible.ts';

/** A forward and a backward part. The gradients are made in the other order than they are handed over in. */
function gradients(open: readonly number[] = [0, 1, 2]): VisibleGraph {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.argument('y', 'f32[4]');
  const kept = sketch.op('sin', [x], 'f32[4]');
  const forward = sketch.op('mul', [kept, y], 'f32[4]');
  const ofLast = sketch.op('mul', [sketch.op('neg', [y], 'f32[4]'), forward], 'f32[4]');
  const ofFirst = sketch.op('mul', [sketch.op('cos', [x], 'f32[4]'), kept], 'f32[4]');
  sketch.result('value', forward);
  sketch.result('first', ofFirst);
  sketch.result('last', ofLast);
  const plain = sketch.plain();
  const nodes = plain.graphs[0].nodes.kind.length;
  plain.outlines = [
    plainOutline(
      {
        back: [1, 1, 2],
        kind: [RowKind.program, RowKind.phase, RowKind.phase],
        name: ['', 'forward', 'backward'].map(name => plain.strings.push(name) - 1),
        gap: [0, 2, 2],
        size: [nodes, 2, 4]
      },
      nodes
    )
  ];
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const { outline } = rowsOf(document, graph);
  outline.twin[2] = 1;
  return show(document, graph, { open: new Set(open) });
}

test('what goes to and from a phase as a whole is in the order of the boxes at its other end', () => {
  const visible = gradients();
  const backward = visible.label.indexOf('backward');
  const across = (here: Int32Array, there: Int32Array, port: Int32Array): string[] =>
    [...here.keys()]
      .filter(edge => here[edge] === backward)
      .sort((a, b) => port[a] - port[b])
      .map(edge => visible.label[there[edge]]);
  assert.deepEqual(across(visible.source, visible.target, visible.sourcePort), ['first', 'last']);
  assert.deepEqual(across(visible.target, visible.source, visible.targetPort), ['x', 'y']);
});

test('what a phase keeps for a closed one that mirrors it is one line, with its number and size', () => {
  const { source, target, label, cables, bundles } = gradients([0, 1]);
  const into = [...source.keys()].filter(edge => label[target[edge]] === 'backward');
  const kept = into.filter(edge => label[source[edge]] === 'forward');
  assert.deepEqual(into.map(edge => label[source[edge]]).sort(), ['forward', 'x', 'y']);
  assert.deepEqual(cables, []);
  assert.deepEqual(bundles, [{ edge: kept[0], values: 2, gradients: false, bytes: 32 }]);
});

test('of several values that are handed on each comes from the one in its place', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.argument('y', 'f32[4]');
  const first = sketch.op('device_put', [x, y], ['f32[4]', 'f32[4]']);
  const put = sketch.last;
  sketch.result('result', sketch.op('sin', [first + 1], 'f32[4]'));
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const { outline } = rowsOf(document, graph);
  outline.role[put] = NodeRole.edge;
  const { source, target, label } = show(document, graph, { open: new Set([0]) });
  const edges = [...source].map((from, edge) => `${label[from]} to ${label[target[edge]]}`);
  assert.ok(edges.includes('y to sin'), edges.join());
  assert.ok(!edges.includes('x to sin'), edges.join());
});
