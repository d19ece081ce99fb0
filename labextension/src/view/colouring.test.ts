import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { FateKind } from '../document/graph.ts';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { colourings, groupsOfBoxes, ranked } from './colouring.ts';
import { show } from './view.ts';

type Plain = ReturnType<Sketch['plain']>;

/** The words of the group of each labelled box; null where a graph has nothing of the kind. */
function coloured(plain: Plain, key: string, open = new Set<number>()): Record<string, string> | null {
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const colouring = colourings.find(one => one.key === key);
  assert.ok(colouring);
  const groups = colouring.groups(document, graph);
  if (!groups) {
    return null;
  }
  const visible = show(document, graph, { open });
  const of = groupsOfBoxes(document, visible, colouring, groups);
  return Object.fromEntries([...of].map((group, box) => [visible.label[box], groups.names[group] ?? '']));
}

test('by kind, as in the picture that nobody has chosen colours for', () => {
  const found = coloured(affine().plain(), 'kind');
  assert.equal(found?.dot_general, 'matmul');
  assert.equal(found?.tanh, 'elementwise');
});

test('by type and by size of what is made; arguments have no colour', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[1000]');
  const half = sketch.op('convert_element_type', [x], 'bf16[1000]');
  sketch.result('result', sketch.op('reduce_sum', [half], 'bf16[]'));
  const plain = sketch.plain();
  assert.deepEqual(coloured(plain, 'type'), { x: '', convert_element_type: 'bf16', reduce_sum: 'bf16', result: '' });
  const size = coloured(plain, 'size');
  assert.equal(size?.convert_element_type, '1.0 kB to 10 kB');
  assert.equal(size?.reduce_sum, 'under 10 B');
});

test('by fate, where fates are known', () => {
  const plain = affine().plain();
  assert.equal(coloured(plain, 'fate'), null);
  const kind = [0, 0, 0, FateKind.alone, FateKind.merged, FateKind.dead, 0];
  plain.fates = [{ graph: 0, kind, where: kind.map(() => 0), by: kind.map(() => -1) }];
  const found = coloured(plain, 'fate');
  assert.deepEqual([found?.dot_general, found?.add, found?.tanh], ['its own operation', 'merged', 'dead']);
});

test('a closed box takes the group of most of what it holds', () => {
  const found = coloured(loop().plain(), 'type');
  assert.equal(found?.cell, 'f32');
  assert.equal(coloured(loop().plain(), 'size')?.cell, '10 B to 100 B');
});

test('by kernel: what the optimized HLO runs as one, followed through the links', () => {
  const sketch = affine();
  const plain = sketch.plain();
  const hlo = new Sketch();
  // A fusion that holds add and tanh, and a dot of its own.
  const x = hlo.argument('x', 'f32[8]');
  const dot = hlo.op('dot', [x], 'f32[4]', {}, 'dot.1');
  const fused = hlo.op('fusion', [dot], 'f32[4]', {}, 'add_tanh_fusion');
  hlo.region(hlo.last, 'fusion', 'fused_computation', () => {
    const inner = hlo.argument('', 'f32[4]', { kind: 'enter', from: dot });
    const sum = hlo.op('add', [inner], 'f32[4]');
    hlo.result('', hlo.op('tanh', [sum], 'f32[4]'), { kind: 'leave', to: fused });
  });
  hlo.result('result', fused);
  const other = hlo.plain();
  // One table of strings and types for both graphs.
  const strings = plain.strings as string[];
  const shift = strings.length;
  const moved = (column: readonly number[]): number[] => column.map(index => index + shift);
  const [graph] = other.graphs;
  strings.push(...(other.strings as string[]));
  plain.graphs.push({
    ...graph,
    nodes: { ...graph.nodes, op: moved(graph.nodes.op), name: moved(graph.nodes.name) },
    values: { type: graph.values.type.map(() => 0) },
    regions: { ...graph.regions, kind: moved(graph.regions.kind), name: moved(graph.regions.name) }
  });
  plain.programs[0].stages.push({ kind: 'hlo', graph: 1, seconds: {} });
  plain.links = [
    { from: 0, to: 1, source: [3, 4, 5], target: [1, 4, 5], kind: [0, 0, 0], shares: { exact: 1 } }
  ] as unknown as Plain['links'];
  const found = coloured(plain, 'kernel');
  assert.deepEqual([found?.dot_general, found?.add, found?.tanh], ['dot.1', 'add_tanh_fusion', 'add_tanh_fusion']);
});

test('where there are too many groups for the colours, those on the screen come first', () => {
  const groups = { names: ['a', 'b', 'c', 'd'], of: new Int32Array(0) };
  assert.deepEqual([...ranked(Int32Array.of(3, 3, 2, -1), groups, 2)], [2, 3, 1, 0]);
  assert.deepEqual([...ranked(Int32Array.of(3, 3, 2, -1), groups, 4)], [0, 1, 2, 3]);
});
