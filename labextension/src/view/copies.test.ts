import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { FateKind, NodeKind, RowKind, type Document } from '../document/graph.ts';
import { plainOutline, Sketch } from '../document/sketch.ts';
import { badgeAt, BADGE_HEIGHT, badgeOf } from '../draw/badge.ts';
import { makeScene } from '../draw/scene.ts';
import { measure } from '../draw/text.ts';
import { layout } from '../layout/layout.ts';
import { stackAround } from './copies.ts';
import { copyTable } from './differences.ts';
import { ghostWord } from './ghosts.ts';
import { rowsOf } from './outline.ts';
import { toLayout } from './place.ts';
import { BOX_HEIGHT, CHIP_HEIGHT } from './sizes.ts';
import { show } from './view.ts';
import { Shape } from './visible.ts';

const STACK = 1;
const paths = ["params['one']['w']", "params['one']['b']", "params['two']['w']"];

/** An update of three parameters, as a stack of three copies of two operations; `named` says whether they read these. */
function update(named = true): Document {
  const sketch = new Sketch();
  const slopes = sketch.argument('slopes', 'f32[4]');
  const parameters = paths.map((path, i) => sketch.argument(path, `f32[${i + 2}]`));
  const made = parameters.map((parameter, i) => {
    const scaled = sketch.op('mul', [slopes, '0.1'], `f32[${i + 2}]`);
    return sketch.op('sub', [named ? parameter : scaled, scaled], `f32[${i + 2}]`);
  });
  made.forEach((value, i) => sketch.result(`result${paths[i].slice(6)}`, value));
  const plain = sketch.plain();
  const kinds = [RowKind.program, RowKind.stack, RowKind.copy, RowKind.copy, RowKind.copy];
  const zero = kinds.map(() => 0);
  const name = plain.strings.push('p - 0.1 * g') - 1;
  plain.outlines = [
    {
      graph: 0,
      back: [1, 1, 1, 2, 3],
      kind: kinds,
      name: [0, name, name, name, name],
      detail: zero,
      variable: zero,
      gap: [0, 4, 0, 2, 2],
      size: [13, 6, 2, 2, 2],
      closed: zero,
      count: [1, 3, 1, 1, 1],
      copy: [-1, -1, 0, 1, 2],
      like: zero,
      twin: zero,
      region: zero.map(() => -1),
      role: Array.from({ length: 13 }, () => 0)
    }
  ];
  return decodePlain(plain);
}

/** Three copies of an operation that each read what the one before made, and a parameter of their own. */
function chain(): Document {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  const parameters = paths.map(path => sketch.argument(path, 'f32[4]'));
  parameters.forEach(parameter => (value = sketch.op('sub', [value, parameter], 'f32[4]')));
  sketch.result('result', value);
  const plain = sketch.plain();
  const kind = [RowKind.program, RowKind.stack, RowKind.copy, RowKind.copy, RowKind.copy];
  const name = plain.strings.push('block') - 1;
  const rows = { back: [1, 1, 1, 2, 3], kind, name: kind.map(() => name), gap: [0, 4, 0, 1, 1], size: [8, 3, 1, 1, 1] };
  plain.outlines = [{ ...plainOutline(rows, 8), count: [1, 3, 1, 1, 1], copy: [-1, -1, 0, 1, 2] }];
  return decodePlain(plain);
}

test('what the first copy begins with, where others read the one before, is no difference', () => {
  const document = chain();
  const { columns, lines } = copyTable(document, document.graphs[0], STACK);
  assert.deepEqual(columns, [{ is: 'reads', begins: 'params' }]);
  assert.deepEqual(
    lines.map(({ cells }) => cells[0]),
    paths.map(path => path.slice('params'.length))
  );
});

test('a stack is one box until all of its copies are shown, each with its number', () => {
  const document = update();
  const [graph] = document.graphs;
  const folded = show(document, graph, { open: new Set([STACK]) });
  assert.equal(folded.label.filter(label => label === 'sub').length, 1);
  const spread = show(document, graph, { open: new Set([STACK]), spread: new Set([STACK]) });
  const copies = [...spread.item.keys()].filter(box => spread.item[box] > STACK);
  assert.deepEqual(
    copies.map(box => `${spread.label[box]} ${spread.detail[box]}`),
    ['p - 0.1 * g 1 of 3', 'p - 0.1 * g 2 of 3', 'p - 0.1 * g 3 of 3']
  );
  assert.deepEqual(
    copies.map(box => spread.label[spread.parent[box]]),
    ['p - 0.1 * g', 'p - 0.1 * g', 'p - 0.1 * g']
  );
});

