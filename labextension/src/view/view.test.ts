import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { NodeRole, RowKind } from '../document/graph.ts';
import { affine, condition, loop, Sketch, threeCarried } from '../document/sketch.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { bordersOf } from './borders.ts';
import { firstView } from './first.ts';
import { openEverything } from './opening.ts';
import { Brevity, Folds } from './folds.ts';
import { family, families } from './family.ts';
import { shortPath } from './label.ts';
import { rowsOf } from './outline.ts';
import { toLayout } from './place.ts';
import { show } from './view.ts';
import { Shape, type VisibleGraph } from './visible.ts';

/** The visible graph as words: boxes with what stands around them, edges by name. */
function words(sketch: Sketch, open: Iterable<number> = []) {
  const document = decodePlain(sketch.plain());
  const visible = show(document, document.graphs[0], { open: new Set(open) });
  return { visible, boxes: names(visible), edges: edges(visible), chips: chips(visible) };
}
const names = (visible: VisibleGraph) =>
  visible.label.map((label, box) => [label, visible.detail[box]].filter(Boolean).join(' '));
const edges = (visible: VisibleGraph) =>
  Array.from(visible.source, (source, i) => `${visible.label[source]} -> ${visible.label[visible.target[i]]}`);
const chips = (visible: VisibleGraph) =>
  [...visible.chips].flatMap(([box, list]) => list.map(chip => `${visible.label[box]} ${chip.side} ${chip.text}`));

test('a small program: boxes, types where they are new, edges', () => {
  const { boxes, edges } = words(affine());
  assert.deepEqual(boxes, ['w f32[4,8]', 'b f32[4]', 'x f32[8]', 'dot_general f32[4]', 'add', 'tanh', 'result']);
  assert.deepEqual(edges, [
    'w -> dot_general',
    'x -> dot_general',
    'dot_general -> add',
    'b -> add',
    'add -> tanh',
    'tanh -> result'
  ]);
});

test('a closed loop is one box that opens, with its length', () => {
  const { boxes, edges, visible } = words(loop());
  assert.deepEqual(boxes.slice(3), ['cell x32', 'neg', 'result']);
  assert.deepEqual(edges, ['w -> cell', 'h -> cell', 'xs -> cell', 'cell -> neg', 'neg -> result']);
  assert.deepEqual([...visible.closed], [0, 0, 0, 1, 0, 0]);
});

test('an open loop: its turn is shown, what is the same in every turn passes the border', () => {
  const { boxes, edges, chips, visible } = words(loop(), [1]);
  assert.deepEqual(boxes.slice(3), ['cell scan x32', 'carry f32[4]', 'slice f32[4]', 'mul', 'add', 'neg', 'result']);
  assert.deepEqual(edges, [
    'h -> carry',
    'xs -> slice',
    'carry -> mul',
    'w -> mul',
    'mul -> add',
    'slice -> add',
    'add -> neg',
    'neg -> result'
  ]);
  assert.ok(chips.includes('add right → carry'));
  const frame = visible.label.indexOf('cell');
  assert.equal(visible.shape[frame], Shape.frame);
  assert.deepEqual(
    [...visible.parent].map((parent, box) => (parent === frame ? visible.label[box] : '')).filter(Boolean),
    ['carry', 'slice', 'mul', 'add']
  );
});

test('what a loop carries leads from where it is made back to where the next turn begins', () => {
  const { visible } = words(loop(), [1]);
  assert.deepEqual(
    visible.carries.map(({ maker, turn }) => [visible.label[maker], visible.label[turn]]),
    [['add', 'carry']]
  );
  assert.deepEqual(words(loop()).visible.carries, []);
});

test('where the values that go round a loop are chips, the way back leads to where its body begins', () => {
  const { visible } = words(threeCarried(), [1]);
  assert.deepEqual(
    visible.carries.map(({ maker, turn }) => [visible.label[maker], visible.label[turn], visible.shape[turn]]),
    ['sin', 'cos', 'tan'].map(maker => [maker, 'cell', Shape.frame])
  );
});

