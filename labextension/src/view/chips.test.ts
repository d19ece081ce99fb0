/** What is written beside boxes for operands and results without a box of their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { ChipRack, operandChip } from './chips.ts';
import { Brevity } from './folds.ts';
import type { Chip } from './visible.ts';

const argument = (path: string, text = path): Chip => ({ text, value: 1, side: 'left', title: `${path} f32[4]`, path });
const result = (path: string): Chip => ({ ...argument(path, `→ ${path}`), side: 'right', title: `result ${path}` });
const constant = (text: string): Chip => ({ text, value: -1, side: 'left', title: `constant ${text}` });

function racked(chips: readonly Chip[], brevity: number): readonly Chip[] {
  const rack = new ChipRack();
  chips.forEach(chip => rack.add(0, chip));
  return rack.drawn(brevity).get(0) ?? [];
}

const texts = (chips: readonly Chip[], brevity: number): readonly string[] =>
  racked(chips, brevity).map(({ text }) => text);

const drawn = (...chips: readonly Chip[]): readonly string[] => texts(chips, Brevity.none);

test('a few chips are named each by itself', () => {
  assert.deepEqual(drawn(argument('w[0]'), argument('w[1]'), constant('2.0')), ['w[0]', 'w[1]', '2.0']);
  assert.deepEqual(drawn(...[0, 1, 2, 3, 4].map(at => argument(`w[${at}]`, 'w'))), ['w x5']);
});

test('more of one tree are told as the tree and how many of it, both of arguments and of results', () => {
  const all = [0, 1, 2].flatMap(at => [argument(`params[${at}][0]`), argument(`params[${at}][1]`)]);
  assert.deepEqual(drawn(...all, constant('0.1')), ['params x6', '0.1']);
  assert.deepEqual(drawn(...[0, 1, 2, 3].map(at => result(`result[0][${at}]`))), ['→ result[0] x4']);
  // The step that they have in common ends where a path does.
  assert.deepEqual(drawn(...[10, 11, 12, 13].map(at => argument(`w[${at}].bias`))), ['w x4']);
  const told = new ChipRack();
  all.forEach(chip => told.add(0, chip));
  assert.match(told.drawn().get(0)?.[0].title ?? '', /^params\[0\]\[0\] f32\[4\]\nparams\[0\]\[1\]/);
});

test('what is left over of many trees is counted one by one', () => {
  const all = ['a', 'b', 'c', 'd'].flatMap(name => [argument(`${name}[0]`), argument(`${name}[1]`)]);
  assert.deepEqual(drawn(...all), ['a x2', 'b x2', '+4']);
});

test('where it is narrow, one label at each side tells of all, but for those that are short', () => {
  assert.deepEqual(texts([argument('params[0][0]'), argument('params[0][1]')], Brevity.short), ['params[0] x2']);
  assert.deepEqual(texts([argument('params[0][0]'), argument('batch')], Brevity.short), ['2 inputs']);
  assert.deepEqual(texts([result('state'), result('loss')], Brevity.short), ['→ 2 results']);
  assert.deepEqual(texts([argument('w'), constant('0.1')], Brevity.short), ['w', '0.1']);
});

test('where there is least room, they are counted at each side, and what is told of them is the same', () => {
  const all = [argument('params[0][0]'), argument('params[0][1]'), constant('0.1'), result('state'), result('loss')];
  assert.deepEqual(texts(all, Brevity.shortest), ['3 →', '→ 2']);
  assert.deepEqual(texts([argument('batch_of_images'), result('loss')], Brevity.shortest), ['batch_o…', '→ loss']);
  assert.deepEqual(texts([result('result[1][0]')], Brevity.shortest), ['→ result']);
  const [three] = racked(all, Brevity.shortest);
  assert.equal(three.title, 'params[0][0] f32[4]\nparams[0][1] f32[4]\nconstant 0.1');
});

test('of many the first are told, fewer where their names are long', () => {
  const told = (letters: number, count: number): string[] => {
    const name = (at: number): string => `state[${at}]`.padEnd(letters, '_');
    const chips = Array.from({ length: count }, (_, at) => argument(name(at), 'state'));
    return racked(chips, Brevity.none)[0].title.split('\n');
  };
  assert.deepEqual([told(10, 30).length, told(10, 30)[8]], [9, 'and 22 more']);
  assert.deepEqual([told(80, 30).length, told(80, 30)[3]], [4, 'and 27 more']);
  assert.equal(told(10, 9).length, 9);
  assert.deepEqual(told(1000, 3).slice(1), ['and 2 more']);
});

test('what only lays out another value is called as what makes that', () => {
  const sketch = new Sketch();
  const counted = sketch.op('iota', [], 'i32[4]');
  const rows = sketch.op('broadcast_in_dim', [sketch.op('reshape', [counted], 'i32[1,4]')], 'i32[8,4]');
  const made = sketch.last;
  const turned = sketch.op('neg', [rows], 'i32[8,4]');
  const document = decodePlain(sketch.plain());
  const chipOf = (node: number, value: number): Chip =>
    operandChip(document, document.graphs[0], { node, value, literal: -1 });
  assert.deepEqual([chipOf(made, rows).text, chipOf(made, rows).title], ['iota', 'iota i32[8,4]']);
  assert.equal(chipOf(made + 1, turned).text, 'neg');
});

test('a long number says how large it is, whatever room there is', () => {
  const sketch = new Sketch();
  const written = [
    '-1000000000.0',
    '1500000000.0',
    '-3.4028235e+38',
    '1234567890123.0',
    '0.044715',
    '0.00000025',
    '100000'
  ];
  sketch.op('add', written, 'f32[]');
  const document = decodePlain(sketch.plain());
  const chips = written.map((_, literal) =>
    operandChip(document, document.graphs[0], { node: -1, value: -1, literal })
  );
  const short = ['-1e9', '1.5e9', '-3.4028…e+38', '1.234567…e12', '0.044715', '0.00000025', '100000'];
  assert.deepEqual(
    chips.map(({ text }) => text),
    short
  );
  assert.equal(chips[0].title, 'constant -1000000000.0');
});
