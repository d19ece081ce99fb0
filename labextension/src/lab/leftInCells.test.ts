import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftInCells } from './leftInCells.ts';

/** Only ever told apart. */
const cellOf = (name: string): Element => ({ name }) as unknown as Element;

test('a picture follows the one of its function in its cell, the first of several the first, each once', () => {
  const left = new LeftInCells<string>();
  const [cell, other] = [cellOf('a'), cellOf('b')];
  left.put({ cell, place: 1, name: 'step' }, 'second');
  left.put({ cell, place: 0, name: 'step' }, 'first');
  left.put({ cell, place: 2, name: 'loss' }, 'of loss');
  left.put({ cell: other, place: 0, name: 'step' }, 'elsewhere');
  assert.equal(left.take(cell, 'step'), 'first');
  assert.equal(left.take(cell, 'step'), 'second');
  assert.equal(left.take(cell, 'step'), undefined);
  assert.equal(left.take(cell, 'loss'), 'of loss');
  assert.equal(left.take(other, 'step'), 'elsewhere');
});

test('a picture that goes on itself is followed by none', () => {
  const left = new LeftInCells<string>();
  const cell = cellOf('a');
  left.put({ cell, place: 0, name: 'step' }, 'first');
  left.put({ cell, place: 1, name: 'step' }, 'second');
  left.drop({ cell, place: 0, name: 'step' });
  left.drop({ cell: cellOf('b'), place: 0, name: 'step' });
  assert.equal(left.take(cell, 'step'), 'second');
});

test('what was left last in a place is followed, and only a few cells are remembered', () => {
  const left = new LeftInCells<number>();
  const cells = Array.from({ length: 20 }, (_, number) => cellOf(String(number)));
  cells.forEach((cell, number) => {
    left.put({ cell, place: 0, name: 'f' }, -1);
    left.put({ cell, place: 0, name: 'f' }, number);
  });
  assert.equal(left.take(cells[19], 'f'), 19);
  assert.equal(left.take(cells[19], 'f'), undefined);
  assert.equal(left.take(cells[0], 'f'), undefined);
});