test('the way back is seen too where other operations stand in one row with the loop', () => {
  const document = decodePlain(threeCarried().plain());
  const [graph] = document.graphs;
  rowsOf(document, graph).outline.region.fill(-1);
  const { carries, label } = show(document, graph, { open: new Set([1]) });
  assert.deepEqual(
    carries.map(({ maker, turn }) => [label[maker], label[turn]]),
    ['sin', 'cos', 'tan'].map(maker => [maker, 'cell'])
  );
});

test('what a loop gives as it was given it, turn by turn, leads on from the loop', () => {
  const { edges, chips } = words(threeCarried(), [1]);
  assert.ok(edges.includes('cell -> abs'), edges.join(', '));
  assert.ok(!chips.some(chip => chip.startsWith('abs')), chips.join(', '));
});

test('what goes round a loop as it was given it is read where it is made, and by what comes after the loop too', () => {
  const sketch = new Sketch('kept');
  const [x, w] = [sketch.argument('x', 'f32[4]'), sketch.argument('w', 'f32[4]')];
  const weight = sketch.op('exp', [w], 'f32[4]');
  const final = sketch.op('while', [x, weight], ['f32[4]', 'f32[4]']);
  sketch.region(sketch.last, 'while', 'cell', () => {
    const turn = sketch.argument('', 'f32[4]', { kind: 'init', from: x });
    const kept = sketch.argument('', 'f32[4]', { kind: 'init', from: weight });
    const first = sketch.last - 1;
    const next = sketch.op('mul', [turn, kept], 'f32[4]');
    sketch.bind('carry', sketch.result('', next, { kind: 'leave', to: final }), first);
    sketch.bind('carry', sketch.result('', kept, { kind: 'leave', to: final + 1 }), first + 1);
  });
  sketch.result('result', sketch.op('add', [final, final + 1], 'f32[4]'));
  const { boxes, edges, chips } = words(sketch, [1]);
  assert.deepEqual(boxes.slice(2), ['exp', 'cell while', 'carry f32[4]', 'mul', 'add', 'result']);
  assert.deepEqual(edges, [
    'w -> exp',
    'x -> carry',
    'carry -> mul',
    'exp -> mul',
    'mul -> add',
    'exp -> add',
    'add -> result'
  ]);
  assert.deepEqual(chips, ['mul right → carry']);
});

/** A loop that goes on while the first of the values that go round it is small. */
function whileSmall(names: readonly string[] = ['small', 'other']): Sketch {
  const sketch = new Sketch();
  const starts = names.map(name => sketch.op('exp', [sketch.argument(name, 'f32[]')], 'f32[]', {}, name));
  const final = sketch.op(
    'while',
    starts,
    starts.map(() => 'f32[]')
  );
  const owner = sketch.last;
  const firsts = ['cond', 'body'].map(body => {
    let first = 0;
    sketch.region(owner, `while ${body}`, `my_${body}`, () => {
      const given = starts.map(from => sketch.argument('', 'f32[]', { kind: 'init', from }));
      first = sketch.last + 1 - names.length;
      if (body === 'cond') {
        sketch.result('', sketch.op('lt', [given[0], '9.0'], 'bool[]'));
      } else {
        given.forEach((value, i) => {
          sketch.result('', sketch.op('sin', [value], 'f32[]'), { kind: 'leave', to: final + i });
        });
      }
    });
    return first;
  });
  // In the body an operation and a result stand by turns.
  const result = sketch.last - 2 * names.length + 2;
  firsts.forEach(first => names.forEach((_, i) => sketch.bind('carry', result + 2 * i, first + i)));
  sketch.result('result', sketch.op('add', [final, final + 1], 'f32[]'));
  return sketch;
}

