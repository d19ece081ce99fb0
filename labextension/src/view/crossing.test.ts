import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { NodeRole } from '../document/graph.ts';
import { Sketch } from '../document/sketch.ts';
import { bordersOf } from './borders.ts';
import { crossingsOf, type Crossing } from './crossing.ts';

/** What nodes from `begin` on read of what stands before it, by the names of operations, as `reader: values`. */
function told(sketch: Sketch, begin: number): string[] {
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const role = new Uint8Array(graph.nodeCount).fill(NodeRole.box);
  const crossing = crossingsOf(graph, bordersOf(graph), role).of(begin, graph.nodeCount);
  const name = (node: number): string => document.strings[graph.op[node]] || document.strings[graph.name[node]];
  const { nodes, first, sources } = crossing as Crossing;
  return nodes.map((node, at) => {
    const values = sources.slice(first[at], first[at + 1]);
    return `${name(node)}: ${values.map(value => name(graph.valueNode[value])).join(' ')}`;
  });
}

test('of a run it is told what each node reads first that is made outside, but for results', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.op('exp', [x], 'f32[4]');
  const begin = sketch.last + 1;
  const sum = sketch.op('add', [x, y], 'f32[4]');
  sketch.op('mul', [sum, x], 'f32[4]');
  sketch.op('sub', [y, sum], 'f32[4]');
  sketch.result('out', x);
  assert.deepEqual(told(sketch, begin), ['add: x exp', 'out: x']);
});

test('what is handed into several bodies is read once', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const begin = sketch.last + 1;
  for (const op of ['sin', 'cos']) {
    const made = sketch.op('fusion', [x], 'f32[4]');
    sketch.region(sketch.last, 'fusion', 'fusion', () => {
      const given = sketch.argument('given', 'f32[4]', { kind: 'enter', from: x });
      sketch.result('', sketch.op(op, [given], 'f32[4]'), { kind: 'leave', to: made });
    });
  }
  assert.deepEqual(told(sketch, begin), ['fusion: x']);
});
