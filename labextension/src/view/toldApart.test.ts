/** What closed boxes of one name say that hold different things. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { RowKind } from '../document/graph.ts';
import { plainOutline, Sketch } from '../document/sketch.ts';
import { Apart } from './folds.ts';
import { show } from './view.ts';

/** A call of `model` for each list of types: those of what its operations make, one after the other. */
function details(...calls: readonly (readonly string[])[]): readonly string[] {
  return made((at: number): string => (at % 2 ? 'sin' : 'cos'), ...calls);
}

/** The same, where `op` says the operations by their places. */
function made(op: (at: number, call: number) => string, ...calls: readonly (readonly string[])[]): readonly string[] {
  const sketch = new Sketch();
  const given = sketch.argument('x', 'f32[4]');
  calls.forEach((types, call) => {
    const value = sketch.op('jit', [given], types[types.length - 1], {}, 'model');
    sketch.region(sketch.last, 'jit', 'model', () => {
      let inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: given });
      types.forEach((type, at) => {
        inner = sketch.op(op(at, call), [inner], type);
      });
      sketch.result('', inner, { kind: 'leave', to: value });
    });
    sketch.op('neg', [value], 'f32[]');
  });
  const document = decodePlain(sketch.plain());
  const { label, detail } = show(document, document.graphs[0], { open: new Set(), apart: Apart.beside });
  return detail.filter((_, box) => label[box] === 'model');
}

const steps = (count: number): readonly string[] => new Array<string>(count).fill('f32[4]');

test('of one name, what gives different types says which', () => {
  assert.deepEqual(details(['f32[4]', 'f32[2]'], ['f32[4]', 'f32[4]', 'f32[4,4]']), ['f32[2]', 'f32[4,4]']);
});

test('of one name, each says which operations it alone has, if each has any', () => {
  const own = [['dot_general', 'tanh', 'cbrt'], ['logistic']];
  const op = (at: number, call: number): string => own[call]?.[at] ?? 'add';
  const call = ['f32[4]', 'f32[4]', 'f32[4]', 'f32[4]'];
  assert.deepEqual(made(op, call, call), ['dot_general, tanh', 'logistic']);
  assert.deepEqual(made(op, call, call, call), ['', '', '']);
});

/** Two calls of one name with parts of these names: the first of 14 operations, the other of 3. */
function withParts(...names: readonly string[]): readonly string[] {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  const ops = [...new Array<string>(14).fill('add'), 'tanh', 'add', 'mul'];
  ops.forEach(op => (value = sketch.op(op, [value], 'f32[4]')));
  sketch.result('result', value);
  const plain = sketch.plain();
  const named = (name: string): number => plain.strings.push(name) - 1;
  const [model, ...parts] = ['model', ...names].map(named);
  const all = [0, model, parts[0], parts[1], model, parts[2], parts[3]];
  plain.outlines = [
    plainOutline(
      {
        back: [1, 1, 1, 2, 4, 1, 2],
        kind: [RowKind.program, ...all.slice(1).map(() => RowKind.call)],
        name: all,
        gap: [0, 1, 0, 2, 12, 0, 1],
        size: [ops.length + 2, 14, 2, 12, 3, 1, 2]
      },
      ops.length + 2
    )
  ];
  const document = decodePlain(plain);
  const { label, detail } = show(document, document.graphs[0], { open: new Set(), apart: Apart.beside });
  return detail.filter((_, box) => label[box] === 'model');
}

test('of one name, each says which parts it alone has, whatever it holds', () => {
  assert.deepEqual(withParts('ii, hi', 'gelu +12', 'ig, hg, tanh', 'gelu +2'), ['ii, hi', 'ig, hg']);
  // What a part repeats of the name of the whole tells nothing.
  assert.deepEqual(withParts('model', 'hi', 'ig', 'hg'), ['hi', 'hg, ig']);
  // Parts that have only names of operations say less than how many there are.
  assert.deepEqual(withParts('dot_general', 'tanh', 'add', 'tanh'), ['14 operations', '3 operations']);
});

test('of one name, what holds far more than the other says how much each holds', () => {
  assert.deepEqual(details(steps(20), steps(2)), ['20 operations', '2 operations']);
});

test('what holds the same, or nearly so, needs no words', () => {
  assert.deepEqual(details(steps(20), steps(20)), ['', '']);
  assert.deepEqual(details(steps(20), steps(19)), ['', '']);
  assert.deepEqual(details(steps(4), steps(2)), ['', '']);
});