test('what goes round a loop leads into its condition where that reads it, open or closed', () => {
  const { edges, visible } = words(whileSmall(), [1, 2, 3]);
  const turns = [...visible.shape.keys()].filter(box => visible.shape[box] === Shape.turn);
  assert.deepEqual(
    turns.map(box => visible.label[visible.parent[box]]),
    ['condition: my_cond', 'body: my_body', 'body: my_body']
  );
  assert.deepEqual(
    edges.filter(edge => edge.endsWith('-> carry')),
    ['small', 'small', 'other'].map(name => `${name} -> carry`)
  );
  const closed = words(whileSmall(), [1]).edges.filter(edge => /: my_(cond|body)$/.test(edge));
  assert.deepEqual(closed, ['small -> condition: my_cond', 'small -> body: my_body', 'other -> body: my_body']);
});

test('the way back leads to the body of a loop, not to all of it, also where the body is no region of the graph', () => {
  const document = decodePlain(whileSmall(['small', 'one', 'other']).plain());
  const [graph] = document.graphs;
  rowsOf(document, graph).outline.region.fill(-1);
  const { carries, label } = show(document, graph, { open: new Set([1, 2, 3]) });
  assert.deepEqual(
    carries.map(({ maker, turn }) => [label[maker], label[turn]]),
    [0, 1, 2].map(() => ['sin', 'body: my_body'])
  );
});

test('branches that only hand on what they are given are boxes that do not open, with that as chip or edge', () => {
  const sketch = new Sketch();
  const [p, x, y] = ['p', 'x', "params['y']"].map((name, i) => sketch.argument(name, i ? 'f32[4]' : 'bool[]'));
  const made = sketch.op('exp', [x], 'f32[4]');
  const chosen = sketch.op('cond', [p, made, y], 'f32[4]');
  const owner = sketch.last;
  for (const [name, from] of [
    ['if false', made],
    ['if true', y]
  ] as const) {
    sketch.region(owner, 'branch', name, () => {
      sketch.result('', sketch.argument('', 'f32[4]', { kind: 'enter', from }), { kind: 'leave', to: chosen });
    });
  }
  // So many read it that it is a chip at each of them.
  const end = [0, 1, 2].reduce(sum => sketch.op('add', [sum, y], 'f32[4]'), chosen);
  sketch.result('result', end);
  const { edges, chips, visible } = words(sketch, [1]);
  assert.deepEqual(
    new Set(edges.filter(edge => !edge.startsWith('add'))),
    new Set(['x -> exp', 'p -> cond', 'exp -> if false', 'if false -> add', 'if true -> add'])
  );
  assert.deepEqual(chips, ['if true left y', 'add left y', 'add left y', 'add left y']);
  for (const name of ['if false', 'if true']) {
    const box = visible.label.indexOf(name);
    assert.equal(visible.shape[box], Shape.box);
    assert.equal(visible.closed[box], 0);
  }
});

test('what an open sort gives comes from its frame: its body only says the order', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[8]');
  const sorted = sketch.op('sort', [x], 'f32[8]');
  sketch.region(sketch.last, 'comparator', 'order', () => {
    const [one, other] = [sketch.argument('', 'f32[]'), sketch.argument('', 'f32[]')];
    sketch.result('', sketch.op('lt', [one, other], 'bool[]'));
  });
  sketch.result('result', sketch.op('sin', [sorted], 'f32[8]'));
  const { edges } = words(sketch, [1]);
  assert.deepEqual(edges, ['x -> order', 'argument -> lt', 'argument -> lt', 'order -> sin', 'sin -> result']);
});

test('the branches of a condition each reach the reader of its result', () => {
  const { boxes, edges, visible } = words(condition(), [1, 2, 3]);
  assert.deepEqual(boxes, ['p bool[]', 'x f32[4]', 'cond', 'if false', 'cos', 'if true', 'sin', 'neg', 'result']);
  assert.deepEqual(
    [...edges].sort(),
    ['cos -> neg', 'neg -> result', 'p -> cond', 'sin -> neg', 'x -> cos', 'x -> sin'].sort()
  );
  assert.equal(visible.parent[visible.label.indexOf('sin')], visible.label.indexOf('if true'));
});

