import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByRows } from './byRows.ts';
import type { Solid } from './cablePlaces.ts';
import { meet } from './solid.ts';

const length = fc.integer({ min: 1, max: 900 });
const area = fc
  .record({ left: fc.nat(2000), top: fc.integer({ min: -500, max: 2000 }), width: length, height: length })
  .map(({ left, top, width, height }): Solid => {
    return { left, top, right: left + width, bottom: top + height, box: -1 };
  });

test('what meets an area is found among those in its rows', () => {
  fc.assert(
    fc.property(fc.array(area), area, (all, one) => {
      const found = new ByRows(all).some(one, other => meet(other, one));
      assert.equal(
        found,
        all.some(other => meet(other, one))
      );
    })
  );
});
