import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PART_GAP } from './distances.ts';
import { pack, type Packed } from './shelves.ts';

const parts = (sizes: readonly (readonly [number, number])[], before: readonly number[] = [], tied = -1): Packed[] =>
  sizes.map(([width, height], i) => ({ width, height, before: before[i] ?? -1, tied: i === tied }));
const squares = Array.from({ length: 12 }, (): [number, number] => [100, 100]);

test('parts fill shelves from the left, as wide as the whole should be', () => {
  const { x, y, shelf, width, height } = pack(parts(squares), false);
  assert.deepEqual([...shelf], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
  assert.deepEqual([...x.subarray(4, 6)], [0, 100 + PART_GAP]);
  assert.equal(y[4], 100 + PART_GAP);
  assert.deepEqual([width, height], [4 * 100 + 3 * PART_GAP, 3 * 100 + 2 * PART_GAP]);
  assert.equal(pack(parts(squares), true).height, 100);
  assert.deepEqual([...pack(parts(squares), false, 700).shelf], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2]);
});

test('parts stay in their shelves when one grows', () => {
  const { shelf } = pack(parts(squares), false);
  const grown = squares.map(([w, h], i): [number, number] => (i === 1 ? [260, 150] : [w, h]));
  assert.notDeepEqual(pack(parts(grown), false).shelf, shelf);
  const after = pack(parts(grown, [...shelf]), false);
  assert.deepEqual(after.shelf, shelf);
  assert.equal(after.x[2], 100 + 260 + 2 * PART_GAP);
  assert.equal(after.y[4], 150 + PART_GAP);
});

test('what is new stands with the part before it, and a shelf that is empty takes no room', () => {
  const { shelf, y } = pack(parts(squares.slice(0, 5), [0, 0, -1, 2, 2]), false);
  assert.deepEqual([...shelf], [0, 0, 0, 2, 2]);
  assert.equal(y[3], 100 + PART_GAP);
});

test('shelves are set anew where they are far from the shape that is wanted', () => {
  const { shelf } = pack(parts(squares, new Array<number>(12).fill(0)), false);
  assert.equal(Math.max(...shelf), 2);
});

test('where one part is tied to the border, all stand in a row, unless they are many: then it has nothing above it', () => {
  const few = pack(parts(squares, [], 3), false);
  assert.deepEqual([few.height, new Set(few.shelf)], [100, new Set([0])]);
  const wide = squares.map(([, height]): [number, number] => [9000, height]);
  assert.equal(pack(parts(wide, [], 3), false).height, 100, 'however wide they are');
  const many = Array.from({ length: 400 }, (): [number, number] => [100, 100]);
  const { x, y, width, height, shelf } = pack(parts(many, [], 3), false);
  assert.ok(width < 2 * height, `${width} by ${height}`);
  assert.deepEqual([x[3], y[3]], [0, 0]);
  assert.ok([...x.keys()].every(at => at === 3 || x[at] >= 100 + PART_GAP));
  const places = [...x.keys()].map(at => `${x[at]} ${y[at]}`);
  assert.equal(new Set(places).size, 400);
  const grown = many.map(([w, h], i): [number, number] => (i === 7 ? [160, 150] : [w, h]));
  assert.deepEqual(pack(parts(grown, [...shelf], 3), false).shelf, shelf, 'what stood in shelves stays in them');
  const row = new Array<number>(400).fill(0);
  assert.equal(pack(parts(many, row, 3), false).height, 100, 'and what stood in a row, in that');
});