test('literals are chips; arguments that many boxes read are chips; a value read twice is one edge', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const w = sketch.argument("params[0]['w']", 'f32[4]');
  let y = sketch.op('mul', [x, '1.01'], 'f32[4]');
  for (let i = 0; i < 4; i++) {
    y = sketch.op('add', [y, w], 'f32[4]');
  }
  sketch.result('result', sketch.op('mul', [y, y], 'f32[4]'));
  const { boxes, edges, chips } = words(sketch);
  assert.equal(boxes[0], 'x f32[4]');
  assert.ok(!boxes.some(box => box.startsWith('params')));
  assert.deepEqual(chips, ['mul left 1.01', 'add left w', 'add left w', 'add left w', 'add left w']);
  assert.equal(edges.filter(edge => edge === 'add -> mul').length, 1);
});

test('a value that very many boxes read is a chip at each of them', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const scale = sketch.op('rsqrt', [x], 'f32[4]');
  let y = x;
  for (let i = 0; i < 13; i++) {
    y = sketch.op('mul', [y, scale], 'f32[4]');
  }
  sketch.result('result', y);
  const { chips, edges } = words(sketch);
  assert.equal(chips.filter(chip => chip === 'mul left rsqrt').length, 13);
  assert.ok(chips.includes('rsqrt right → 13'));
  assert.ok(!edges.includes('rsqrt -> mul'));
});

test('arguments without end are counted, and the first of them told', () => {
  const sketch = new Sketch();
  const weights = Array.from({ length: 60 }, (_, i) => sketch.argument(`w[${i}]`, 'f32[4]'));
  const call = sketch.op('jit', weights, 'f32[4]', {}, 'inner');
  sketch.region(sketch.last, 'jit', 'inner', () => {
    const inner = weights.map(from => sketch.argument('', 'f32[4]', { kind: 'enter', from }));
    const sum = inner.reduce((value, weight) => sketch.op('add', [value, weight], 'f32[4]'));
    sketch.result('', sum, { kind: 'leave', to: call });
  });
  sketch.result('result', call);
  const [chip] = [...words(sketch).visible.chips.values()].flat().filter(({ side }) => side === 'left');
  assert.equal(chip.text, '60 inputs');
  assert.deepEqual(chip.title.split('\n').slice(-2), ['w[7] f32[4]', 'and 52 more']);
});

test('many results are chips at their makers, with their names', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 5; i++) {
    sketch.result(`result[${i}]['loss']`, sketch.op('sin', [x], 'f32[4]'));
  }
  const { chips, boxes, visible } = words(sketch);
  assert.equal(chips.filter(chip => chip === 'sin right → loss').length, 5);
  assert.equal([...visible.chips.values()].flat().find(chip => chip.side === 'right')?.title, "result[0]['loss']");
  assert.ok(!boxes.some(box => box.startsWith('result')));
});

test('an argument that is returned as it is, and a constant result, are still seen', () => {
  const sketch = new Sketch();
  const x = sketch.argument("params['w']", 'f32[4]');
  sketch.result('result[0]', x);
  sketch.result('result[1]', '0.0');
  const { boxes, chips } = words(sketch);
  assert.deepEqual(boxes.slice(-2), ['result[0]', 'result[1]']);
  assert.ok(chips.includes('result[1] left 0.0'));
});

test('every edge joins boxes, and none a frame with what stands in it', () => {
  const { visible } = words(loop(), [1]);
  visible.source.forEach((source, i) => {
    const target = visible.target[i];
    assert.ok(source >= 0 && source < visible.count && target >= 0 && target < visible.count);
    for (let at = visible.parent[target]; at >= 0; at = visible.parent[at]) {
      assert.notEqual(at, source);
    }
  });
});

test('the first view opens what fits and leaves closed what does not', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const measure = (text: string) => 7 * text.length;
  const sized = (height: number) => (input: { width: Float64Array }) =>
    ({ totalWidth: 100, totalHeight: height * input.width.length }) as never;
  const space = { width: 760, height: 560 };
  // Two operations do not make a call worth opening by its size, but a loop is.
  assert.deepEqual([...firstView(document, graph, space, measure, sized(30)).open], [1]);
  assert.deepEqual([...firstView(document, graph, space, measure, sized(90)).open], []);
});

