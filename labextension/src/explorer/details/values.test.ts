import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../../document/decode.ts';
import type { Document } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { sparkline, valueLines, valuesStrip } from './values.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

/** `affine` with the values of its product and of its tanh, which holds a NaN. */
function withValues(change: Record<string, unknown> = {}): Document {
  const plain = affine().plain();
  const numbers = { least: [-1.25, 0], most: [3, 0], mean: [0.5, 0], deviation: [1, 0] };
  const counts = { count: [4, 4], nan: [0, 4], infinite: [0, 0], zero: [1, 0], denormal: [0, 0] };
  plain.values = [
    { program: 0, bad: 5, bytes: 32, node: [3, 5], ...numbers, ...counts, histogram: [[1, 0, 3], []], ...change }
  ];
  return decodePlain(plain);
}

test('the details of a node say its range, its mean and what is not finite', () => {
  const document = withValues();
  const [graph] = document.graphs;
  assert.deepEqual(
    valueLines(document, graph, 3).map(({ term, text, note }) => `${term}|${text}|${note}`),
    ['values|-1.25 to 3 ▄▁█| mean 0.5, deviation 1', '|25 % zero|']
  );
  assert.deepEqual(
    valueLines(document, graph, 5).map(({ text }) => text),
    ['100 % NaN']
  );
  assert.deepEqual(
    valueLines(document, graph, 4).map(({ text, note }) => `${text}|${note}`),
    ['not looked at| inside of a kernel: ex.values(every=True) does']
  );
  assert.deepEqual(valueLines(document, graph, 0), []);
});

test('the results of one operation are told apart, in the details and in the list', () => {
  const plain = { node: [3, 3], result: [0, 0], name: ['cell: h', 'cell: ys'], bad: -1, nan: [0, 0] };
  const document = withValues({ ...plain, histogram: [[1], [2]] });
  assert.deepEqual(
    valueLines(document, document.graphs[0], 3).map(({ term }) => term),
    ['cell: h', '', 'cell: ys']
  );
  const strip = valuesStrip(document, () => undefined);
  const names = [...strip.querySelectorAll('.jv-value-line code')].map(one => one.textContent);
  assert.match(names.join('|'), /^cell: h f32\[.*\]\|cell: ys f32\[.*\]$/);
  assert.throws(() => withValues({ ...plain, result: [0, 7] }), /result names a result that its node does not have/);
  assert.throws(() => withValues({ ...plain, name: ['a'] }), /columns of one length/);
});

test('the strip leads to the first bad value', () => {
  const document = withValues();
  const shown: unknown[] = [];
  const strip = valuesStrip(document, (graph, node) => shown.push([graph, node]));
  assert.match(strip.textContent ?? '', /the first that holds a NaN is tanh/);
  strip.querySelector<HTMLElement>('.jv-link')?.click();
  assert.deepEqual(shown, [[0, 5]]);
  const good = valuesStrip(withValues({ bad: -1 }), () => undefined);
  assert.match(good.textContent ?? '', /all of them finite \(2 values looked at, 32 B\)/);
  assert.equal(valuesStrip(decodePlain(affine().plain()), () => undefined).hidden, true);
});

test('of what the first bad one reads the ranges are told', () => {
  const { graphs } = withValues();
  const reads = graphs[0].valueNode[graphs[0].operandSource[graphs[0].firstOperand[5]]];
  const numbers = { least: [-1.25, 0], most: [3, 0], node: [reads, 5], histogram: [[1, 0, 3], []] };
  const strip = valuesStrip(withValues(numbers), () => undefined);
  assert.match(strip.textContent ?? '', /a NaN is tanh.*; it reads \w+, -1.25 to 3 \(/);
});

test('the strip opens for a list of values, those that are not finite first', () => {
  const shown: unknown[] = [];
  const strip = valuesStrip(withValues(), (graph, node) => shown.push([graph, node]));
  const title = strip.querySelector<HTMLElement>('.jv-finding-title');
  const more = strip.querySelector<HTMLElement>('.jv-run-more');
  assert.equal(more?.hidden, true);
  title?.click();
  assert.equal(more?.hidden, false);
  assert.equal(title?.getAttribute('aria-expanded'), 'true');
  const rows = [...strip.querySelectorAll<HTMLElement>('.jv-value-line')];
  assert.deepEqual(
    rows.map(row => [...row.children].map(part => part.textContent).join('|')),
    ['tanh|100 % NaN||', 'dot_general|-1.25 to 3 ▄▁█, mean 0.5, deviation 1|25 % zero|']
  );
  rows[1].click();
  assert.deepEqual(shown, [[0, 3]]);
});

test('what was not looked at is told, with the way to look at it', () => {
  const strip = valuesStrip(withValues(), () => undefined);
  assert.match(strip.textContent ?? '', /1 operation inside of kernels was not looked at.*ex\.values\(every=True\)/);
});

test('what the program makes stands before what it is given', () => {
  const strip = valuesStrip(withValues({ bad: -1, node: [0, 5], nan: [0, 0], histogram: [[4], [4]] }), () => undefined);
  const names = [...strip.querySelectorAll('.jv-value-line code')].map(name => name.textContent);
  assert.equal(names[0], 'tanh');
  assert.equal(names.length, 2);
});

test('of many values only some are listed, and it is said how many more there are', () => {
  const plain = affine().plain();
  const nodes = [3, 4, 5];
  const many = Array.from({ length: 30 }, (_, row) => nodes[row % 3]);
  const all = (value: unknown): unknown[] => many.map(() => value);
  const numbers = { least: all(0), most: all(1), mean: all(0.5), deviation: all(0.1) };
  const counts = { count: all(4), nan: all(0), infinite: all(0), zero: all(0), denormal: all(0) };
  plain.values = [
    { program: 0, bad: -1, bytes: 32, node: many, ...numbers, ...counts, histogram: all([1, 3]) }
  ] as typeof plain.values;
  const strip = valuesStrip(decodePlain(plain), () => undefined);
  assert.equal(strip.querySelectorAll('.jv-value-line').length, 12);
  assert.match(strip.textContent ?? '', /and 18 more: select an operation for its own/);
});

test('a histogram in letters', () => {
  assert.equal(sparkline([0, 1, 8, 4]), '▁▂█▅');
});

test('values that do not fit the document are refused in one line', () => {
  for (const wrong of [{ program: 2 }, { node: [3, 99] }, { mean: [1] }, { bad: 99 }, { histogram: [] }]) {
    assert.throws(() => withValues(wrong), DocumentError);
  }
});
