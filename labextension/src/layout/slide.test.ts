import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from './shelves.ts';
import { slideShelves } from './slide.ts';

/** Two shelves, the lower one as wide as given, with boxes at `now` that stood at `was`. */
function shelvesOf(lower: number): ReturnType<typeof pack> {
  const part = (width: number, before: number): Parameters<typeof pack>[0][number] => ({
    width,
    height: 500,
    before,
    tied: false
  });
  return pack([part(400, 0), part(lower, 1)], false);
}
const stood = (was: readonly number[], moved = 0): { was: number; now: number }[] =>
  was.map(x => ({ was: x, now: x + moved }));

test('a shelf that grows from its left end takes the others along', () => {
  const shelves = shelvesOf(600);
  const slid = slideShelves(shelves, [stood([50, 200, 350, NaN]), stood([100, 250], 200)]);
  assert.deepEqual([...slid.x], [200, 0]);
  assert.equal(slid.width, 600);
  // Next time nothing grows: it stays where it slid to.
  const again = slideShelves(shelves, [stood([250, 400, 550], -200), stood([300, 450])]);
  assert.deepEqual([...again.x], [200, 0]);
});

test('shelves stay at the left where nothing passes anything, or where it would make the picture far too wide', () => {
  const shelves = shelvesOf(900);
  assert.equal(slideShelves(shelves, [stood([50]), stood([100], 0)]), shelves);
  assert.equal(slideShelves(shelves, [stood([50]), stood([100], 20)]), shelves);
  assert.equal(slideShelves(shelves, [stood([50, 900]), stood([100, 700], 2000)]), shelves);
  assert.equal(slideShelves(shelves, [[], []]), shelves);
});