test('what puts the slice of a turn into what a loop gives hands on the slice, not what was there before', () => {
  const sketch = new Sketch('turn');
  const before = sketch.argument('before', 'f32[8]');
  const x = sketch.argument('x', 'f32[1]');
  const made = sketch.op('sin', [x], 'f32[1]');
  const put = sketch.op('dynamic_update_slice', [before, made], 'f32[8]');
  const node = sketch.last;
  sketch.result('result', put);
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  assert.deepEqual(edges(show(document, graph, { open: new Set() })).at(-1), 'dynamic_update_slice -> result');
  rowsOf(document, graph).outline.role[node] = NodeRole.edge;
  assert.deepEqual(edges(show(document, graph, { open: new Set() })), ['x -> sin', 'sin -> result']);
});

test('where words are too long for a space, they are cut earlier and what they stand for is shown', () => {
  const plain = loop().plain();
  plain.strings = plain.strings.map(text => (text === 'mul' ? 'the_product_of_two_rows' : text));
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const measure = (text: string): number => 20 * text.length;
  const row = (input: LayoutInput): Layout =>
    ({
      totalWidth: input.width.reduce((sum, one, box) => sum + (input.group[box] ? 0 : one), 0),
      totalHeight: 9
    }) as never;
  const width = (brevity: number): number =>
    row(toLayout(show(document, graph, { open: new Set([1]), brevity }), measure)).totalWidth * 0.75;
  assert.ok(width(Brevity.short) < width(Brevity.none));
  const seen = (least: number) => firstView(document, graph, { width: least, height: 400 }, measure, row);
  assert.deepEqual(seen(width(Brevity.none)), { open: new Set([1]), brevity: Brevity.none });
  assert.deepEqual(seen(width(Brevity.none) - 1), { open: new Set([1]), brevity: Brevity.short });
  assert.deepEqual([...seen(width(Brevity.shortest) - 1).open], []);
});

test('many boxes that have no room have shorter words too', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 12; i++) {
    value = sketch.op('an_operation_with_a_long_name', [value], 'f32[4]');
  }
  sketch.result('result', value);
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const measure = (text: string): number => 7 * text.length;
  const row = (input: LayoutInput): Layout =>
    ({ totalWidth: input.width.reduce((sum, one) => sum + one, 0), totalHeight: 9 }) as never;
  const wide = row(toLayout(show(document, graph, { open: new Set() }), measure)).totalWidth * 0.75;
  const brevity = (width: number): number | undefined =>
    firstView(document, graph, { width, height: 400 }, measure, row).brevity;
  assert.equal(brevity(wide), Brevity.none);
  assert.equal(brevity(wide - 1), Brevity.short);
});

test('families: usual operations have one, unknown ones are other', () => {
  assert.equal(families[family('dot_general')].key, 'matmul');
  assert.equal(families[family('reduce_sum')].key, 'reduction');
  assert.equal(families[family('scan')].key, 'control');
  assert.equal(families[family('my_own_primitive')].key, 'other');
});

test('paths are shortened to what tells them apart', () => {
  assert.equal(shortPath("params[0]['w']"), 'w');
  assert.equal(shortPath("opt[0].mu['params']['Dense_0']['kernel']"), 'kernel');
  assert.equal(shortPath('opt[0].mu'), 'mu');
  assert.equal(shortPath("state['head']['kernel'].value"), 'kernel');
  assert.equal(shortPath('batch.value'), 'value');
  assert.equal(shortPath('ws[2]'), 'ws[2]');
  assert.equal(shortPath('x'), 'x');
});

test('how many boxes there will be is known before the picture is made', () => {
  for (const sketch of [affine(), loop()]) {
    const document = decodePlain(sketch.plain());
    const [graph] = document.graphs;
    const rows = rowsOf(document, graph);
    for (const open of [new Set<number>(), openEverything(rows, false), openEverything(rows, true)]) {
      const shown = show(document, graph, { open });
      const boxes = shown.shape.filter(shape => shape === Shape.box).length;
      assert.equal(new Folds(graph, rows, bordersOf(graph), { open }).operationBoxes, boxes);
    }
  }
});

