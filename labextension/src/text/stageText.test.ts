import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import type { Document } from '../document/graph.ts';
import { pair } from '../document/sketchPair.ts';
import { affine, calledTwice, condition, loop, Sketch } from '../document/sketch.ts';
import type { Listing } from './listing.ts';
import { formName, listingOf } from './stageText.ts';

function documentOf(sketch: Sketch, kind = 'jaxpr'): Document {
  const document = decodePlain(sketch.plain());
  const [program] = document.programs;
  return { ...document, programs: [{ ...program, stages: [{ kind, graph: 0, seconds: {} }] }] };
}

function listed(sketch: Sketch, kind = 'jaxpr'): Listing {
  const document = documentOf(sketch, kind);
  return listingOf(document, document.graphs[0]);
}

const texts = (listing: Listing): string[] => Array.from({ length: listing.count }, (_, line) => listing.text(line));

test('a jaxpr reads as JAX prints it', () => {
  assert.deepEqual(texts(listed(affine())), [
    '{ lambda ; a:f32[4,8] b:f32[4] c:f32[8]. let  # w, b, x',
    '    d:f32[4] = dot_general[dimension_numbers=(((1,), (0,)), ((), ()))] a c',
    '    e:f32[4] = add d b',
    '    f:f32[4] = tanh e',
    '  in (f,) }'
  ]);
});

test('the jaxpr of a loop stands in its equation, and what nothing reads has no name', () => {
  assert.deepEqual(texts(listed(loop())).slice(1), [
    '    d:f32[4] _:f32[32,4] = scan[length=32',
    '      jaxpr={ lambda ; e:f32[4] f:f32[4] g:f32[4]. let  # cell',
    '          h:f32[4] = mul f e',
    '          i:f32[4] = add h g',
    '        in (i, h) }',
    '    ] a b c',
    '    j:f32[4] = neg d',
    '  in (j,) }'
  ]);
  assert.deepEqual(
    texts(listed(condition()))
      .filter(text => text.includes('lambda'))
      .map(text => text.trim()),
    [
      '{ lambda ; a:bool[] b:f32[4]. let  # p, x',
      'branches[0]={ lambda ; d:f32[4]. let  # if false',
      'branches[1]={ lambda ; f:f32[4]. let  # if true'
    ]
  );
});

test('many arguments have a line each, with what the function calls them', () => {
  const sketch = new Sketch();
  const values = ['a', 'b', 'c', 'd', 'e'].map(name => sketch.argument(`p['${name}']`, 'f32[2]'));
  sketch.result('', sketch.op('add', values, 'f32[2]'));
  const listing = listed(sketch);
  assert.deepEqual(texts(listing).slice(0, 3), ['{ lambda ;', "    a:f32[2]  # p['a']", "    b:f32[2]  # p['b']"]);
  assert.deepEqual(listing.nodes(1), [0]);
});

test('lines know their nodes and nodes their lines: a loop has one before its body and one behind', () => {
  const listing = listed(loop());
  assert.deepEqual(listing.nodes(0), [0, 1, 2]);
  assert.deepEqual(listing.nodes(1), [3]);
  assert.deepEqual(listing.lines(3), [1, 6]);
  assert.deepEqual(listing.nodes(5), [9, 10], 'the results of the body');
  for (let line = 0; line < listing.count; line++) {
    listing.nodes(line).forEach(node => assert.ok(listing.lines(node).includes(line)));
  }
});

test('HLO has a line for each instruction, and computations before those that call them', () => {
  const sketch = new Sketch('jit_f');
  const x = sketch.argument('x.1', 'f32[4]');
  const fused = sketch.op('fusion', [x], 'f32[4]', { kind: 'kLoop', backend: 'fast' }, 'add_fusion');
  sketch.region(sketch.last, 'fusion', 'fused_computation', () => {
    const inner = sketch.argument('param_0', 'f32[4]', { kind: 'enter', from: x });
    const added = sketch.op('add', [inner, inner], 'f32[4]', { layout: '{0:T(128)}' }, 'add.1');
    sketch.result('', added, { kind: 'leave', to: fused });
  });
  const pair = sketch.op('sort', [fused, x], ['f32[4]', 's32[4]'], {}, 'sort.2');
  sketch.result('result[0]', pair + 1);
  sketch.result('result[1]', fused);
  const listing = listed(sketch, 'hlo');
  assert.deepEqual(texts(listing), [
    'HloModule main',
    '',
    '%fused_computation (param_0: f32[4]) -> f32[4] {',
    '  %param_0 = f32[4] parameter(0)',
    '  ROOT %add.1 = f32[4]{0:T(128)} add(%param_0, %param_0)',
    '}',
    '',
    'ENTRY %main (x.1: f32[4]) -> (s32[4], f32[4]) {',
    '  %x.1 = f32[4] parameter(0)',
    '  %add_fusion = f32[4] fusion(%x.1), kind=kLoop, calls=%fused_computation, backend=fast',
    '  %sort.2 = (f32[4], s32[4]) sort(%add_fusion, %x.1)',
    '  ROOT %tuple = (s32[4], f32[4]) tuple(%sort.2[1], %add_fusion)',
    '}'
  ]);
  assert.equal(listing.text(listing.start).slice(0, 5), 'ENTRY');
});

