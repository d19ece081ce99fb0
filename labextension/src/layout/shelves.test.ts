import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PART_GAP } from './distances.ts';
import { pack, type Packed } from './shelves.ts';

const parts = (sizes: readonly (readonly [number, number])[], before: readonly number[] = []): Packed[] =>
  sizes.map(([width, height], i) => ({ width, height, before: before[i] ?? -1 }));
const squares = Array.from({ length: 12 }, (): [number, number] => [100, 100]);

test('parts fill shelves from the left, as wide as the whole should be', () => {
  const { x, y, shelf, width, height } = pack(parts(squares), true);
  assert.deepEqual([...shelf], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
  assert.deepEqual([...x.subarray(4, 6)], [0, 100 + PART_GAP]);
  assert.equal(y[4], 100 + PART_GAP);
  assert.deepEqual([width, height], [4 * 100 + 3 * PART_GAP, 3 * 100 + 2 * PART_GAP]);
  assert.equal(pack(parts(squares), false).height, 100);
  assert.deepEqual([...pack(parts(squares), true, 700).shelf], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2]);
});

test('parts stay in their shelves when one grows', () => {
  const { shelf } = pack(parts(squares), true);
  const grown = squares.map(([w, h], i): [number, number] => (i === 1 ? [260, 150] : [w, h]));
  assert.notDeepEqual(pack(parts(grown), true).shelf, shelf);
  const after = pack(parts(grown, [...shelf]), true);
  assert.deepEqual(after.shelf, shelf);
  assert.equal(after.x[2], 100 + 260 + 2 * PART_GAP);
  assert.equal(after.y[4], 150 + PART_GAP);
});

test('what is new stands with the part before it, and a shelf that is empty takes no room', () => {
  const { shelf, y } = pack(parts(squares.slice(0, 5), [0, 0, -1, 2, 2]), true);
  assert.deepEqual([...shelf], [0, 0, 0, 2, 2]);
  assert.equal(y[3], 100 + PART_GAP);
});

test('shelves are set anew where they are far from the shape that is wanted', () => {
  const { shelf } = pack(parts(squares, new Array<number>(12).fill(0)), true);
  assert.equal(Math.max(...shelf), 2);
});
