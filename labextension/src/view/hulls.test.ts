import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { follow } from '../document/follow.ts';
import { RowKind, type Document } from '../document/graph.ts';
import { affine, Sketch } from '../document/sketch.ts';
import { details } from '../explorer/details/details.ts';
import { trafficLines } from '../explorer/details/trafficLines.ts';
import { cableAreas } from '../draw/cables.ts';
import { meet } from '../draw/solid.ts';
import { wordsOf } from '../draw/hullWords.ts';
import { makeScene, type Scene } from '../draw/scene.ts';
import { toSvg } from '../draw/svg.ts';
import { measure } from '../draw/text.ts';
import { layout } from '../layout/layout.ts';
import { hullsOf } from './hulls.ts';
import { kernelTreeOf, withKernelTree } from './kernelTree.ts';
import { toLayout } from './place.ts';
import { trafficOf } from './traffic.ts';
import { show } from './view.ts';

/** `tanh(w @ x + b)` and what a compiler makes of it: the product alone, then `add` and `tanh` in one fusion. */
function fused(): Document {
  const hlo = new Sketch();
  const [w, b, x] = ['w', 'b', 'x'].map(name => hlo.argument(name, 'f32[4]'));
  const product = hlo.op('dot', [w, x], 'f32[4]', {}, 'dot.1');
  const made = hlo.op('fusion', [product, b], 'f32[4]', {}, 'add_tanh_fusion');
  hlo.region(hlo.last, 'fusion', 'fused', () => {
    const p = hlo.argument('', 'f32[4]', { kind: 'enter', from: product });
    const q = hlo.argument('', 'f32[4]', { kind: 'enter', from: b });
    const sum = hlo.op('add', [p, q], 'f32[4]');
    hlo.result('', hlo.op('tanh', [sum], 'f32[4]'), { kind: 'leave', to: made });
  });
  hlo.result('result', made);
  const plain = affine().plain();
  const other = hlo.plain();
  // One table of strings and types for both: those of the second are put behind those of the first.
  const strings = plain.strings.length;
  const types = plain.types.text.length;
  const moved = (column: readonly number[]): number[] => column.map(one => one + strings);
  const [graph] = other.graphs;
  plain.strings.push(...other.strings);
  plain.types.text.push(...moved(other.types.text));
  plain.types.dtype.push(...moved(other.types.dtype));
  for (const column of ['rank', 'dims', 'bytes', 'weak'] as const) {
    plain.types[column].push(...other.types[column]);
  }
  plain.graphs.push({
    ...graph,
    nodes: {
      ...graph.nodes,
      op: moved(graph.nodes.op),
      name: moved(graph.nodes.name),
      scope: moved(graph.nodes.scope)
    },
    values: { type: graph.values.type.map(type => type + types) },
    regions: { ...graph.regions, kind: moved(graph.regions.kind), name: moved(graph.regions.name) }
  });
  plain.programs[0].stages.push({ kind: 'hlo', graph: 1, seconds: {} });
  // dot_general, add, tanh are 3, 4, 5; in the other graph dot is 3, the fusion 4, add 7 and tanh 8.
  plain.links = [{ from: 0, to: 1, source: [3, 4, 5], target: [3, 7, 8], kind: [0, 0, 0], shares: {} }];
  const zero = [0, 0];
  plain.outlines = [
    {
      graph: 1,
      back: [1, 1],
      kind: [RowKind.program, RowKind.expression],
      name: zero,
      detail: zero,
      variable: zero,
      gap: [0, 3],
      size: [11, 7],
      closed: [0, 1],
      count: [1, 1],
      copy: [-1, -1],
      like: zero,
      twin: zero,
      region: [-1, -1],
      role: Array.from({ length: 11 }, () => 0)
    }
  ];
  return decodePlain(plain);
}

