import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { follow } from '../document/follow.ts';
import { NodeKind, NodeRole } from '../document/graph.ts';
import { comparedLinks, graphName, graphNamed, programName, programOf } from '../document/programs.ts';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { pair } from '../document/sketchPair.ts';
import { besideWhich, compare, Standing } from './compared.ts';
import { rowsOf } from './outline.ts';

test('each operation is the same, changed, or without a counterpart; borders are neither', () => {
  const document = decodePlain(pair());
  const here = compare(document, 0, 1);
  assert.deepEqual([here.only, here.changed, here.folded, here.same], [[5], [4], [], 1]);
  assert.deepEqual([...here.of], [0, 0, 0, Standing.same, Standing.changed, Standing.only, 0]);
  assert.deepEqual(compare(document, 1, 0).only, [5]);
});

test('copies that are one on the other side are folded at both', () => {
  const plain = pair();
  plain.links = [{ from: 0, to: 1, source: [3, 4, 5], target: [3, 4, 4], kind: [0, 0, 1], shares: {} }];
  const document = decodePlain(plain);
  assert.deepEqual(compare(document, 0, 1).folded, [5]);
  assert.deepEqual(compare(document, 1, 0).folded, [4]);
});

test('a constant is a difference where it has another value', () => {
  const plain = pair();
  plain.strings = plain.strings.map(text => (text === 'tanh' ? 'constant' : text));
  const nodes = [0, 1, 2, 3, 4, 5];
  const links = (of: number) => [
    { from: 0, to: 1, source: nodes, target: nodes, kind: nodes.map(node => (node === 5 ? of : 0)), shares: {} }
  ];
  plain.links = links(0);
  assert.deepEqual(compare(decodePlain(plain), 0, 1).changed, []);
  plain.links = links(3);
  assert.deepEqual(compare(decodePlain(plain), 0, 1).changed, [5]);
});

test('what reads an argument of another type has changed; an argument of a body is what goes into the body', () => {
  const sketch = loop();
  const plain = sketch.plain();
  const [graph] = plain.graphs;
  const [program] = plain.programs;
  plain.graphs.push(structuredClone(graph));
  plain.programs.push({ ...program, stages: [{ ...program.stages[0], graph: 1 }] });
  const nodes = graph.nodes.op.map((_, node) => node);
  const argument = (inside: boolean): number =>
    nodes.find(
      node => graph.nodes.kind[node] === NodeKind.argument && (graph.nodes.region[node] !== 0) === inside
    ) as number;
  const changed = (other: number): readonly number[] => {
    const kind = nodes.map(node => (node === other ? 3 : 0));
    plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind, shares: {} }];
    return compare(decodePlain(plain), 0, 1).changed;
  };
  assert.equal(changed(argument(false)).length, 1);
  assert.deepEqual(changed(argument(true)), []);
});

test('what reads another constant has changed, through what only hands the constant on', () => {
  const sketch = new Sketch('scaled');
  const x = sketch.argument('x', 'f32[4]');
  const constant = sketch.op('constant', [], 'f32[]', { value: '2' });
  const spread = sketch.op('broadcast', [constant], 'f32[4]');
  const product = sketch.op('multiply', [x, spread], 'f32[4]');
  sketch.result('result', sketch.op('tanh', [product], 'f32[4]'));
  const plain = sketch.plain();
  const [graph] = plain.graphs;
  const [program] = plain.programs;
  plain.graphs.push(structuredClone(graph));
  plain.programs.push({ ...program, stages: [{ ...program.stages[0], graph: 1 }] });
  const nodes = graph.nodes.op.map((_, node) => node);
  const kind = nodes.map(node => (node === constant ? 3 : 0));
  plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind, shares: {} }];
  const document = decodePlain(plain);
  const { role } = rowsOf(document, document.graphs[0]).outline;
  role[constant] = NodeRole.chip;
  role[spread] = NodeRole.edge;
  const { changed, same } = compare(document, 0, 1);
  assert.deepEqual(changed, [product]);
  // The broadcast and the tanh.
  assert.equal(same, 2);
});