test('the number of copies stands clear of the name of its box, and of the chips beside it', () => {
  const document = update();
  const visible = show(document, document.graphs[0], { open: new Set() });
  const scene = makeScene(visible, layout(toLayout(visible, measure)));
  const box = visible.item.indexOf(STACK);
  const badge = badgeOf(scene, box);
  const top = scene.layout.y[box];
  assert.equal(visible.shape[box], Shape.box);
  // Capitals and what reaches as high as they do begin 9 px above the foot of the words, which is 15 px down the box.
  assert.ok(badge && badge.y + BADGE_HEIGHT <= top + 15 - 9 - 2);
  assert.ok(badge && badge.y + BADGE_HEIGHT <= top + (BOX_HEIGHT - CHIP_HEIGHT) / 2);
});

test('the number of copies stands at the upper right corner and is found there, folded or spread', () => {
  const document = update();
  for (const spread of [new Set<number>(), new Set([STACK])]) {
    const visible = show(document, document.graphs[0], { open: new Set([STACK]), spread });
    const scene = makeScene(visible, layout(toLayout(visible, measure)));
    const box = visible.item.indexOf(STACK);
    const { x, y, width, height } = scene.layout;
    assert.equal(badgeAt(scene, x[box] + width[box] - 14, y[box] - 2), box);
    assert.equal(badgeAt(scene, x[box] + 10, y[box] + height[box] - 4), -1);
    assert.equal(visible.spread[box], spread.size);
  }
});

test('what stands in a stack finds it, what stands outside none', () => {
  const document = update();
  const rows = rowsOf(document, document.graphs[0]);
  assert.deepEqual(
    [STACK, 3, -1 - 5, -1 - 0].map(item => stackAround(rows, item)),
    [STACK, STACK, STACK, -1]
  );
});

test('the table of copies: a line for each with the path of its parameter and its type, the common beginning once', () => {
  const document = update();
  const table = copyTable(document, document.graphs[0], STACK);
  assert.deepEqual(table.columns, [
    { is: 'reads', begins: 'params' },
    { is: 'type', begins: '' }
  ]);
  assert.deepEqual(
    table.lines.map(line => line.cells),
    [
      ["['one']['w']", 'f32[2]'],
      ["['one']['b']", 'f32[3]'],
      ["['two']['w']", 'f32[4]']
    ]
  );
});

test('copies that read nothing of their own are told by what they make', () => {
  const document = update(false);
  const table = copyTable(document, document.graphs[0], STACK);
  assert.deepEqual(
    table.columns.map(({ is }) => is),
    ['makes', 'type']
  );
});

test('operations of a folded stack speak for all copies: gone where all are, else in how many', () => {
  const document = update();
  const [graph] = document.graphs;
  const operations = Array.from(graph.kind, (kind, node) => (kind === NodeKind.operation ? node : -1)).filter(
    n => n >= 0
  );
  const [mul, sub] = [0, 1].map(place => operations.filter((_, i) => i % 2 === place));
  const fates = (gone: readonly number[], dead: readonly number[] = []): Document => {
    const kind = Uint8Array.from(graph.kind, k => (k === NodeKind.operation ? FateKind.alone : FateKind.none));
    gone.forEach(node => (kind[node] = FateKind.merged));
    dead.forEach(node => (kind[node] = FateKind.dead));
    const none = new Int32Array(graph.nodeCount);
    return { ...document, fates: [{ graph: 0, kind, where: none, by: none.map(() => -1) }] };
  };
  const boxOf = (source: Document, label: string) => {
    const visible = show(source, graph, { open: new Set([STACK]) });
    const box = visible.label.indexOf(label);
    return { ghost: visible.ghost[box], detail: visible.detail[box] };
  };
  // The first copy is gone, the others are not.
  assert.deepEqual(boxOf(fates([mul[0]]), 'mul'), { ghost: 0, detail: 'merged in 1 of 3' });
  // The first copy is kept, the others are gone.
  assert.deepEqual(boxOf(fates(mul.slice(1)), 'mul'), { ghost: 0, detail: 'merged in 2 of 3' });
  assert.deepEqual(boxOf(fates(mul), 'mul'), { ghost: 1, detail: 'merged' });
  assert.deepEqual(boxOf(fates(mul, mul.slice(1)), 'mul'), { ghost: 1, detail: 'dead in 2 of 3' });
  assert.equal(boxOf(fates(mul), 'sub').ghost, 0);
  // Closed, it stands for all of both.
  const closed = (source: Document) => {
    const visible = show(source, graph, { open: new Set() });
    return visible.detail[visible.ghost.indexOf(1)];
  };
  assert.equal(closed(fates(operations)), 'merged');
  assert.equal(closed(fates(mul, sub)), 'not kept');
  assert.equal(boxOf(fates(sub), 'sub').ghost, 1);
});

