import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getOrMake } from './maps';

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