test('what reads a value that is handed on otherwise has changed, seen from either side', () => {
  const sketch = new Sketch('spread');
  const x = sketch.argument('x', 'f32[4]');
  const spread = sketch.op('broadcast', [sketch.argument('y', 'f32[]')], 'f32[4]');
  const product = sketch.op('multiply', [x, spread], 'f32[4]');
  sketch.result('result', sketch.op('tanh', [product], 'f32[4]'));
  const changes = (
    linked: (node: number) => boolean,
    kindOf: (node: number) => number,
    apart: readonly number[] = [],
    op = 'broadcast'
  ): (readonly number[])[] => {
    const plain = sketch.plain();
    plain.strings = plain.strings.map(text => (text === 'broadcast' ? op : text));
    const [graph] = plain.graphs;
    const [program] = plain.programs;
    plain.graphs.push(structuredClone(graph));
    plain.programs.push({ ...program, stages: [{ ...program.stages[0], graph: 1 }] });
    const nodes = graph.nodes.op.map((_, node) => node).filter(node => linked(node) && !apart.includes(node));
    plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind: nodes.map(kindOf), shares: {} }];
    const document = decodePlain(plain);
    document.graphs.forEach((graph, side) => {
      const linkedHere = side === 0 || !apart.length;
      rowsOf(document, graph).outline.role[spread] = linkedHere ? NodeRole.edge : NodeRole.through;
    });
    return [compare(document, 0, 1).changed, compare(document, 1, 0).changed];
  };
  const all = (): boolean => true;
  assert.deepEqual(
    changes(all, () => 0),
    [[], []]
  );
  const without = (node: number): boolean => node !== spread;
  assert.deepEqual(
    changes(without, () => 0),
    [[product], [product]]
  );
  // A copy hands on the same.
  assert.deepEqual(
    changes(without, () => 0, [], 'copy'),
    [[], []]
  );
  const otherwise = [spread, product];
  // Only one of the two has it.
  assert.deepEqual(
    changes(all, () => 0, [spread]),
    [[product], [product]]
  );
  assert.deepEqual(
    changes(all, node => (node === spread ? 3 : 0)),
    [otherwise, otherwise]
  );
});

test('the same stage of the other program stands beside a stage; alone, one stage has nothing beside it', () => {
  assert.equal(besideWhich(decodePlain(pair()), 0), 1);
  assert.equal(besideWhich(decodePlain(pair()), 1), 0);
  assert.equal(besideWhich(decodePlain(affine().plain()), 0), undefined);
});

test('programs are told apart by name, device or call, and graphs have names that last', () => {
  const plain = pair();
  const document = decodePlain(plain);
  assert.deepEqual([programOf(document, 0), programOf(document, 1)], [0, 1]);
  assert.equal(comparedLinks(document).length, 1);
  const [, second] = document.programs;
  assert.equal(graphName(document, 1, second.stages[0]), 'jaxpr@1');
  assert.deepEqual(graphNamed(document, 'jaxpr@1'), { program: 1, stage: second.stages[0] });
  assert.deepEqual(graphNamed(document, 'nothing@7'), { program: 0, stage: document.programs[0].stages[0] });
  assert.equal(programName(document, 1), 'other');
  plain.programs[1].name = plain.programs[0].name;
  plain.programs[1].target = { name: 'cuda:h100', label: 'NVIDIA H100', limits: [] };
  const named = decodePlain(plain);
  assert.match(programName(named, 0), /, this device$/);
  assert.match(programName(named, 1), /, NVIDIA H100$/);
});

test('two graphs without links of their own are joined by those between them', () => {
  const plain = pair();
  plain.graphs.push(structuredClone(plain.graphs[0]), structuredClone(plain.graphs[0]));
  const nodes = [0, 1, 2, 3, 4, 5, 6];
  const kind = [0, 0, 0, 2, 0, 0, 0];
  plain.links?.push(
    { from: 0, to: 2, source: nodes, target: nodes, kind, shares: {} },
    { from: 1, to: 3, source: nodes, target: nodes, kind: kind.map(() => 0), shares: {} }
  );
  const document = decodePlain(plain);
  // From a stage of the first program through both jaxprs to one of the second.
  assert.deepEqual(follow(document, 2, 3, 3), [{ node: 3, kind: 2 }]);
  assert.deepEqual(follow(document, 2, 5, 3), []);
});