test('boxes of one kernel have a hull with its name and the edge between them', () => {
  const document = fused();
  const visible = show(document, document.graphs[0], { open: new Set() });
  const hulls = hullsOf(document, visible);
  assert.deepEqual(
    hulls.map(({ label, boxes }) => [label, ...boxes.map(box => visible.label[box])]),
    [['add_tanh_fusion', 'add', 'tanh']]
  );
  assert.deepEqual(
    hulls[0].edges.map(edge => `${visible.label[visible.source[edge]]} ${visible.label[visible.target[edge]]}`),
    ['add tanh']
  );
  const scene = makeScene(visible, layout(toLayout(visible, measure)), undefined, hulls);
  const svg = toSvg(scene, { theme: 'light', title: 't', description: 'd' });
  assert.match(svg, />add_tanh_fusion/);
  assert.doesNotMatch(toSvg({ ...scene, hulls: [] }, { theme: 'light', title: 't', description: 'd' }), /fusion/);
});

test('a hull says what its kernel reads and writes, where there is room for it', () => {
  const document = fused();
  const visible = show(document, document.graphs[0], { open: new Set() });
  const hulls = hullsOf(document, visible);
  assert.equal(hulls[0].note, '32 B → 16 B');
  const placed = layout(toLayout(visible, measure));
  const options = { theme: 'light', title: 't', description: 'd' } as const;
  const wide = { ...placed, totalWidth: 1000 };
  assert.match(toSvg(makeScene(visible, wide, undefined, hulls), options), />add_tanh_fusion +32 B → 16 B</);
  // Where the picture is too narrow for the bytes, only the name is there.
  const start = placed.x[hulls[0].boxes[1]];
  const narrow = { ...placed, x: placed.x.map(x => x - start), totalWidth: 130 };
  assert.match(toSvg(makeScene(visible, narrow, undefined, hulls), options), />add_tanh_fusion</);
});

test('the words of a hull cover neither boxes nor edges nor titles while there is another place', () => {
  const document = fused();
  const visible = show(document, document.graphs[0], { open: new Set() });
  const hulls = hullsOf(document, visible);
  const placed = layout(toLayout(visible, measure));
  const wide = { ...placed, totalWidth: 1000, totalHeight: 1000 };
  const [add] = hulls[0].boxes;
  const wordsAt = (scene: Scene): readonly [number, number] => {
    const [{ x, y }] = wordsOf(scene);
    return [Math.round(x - scene.layout.x[add]), Math.round(y - scene.layout.y[add])];
  };
  // The edge from the product comes from above: at the side nothing is in the way.
  const [beside, height] = wordsAt(makeScene(visible, wide, undefined, hulls));
  assert.ok(beside > placed.width[add] && height > 0 && height < placed.height[add], `${beside} ${height}`);
  // A box stands there: the words go elsewhere, and whole.
  const other = visible.label.indexOf('w');
  const x = Float64Array.from(placed.x, (at, box) => (box === other ? placed.x[add] + placed.width[add] + 30 : at));
  const y = Float64Array.from(placed.y, (at, box) => (box === other ? placed.y[add] : at));
  const moved = makeScene(visible, { ...wide, x, y }, undefined, hulls);
  const [words] = wordsOf(moved);
  const right = words.x + measure(words.text, 'chip');
  assert.ok(
    right <= x[other] ||
      words.x >= x[other] + placed.width[other] ||
      words.y <= y[other] ||
      words.y - 8 >= y[other] + 22
  );
});

test('the words of a hull stand clear of what cables say', () => {
  const document = fused();
  const visible = show(document, document.graphs[0], { open: new Set() });
  const hulls = hullsOf(document, visible);
  const placed = layout(toLayout(visible, measure));
  const [add] = hulls[0].boxes;
  const other = visible.label.indexOf('w');
  const x = placed.x.map((at, box) => (box === other ? placed.x[add] + placed.width[add] + 220 : at));
  const y = placed.y.map((at, box) => (box === other ? placed.y[add] : at));
  const cables = [{ source: add, target: other, values: 1, bytes: 1e6 }];
  const place = { ...placed, x, y, totalWidth: 1000, totalHeight: 1000 };
  const scene = makeScene({ ...visible, cables }, place, undefined, hulls);
  const [words] = wordsOf(scene);
  const area = { left: words.x, right: words.x + measure(words.text, 'chip'), top: words.y - 8, bottom: words.y };
  assert.equal(cableAreas(scene).length, 1);
  assert.ok(!cableAreas(scene).some(told => meet(told, area)));
});

