import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countBelow } from './sorted.ts';

test('as many are counted as are less, wherever the number lies', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (numbers, x) => {
      const sorted = Float64Array.from(numbers).sort();
      assert.equal(countBelow(sorted, x), numbers.filter(number => number < x).length);
    })
  );
});
