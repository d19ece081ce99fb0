import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stayed } from './passing.ts';
import { placeOfInside, type Range } from './stays.ts';

const place = (members: Stayed[], inside: Stayed[], all: Float64Array, range?: Range): number =>
  placeOfInside(members, () => inside, all, range);

/** Boxes that were at these places, and are now `move` further from the left border that was at 0. */
const boxes = (move: number, ...was: number[]): Stayed[] => was.map(x => ({ was: x, now: x + move }));
const centres = (...parts: Stayed[][]): Float64Array => Float64Array.from(parts.flat(), ({ was }) => was);

test('what is in a group stays where it was if nothing in it has moved', () => {
  const inside = boxes(0, 100, 200, 300);
  assert.equal(place(inside, inside, centres(inside)), 0);
});

test('a group of which all is new has no place', () => {
  assert.ok(Number.isNaN(place([{ was: NaN, now: 10 }], [{ was: NaN, now: 10 }], new Float64Array(0))));
});

test('the larger of two members stays where it was, though both are one box to the group', () => {
  const [small, large] = [boxes(0, 50), boxes(300, 200, 210, 220, 230)];
  const members = [...small, large[1]];
  const others = boxes(0, 40, 205, 215, 225, 400);
  assert.equal(place(members, [...small, ...large], centres(small, large, others)), -300);
});

test('a member that nothing stands near makes way, however large it is', () => {
  const [small, large] = [boxes(0, 50, 60), boxes(300, 600, 610, 620, 630)];
  const members = [small[0], large[0]];
  const others = boxes(0, 20, 30, 40, 45, 55, 65);
  assert.equal(place(members, [...small, ...large], centres(small, large, others)), 0);
});

test('a group moves no further than it is told to', () => {
  const inside = boxes(300, 200, 210, 220, 230);
  assert.equal(place([inside[0]], inside, centres(inside), [-100, 100]), -100);
});