test('what has no operation because another value stands for it is a ghost, a step of a library call is none', () => {
  const none = new Int32Array(2);
  const word = (kind: number, by: number) =>
    ghostWord({ graph: 0, kind: Uint8Array.of(FateKind.none, kind), where: none, by: Int32Array.of(-1, by) }, 1);
  assert.equal(word(FateKind.imported, 0), 'nothing to compute');
  assert.equal(word(FateKind.unlowered, 0), 'nothing to compute');
  assert.equal(word(FateKind.imported, -1), 'not kept');
  assert.equal(word(FateKind.unlowered, -1), '');
  // What is done by others is no ghost.
  assert.equal(word(FateKind.moved, 0), '');
});

/** A loop of two turns in which a loop of two turns takes the sine and the cosine, and their sum is halved after it. */
function nested(): Document {
  const sketch = new Sketch();
  let x = sketch.argument('x', 'f32[4]');
  for (let outer = 0; outer < 2; outer++) {
    for (let inner = 0; inner < 2; inner++) {
      x = sketch.op('cos', [sketch.op('sin', [x], 'f32[4]')], 'f32[4]');
    }
    x = sketch.op('halve', [x], 'f32[4]');
  }
  sketch.result('result', x);
  const plain = sketch.plain();
  const { program, stack, copy } = RowKind;
  const kinds = [program, stack, copy, stack, copy, copy, copy, stack, copy, copy];
  const zero = kinds.map(() => 0);
  plain.outlines = [
    {
      graph: 0,
      back: [1, 1, 1, 1, 1, 2, 5, 1, 1, 2],
      kind: kinds,
      name: zero,
      detail: zero,
      variable: zero,
      gap: [0, 1, 0, 0, 0, 2, 3, 0, 0, 2],
      size: [12, 10, 5, 4, 2, 2, 5, 4, 2, 2],
      closed: zero,
      count: [1, 2, 1, 2, 1, 1, 1, 2, 1, 1],
      copy: [-1, -1, 0, -1, 0, 1, 1, -1, 0, 1],
      like: zero,
      twin: zero,
      region: zero.map(() => -1),
      role: Array.from({ length: 12 }, () => 0)
    }
  ];
  return decodePlain(plain);
}

/** What is drawn between operations, with all open but for what is folded into a stack. */
function edges(spread: readonly number[]): string[] {
  const document = nested();
  const open = new Set([...Array(10).keys()]);
  const { source, target, label } = show(document, document.graphs[0], { open, spread: new Set(spread) });
  return [...source].map((box, edge) => `${label[box]} ${label[target[edge]]}`).sort();
}

test('what comes after a stack in each copy of another one follows it, and no edge leads from copy to copy', () => {
  assert.deepEqual(edges([]), ['cos halve', 'halve result', 'sin cos', 'x sin']);
});

test('where the outer of two stacks is spread, each copy leads to the next, and those of the inner do not', () => {
  assert.deepEqual(edges([1]), ['cos halve', 'cos halve', 'halve result', 'halve sin', 'sin cos', 'sin cos', 'x sin']);
});

test('copies that are alike but for a parameter, as that of a slice, have a column for it', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const made = [0, 1, 2].map(i => {
    const slice = sketch.op('slice', [x], 'f32[1]', { limit_indices: `(${i + 1},)`, strides: '1' });
    return sketch.op('neg', [slice], 'f32[1]');
  });
  sketch.result('', sketch.op('concatenate', made, 'f32[3]'));
  const plain = sketch.plain();
  const kind = [RowKind.program, RowKind.stack, RowKind.copy, RowKind.copy, RowKind.copy];
  const name = plain.strings.push('-x[i]') - 1;
  const rows = { back: [1, 1, 1, 2, 3], kind, name: kind.map(() => name), gap: [0, 1, 0, 2, 2], size: [9, 6, 2, 2, 2] };
  plain.outlines = [{ ...plainOutline(rows, 9), count: [1, 3, 1, 1, 1], copy: [-1, -1, 0, 1, 2] }];
  const document = decodePlain(plain);
  const { columns, lines } = copyTable(document, document.graphs[0], STACK);
  assert.deepEqual(columns, [{ is: 'limit_indices', begins: '' }]);
  assert.deepEqual(
    lines.map(({ cells }) => cells),
    [['(1,)'], ['(2,)'], ['(3,)']]
  );
});