test('what reads tens of thousands of values is seen in no time', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const many = Array.from({ length: 40_000 }, () => sketch.op('sin', [x], 'f32[4]'));
  sketch.result('result', sketch.op('concatenate', many, 'f32[160000]'));
  const document = decodePlain(sketch.plain());
  const { user } = process.cpuUsage();
  const { count } = show(document, document.graphs[0], { open: new Set() });
  assert.equal(count, 40_002);
  assert.ok(process.cpuUsage().user - user < 2e6, `${process.cpuUsage().user - user} µs`);
});

test('where not even short words have room, arguments have no types and names are cut once more', () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4,8]');
  sketch.result('result', sketch.op('an_operation_with_a_long_name', [x], 'f32[8]'));
  const document = decodePlain(sketch.plain());
  const [graph] = document.graphs;
  const seen = (brevity: number) => names(show(document, graph, { open: new Set(), brevity }));
  assert.deepEqual(seen(Brevity.short), ['x f32[4,8]', 'an_operation_… f32[8]', 'result']);
  assert.deepEqual(seen(Brevity.shortest), ['x', 'an_operatio…', 'result']);
  const measure = (text: string): number => 7 * text.length;
  const row = (input: LayoutInput): Layout =>
    ({ totalWidth: input.width.reduce((sum, one) => sum + one, 0), totalHeight: 9 }) as never;
  const widthOf = (brevity: number): number =>
    row(toLayout(show(document, graph, { open: new Set(), brevity }), measure)).totalWidth * 0.75;
  const chosen = (width: number) => firstView(document, graph, { width, height: 400 }, measure, row).brevity;
  assert.equal(chosen(widthOf(Brevity.short)), Brevity.short);
  assert.equal(chosen(widthOf(Brevity.short) - 1), Brevity.shortest);
  // Where nothing fits, it is as large as it can be.
  assert.equal(chosen(widthOf(Brevity.shortest) - 1), Brevity.shortest);
});

test('what a loop goes on for is left out only where it has no room', () => {
  const plain = loop().plain();
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const { kind } = rowsOf(document, graph).outline;
  kind[1] = RowKind.body;
  const called = (name: string): string | undefined => {
    (rowsOf(document, graph).name as string[])[1] = name;
    return show(document, graph, { open: new Set(), brevity: Brevity.short }).label.at(3);
  };
  assert.equal(called('while wide'), 'while wide');
  assert.equal(called('while abs(error) > 0.1'), 'while');
});

test('what is made for the first turn of a loop is told where it stands within the frame of the loop', () => {
  const sketch = new Sketch('begins');
  const x = sketch.argument('x', 'f32[4]');
  const start = sketch.op('exp', [x], 'f32[4]');
  const final = sketch.op('scan', [start, x, x], ['f32[4]', 'f32[4]', 'f32[4]'], { length: '32' });
  sketch.region(sketch.last, 'scan', 'cell', () => {
    const carried = [start, x, x].map(from => sketch.argument('', 'f32[4]', { kind: 'init', from }));
    const first = sketch.last - 2;
    for (const [i, op] of ['sin', 'cos', 'tan'].entries()) {
      const next = sketch.op(op, [carried[i]], 'f32[4]');
      sketch.bind('carry', sketch.result('', next, { kind: 'leave', to: final + i }), first + i);
    }
  });
  sketch.result('result', final);
  const told = (before: number): string[] => {
    const document = decodePlain(sketch.plain());
    const [graph] = document.graphs;
    // `exp` stands in the row of the loop, too.
    const { outline, leaf } = rowsOf(document, graph);
    outline.first[1] -= before;
    leaf.fill(1, outline.first[1], outline.end[1]);
    return chips(show(document, graph, { open: new Set([1]) })).filter(chip => chip.endsWith(' turn'));
  };
  assert.deepEqual(told(0), []);
  assert.deepEqual(told(1), ['exp right → first turn']);
});
