import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, inPieces, MOST_WORK } from './pause.ts';

/** Three pieces of work, each as long as others may wait. */
function* work(done: string[]): Generator<void, string> {
  for (const piece of ['a', 'b', 'c']) {
    const start = performance.now();
    while (performance.now() - start <= MOST_WORK) {
      // Busy.
    }
    done.push(piece);
    yield;
  }
  return 'result';
}

test('others go first between pieces of work, not while it is done at once', async () => {
  const seen: string[] = [];
  const others = setInterval(() => seen.push('other'), 1);
  const result = await inPieces(work(seen));
  clearInterval(others);
  assert.equal(result, 'result');
  assert.ok(seen.indexOf('other') < seen.indexOf('c'), seen.join(' '));
  const alone: string[] = [];
  setTimeout(() => alone.push('other'), 0);
  assert.equal(atOnce(work(alone)), 'result');
  assert.deepEqual(alone, ['a', 'b', 'c']);
});

test('an error of a piece is the error of the whole', async () => {
  function* fails(): Generator<void, never> {
    yield;
    throw new RangeError('this one');
  }
  await assert.rejects(inPieces(fails()), { name: 'RangeError', message: 'this one' });
});