test('StableHLO is told in types of tensors, and a function once for all its calls', () => {
  const listing = listed(calledTwice(), 'stablehlo');
  assert.deepEqual(texts(listing), [
    'module @main {',
    '  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {',
    '    %0 = call @double(%arg0) : tensor<4xf32>',
    '    %1 = call @double(%0) : tensor<4xf32>',
    '    return %1 : tensor<4xf32>',
    '  }',
    '  func.func private @double(%arg0: tensor<4xf32>) -> tensor<4xf32> {',
    '    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>',
    '    return %0 : tensor<4xf32>',
    '  }',
    '}'
  ]);
  const [add, again] = [3, 7];
  assert.deepEqual(listing.nodes(7), [add, again], 'it stands for both');
  assert.deepEqual(listing.lines(again), [7]);
});

test('a name knows the line where it is made, a body the line where it begins and who calls it', () => {
  const named = (listing: Listing, line: number, text: string): number => {
    const piece = [...listing.pieces(line)].reverse().find(one => one.text === text);
    assert.ok(piece?.named, text);
    return listing.lineOf(piece.named);
  };
  const jaxpr = listed(loop());
  assert.equal(named(jaxpr, 3, 'f'), 2, 'an argument of a body, in the line of its arguments');
  assert.equal(named(jaxpr, 6, 'a'), 0, 'behind the body, what the loop reads');
  assert.equal(named(jaxpr, 7, 'd'), 1);
  const stablehlo = listed(calledTwice(), 'stablehlo');
  assert.deepEqual(
    [named(stablehlo, 2, '@double'), named(stablehlo, 3, '@double'), named(stablehlo, 3, '%0')],
    [6, 6, 2]
  );
  assert.deepEqual(stablehlo.callers('double'), [1, 5]);
  const hlo = listed(calledTwice(), 'hlo');
  assert.equal(texts(hlo)[2].slice(0, 7), '%double');
  assert.deepEqual(
    [9, 10].map(line => named(hlo, line, '%double')),
    [2, 2]
  );
  assert.deepEqual(hlo.callers('double'), [1, 5]);
  assert.deepEqual(hlo.callers('main'), [], 'nothing calls the program');
});

test('the text of a state of the compiler, and of whatever else there is, is HLO', () => {
  for (const [kind, name] of [
    ['jaxpr', 'jaxpr'],
    ['stablehlo', 'StableHLO'],
    ['hlo', 'HLO'],
    ['other', 'HLO']
  ]) {
    const document = documentOf(affine(), kind);
    assert.equal(formName(document, document.graphs[0]), name);
  }
  const several = decodePlain(pair());
  assert.equal(formName(several, several.graphs[1]), 'jaxpr of other');
});

test('a hundred thousand lines are laid in no time, because none is written', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 100_000; i++) {
    value = sketch.op('add', [value, value], 'f32[4]');
  }
  sketch.result('', value);
  const document = documentOf(sketch);
  const start = performance.now();
  const listing = listingOf(document, document.graphs[0]);
  assert.equal(listing.text(50_000), '    cvzc:f32[4] = add cvzb cvzb');
  assert.ok(performance.now() - start < 1_000);
});

test('reading begins behind the arguments where they would fill the view', () => {
  const sum = (count: number): Sketch => {
    const sketch = new Sketch('sum');
    const read = Array.from({ length: count }, (_, at) => sketch.argument(`x${at}`, 'f32[4]'));
    sketch.result('result', sketch.op('add', [read[0], read[count - 1]], 'f32[4]', {}, 'add.1'));
    return sketch;
  };
  for (const [kind, head] of [
    ['jaxpr', '{ lambda'],
    ['stablehlo', 'module'],
    ['hlo', 'ENTRY']
  ]) {
    const [few, many] = [listed(sum(5), kind), listed(sum(40), kind)];
    assert.ok(few.text(few.start).startsWith(head), kind);
    const begins = texts(many).slice(many.start, many.start + 3);
    assert.match(begins[2], /\badd\b/, kind);
    assert.doesNotMatch(begins.slice(0, 2).join(), /\badd\b/, kind);
  }
});
