import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellLine } from './cellLine.ts';

const STEP = 'def step(x):\n    return x * 2\n\nstep(1)';
const cells = (...texts: [string, number][]): { source: string; count: number }[] =>
  texts.map(([source, count]) => ({ source, count }));

test('a line is found in the cell that was run under its number', () => {
  const book = cells([STEP, 3], [STEP, 4]);
  assert.deepEqual(cellLine(book, 4, 2, '    return x * 2'), { cell: 1, line: 2 });
  assert.deepEqual(cellLine(book, 4, 3, ''), { cell: 1, line: 3 });
});

test('a line that has moved since is found where it is now', () => {
  const book = cells(['import jax', 2], [`# one\n# two\n${STEP}`, 3]);
  assert.deepEqual(cellLine(book, 3, 2, 'return x * 2'), { cell: 1, line: 4 });
  // Of several that read the same, the nearest.
  assert.deepEqual(cellLine(cells(['a\na\na\na', 3]), 3, 3, 'a'), { cell: 0, line: 3 });
});

test('a cell that has a new number is known by its line', () => {
  const book = cells(['import jax', 2], [STEP, 9]);
  assert.deepEqual(cellLine(book, 3, 2, '    return x * 2'), { cell: 1, line: 2 });
  assert.deepEqual(cellLine(cells([`\n${STEP}`, 9]), 3, 2, 'return x * 2'), { cell: 0, line: 3 });
  // Two have it elsewhere: neither is taken for it.
  assert.equal(cellLine(cells([`\n${STEP}`, 9], [`\n${STEP}`, 8]), 3, 2, 'return x * 2'), null);
});

test('a cell that no longer has the line is still the one', () => {
  assert.deepEqual(cellLine(cells(['1 + 1', 3]), 3, 2, 'return x * 2'), { cell: 0, line: null });
  assert.equal(cellLine(cells(['1 + 1', 4]), 3, 2, 'return x * 2'), null);
});
