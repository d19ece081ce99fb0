import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getOrMake, NumberMap } from './maps';

test('what a map has is made once, also where it is nothing', () => {
  const map = new Map<string, number | null>();
  const made: string[] = [];
  const get = (key: string, value: number | null): number | null =>
    getOrMake(map, key, () => {
      made.push(key);
      return value;
    });
  assert.deepEqual([get('none', null), get('none', 1), get('zero', 0), get('zero', 1)], [null, null, 0, 0]);
  assert.deepEqual(made, ['none', 'zero']);
});

test('a map from numbers has what was set last, from its least key on', () => {
  const map = new NumberMap<string | null>(3, -2);
  map.set(-2, 'least');
  map.set(2, 'first');
  map.set(2, null);
  assert.deepEqual(
    [-2, -1, 0, 1, 2].map(key => map.get(key)),
    ['least', undefined, undefined, undefined, null]
  );
});
