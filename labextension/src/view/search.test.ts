import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { FateKind, RowKind } from '../document/graph.ts';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { parseQuery } from './query.ts';
import { findMatches } from './search.ts';

type Plain = ReturnType<Sketch['plain']>;

/** Labels of what a query finds: rows as `row 3`, nodes by their operation or name. */
function found(plain: Plain, query: string): string[] {
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const { items, fault } = findMatches(document, graph, parseQuery(query));
  assert.equal(fault, '');
  return items.map(item =>
    item >= 0
      ? `row ${item}`
      : document.strings[graph.op[-1 - item]] || document.strings[graph.name[-1 - item]] || 'nameless'
  );
}

test('operations, arguments and regions are found by their words, each once and in order', () => {
  assert.deepEqual(found(affine().plain(), 'tan'), ['tanh']);
  assert.deepEqual(found(affine().plain(), 'w'), ['w']);
  assert.deepEqual(found(loop().plain(), 'cell'), ['row 1']);
  assert.deepEqual(found(loop().plain(), '/^(mul|neg)$/'), ['mul', 'neg']);
  assert.deepEqual(found(affine().plain(), ''), []);
});

test('all nodes that are asked for are told, in every copy and in rows that are called so', () => {
  const nodesFound = (plain: Plain, query: string): number[] => {
    const document = decodePlain(plain);
    const { nodes } = findMatches(document, document.graphs[0], parseQuery(query));
    return [...nodes.keys()].filter(node => nodes[node]);
  };
  assert.deepEqual(nodesFound(affine().plain(), 'tan'), [5]);
  // The scan, and the operations inside of it.
  assert.deepEqual(nodesFound(loop().plain(), 'cell op:mul'), [7]);
  assert.deepEqual(nodesFound(loop().plain(), ''), []);
});

test('what the function calls a part is found by that and by its path', () => {
  const sketch = new Sketch();
  const x = sketch.argument('carry[0]', 'f32[2]');
  sketch.mark({ variable: 'adv' });
  sketch.result('result[1]', sketch.op('sin', [x], 'f32[2]'));
  sketch.mark({ variable: 'd_loss' });
  for (const [query, node] of [
    ['adv', 'carry[0]'],
    ['carry[0]', 'carry[0]'],
    ['d_loss', 'result[1]'],
    ['result[1]', 'result[1]']
  ]) {
    assert.deepEqual(found(sketch.plain(), query), [node]);
  }
});

test('by operation: the exact name before names that it is a part of', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[2]');
  sketch.result('result', sketch.op('add_any', [sketch.op('add', [x, x], 'f32[2]'), x], 'f32[2]'));
  assert.deepEqual(found(sketch.plain(), 'op:add'), ['add']);
  assert.deepEqual(found(sketch.plain(), 'op:ad'), ['add', 'add_any']);
});

test('by type and size of what is made, together with words', () => {
  assert.deepEqual(found(affine().plain(), 'type:f32[4]'), ['b', 'dot_general', 'add', 'tanh']);
  assert.deepEqual(found(affine().plain(), 'type:f32[4] add'), ['add']);
  assert.deepEqual(found(loop().plain(), 'bytes>500'), ['scan']);
  assert.deepEqual(found(loop().plain(), 'bytes<=16'), ['mul', 'add', 'neg']);
});

test('by line of the own code, whatever library frames lie above it', () => {
  const plain = affine().plain();
  const strings = plain.strings as string[];
  const own = strings.push('mine.py') - 1;
  const library = strings.push('numpy.py') - 1;
  plain.files = { path: [own, library], label: [own, library], library: [0, 1], start: [1, 1], text: [0, 0] };
  plain.frames = {
    file: [0, 1, 0],
    function: [own, own, own],
    line: [7, 99, 8],
    column: [0, 0, 0],
    endLine: [7, 99, 8],
    endColumn: [1, 1, 1]
  };
  plain.stacks = { frame: [0, 1, 2], parent: [-1, 0, -1] };
  plain.graphs[0].nodes.stack = [-1, -1, -1, 1, 2, 2, -1];
  assert.deepEqual(found(plain, 'line:7'), ['dot_general']);
  assert.deepEqual(found(plain, 'line:7-8'), ['dot_general', 'add', 'tanh']);
});

test('by fate; a stage without fates says so', () => {
  const plain = affine().plain();
  const kind = [0, 0, 0, FateKind.fused, FateKind.merged, FateKind.dead, 0];
  plain.fates = [{ graph: 0, kind, where: kind.map(() => 0), by: kind.map(() => -1) }];
  assert.deepEqual(found(plain, 'fate:cse'), ['add']);
  assert.deepEqual(found(plain, 'fate:gone'), ['add', 'tanh']);
  const document = decodePlain(affine().plain());
  const fault = (query: string): string => findMatches(document, document.graphs[0], parseQuery(query)).fault;
  assert.match(fault('fate:dead'), /fates are known/);
  assert.match(fault('time>1ms'), /no times were measured/);
  assert.match(fault('line:3'), /from which line/);
});

test('copies of a folded stack are one place', () => {
  const sketch = new Sketch();
  let x = sketch.argument('x', 'f32[2]');
  for (let turn = 0; turn < 3; turn++) {
    x = sketch.op('add', [sketch.op('mul', [x, x], 'f32[2]'), x], 'f32[2]');
  }
  sketch.result('result', x);
  const plain = sketch.plain();
  const kinds = [RowKind.program, RowKind.stack, RowKind.copy, RowKind.copy, RowKind.copy];
  const zero = kinds.map(() => 0);
  plain.outlines = [
    {
      graph: 0,
      back: [1, 1, 1, 2, 3],
      kind: kinds,
      name: zero,
      detail: zero,
      variable: zero,
      gap: [0, 1, 0, 2, 2],
      size: [8, 6, 2, 2, 2],
      closed: zero,
      count: [1, 3, 1, 1, 1],
      copy: [-1, -1, 0, 1, 2],
      like: zero,
      twin: zero,
      region: zero.map(() => -1),
      role: Array.from({ length: 8 }, () => 0)
    }
  ];
  assert.deepEqual(found(plain, 'op:mul'), ['mul']);
});