test('a kernel says what it reads and writes, and what its operations would more, each by itself', () => {
  const document = fused();
  const traffic = trafficOf(document, document.graphs[1]);
  // Of the fusion: add reads 32 B and writes 16, tanh reads 16 and writes 16; together 80, by one kernel 48.
  assert.deepEqual(
    [...traffic],
    [
      [3, { read: 32, written: 16, saved: 0 }],
      [4, { read: 32, written: 16, saved: 32 }]
    ]
  );
  const [line] = trafficLines(document, document.graphs[0], [4, 5]);
  assert.deepEqual(line, {
    term: 'kernel',
    text: 'add_tanh_fusion reads 32 B, writes 16 B',
    note: ' fusion saved 32 B'
  });
  // What it makes is the result; the product has to be in memory for it.
  assert.deepEqual(
    trafficLines(document, document.graphs[0], [3]).map(({ term, text }) => `${term}: ${text}`),
    ['kernel: dot.1 reads 32 B, writes 16 B', 'not fused: made by a product']
  );
  // What runs in two kernels has no line of its own.
  assert.deepEqual(trafficLines(document, document.graphs[0], [3, 4]), []);
  assert.ok(details(document, document.graphs[0], 4).measures?.some(({ term }) => term === 'kernel'));
  const alone = decodePlain(affine().plain());
  assert.deepEqual(trafficLines(alone, alone.graphs[0], [4]), []);
});

test('of what a kernel takes a piece of, or writes one into, the piece counts', () => {
  const hlo = new Sketch();
  const [table, index, into] = [
    hlo.argument('table', 'f32[4,4]'),
    hlo.argument('i', 'i32[]'),
    hlo.argument('into', 'f32[4,4]')
  ];
  const row = hlo.op('dynamic-slice', [table, index], 'f32[1,4]');
  const made = hlo.op('fusion', [into, row, index], 'f32[4,4]', {}, 'update_fusion');
  const kernel = hlo.last;
  hlo.region(kernel, 'fusion', 'fused', () => {
    const p = hlo.argument('', 'f32[4,4]', { kind: 'enter', from: into });
    const q = hlo.argument('', 'f32[1,4]', { kind: 'enter', from: row });
    const at = hlo.argument('', 'i32[]', { kind: 'enter', from: index });
    const written = hlo.op('dynamic-update-slice', [p, q, at], 'f32[4,4]');
    hlo.result('', written, { kind: 'leave', to: made });
  });
  hlo.result('result', made);
  const document = decodePlain(hlo.plain());
  const traffic = trafficOf(document, document.graphs[0]);
  assert.deepEqual(traffic.get(3), { read: 20, written: 16, saved: 0 });
  assert.deepEqual(
    { read: traffic.get(kernel)?.read, written: traffic.get(kernel)?.written },
    { read: 20, written: 16 }
  );
});

test('a document without an optimized program has no hulls', () => {
  const document = decodePlain(affine().plain());
  assert.deepEqual(hullsOf(document, show(document, document.graphs[0], { open: new Set() })), []);
});

test('the optimized program by its kernels: a box for each, linked to every stage and to itself', () => {
  const document = withKernelTree(fused());
  const at = kernelTreeOf(document, 1);
  assert.ok(at);
  const visible = show(document, document.graphs[at], { open: new Set() });
  assert.deepEqual(visible.label.slice(3), ['dot.1', 'add_tanh_fusion', 'result']);
  assert.deepEqual(follow(document, 0, 5, at), [{ node: 8, kind: 0 }]);
  assert.deepEqual(follow(document, 1, 8, at), [{ node: 8, kind: 0 }]);
  assert.equal(kernelTreeOf(decodePlain(affine().plain()), 0), undefined);
});
