import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { passings } from './passing.ts';

test('boxes that keep their order pass nobody, and one that goes past two passes both', () => {
  assert.equal(passings([1, 2, 3, 4].map(was => ({ was, now: 10 * was }))), 0);
  const moved = [
    { was: 1, now: 40 },
    { was: 2, now: 20 },
    { was: 3, now: 30 },
    { was: NaN, now: 0 },
    { was: 4, now: 50 }
  ];
  assert.equal(passings(moved), 2);
});

test('pairs in another order are as many as comparing each with each finds', () => {
  const box = fc.record({
    was: fc.option(fc.integer({ max: 9, min: 0 }), { nil: NaN }),
    now: fc.integer({ max: 9, min: 0 })
  });
  fc.assert(
    fc.property(fc.array(box, { maxLength: 40 }), boxes => {
      let pairs = 0;
      for (const a of boxes) {
        pairs += boxes.filter(b => a.was < b.was && a.now > b.now).length;
      }
      assert.equal(passings(boxes), pairs);
    })
  );
});
