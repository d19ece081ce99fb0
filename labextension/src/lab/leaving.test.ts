import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Leaving } from './leaving.ts';

test('what is left goes to the first that it fits, once, and ends when nobody came', context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const ended: string[] = [];
  const make = (name: string) => ({ name, end: () => ended.push(name) });
  const leaving = new Leaving<ReturnType<typeof make>>();
  leaving.put(make('one'));
  leaving.put(make('other'));
  assert.equal(
    leaving.take(({ name }) => name === 'third'),
    undefined
  );
  assert.equal(leaving.take(({ name }) => name === 'other')?.name, 'other');
  assert.equal(
    leaving.take(({ name }) => name === 'other'),
    undefined
  );
  context.mock.timers.tick(999);
  assert.deepEqual(ended, []);
  context.mock.timers.tick(1);
  assert.deepEqual(ended, ['one']);
  assert.equal(
    leaving.take(() => true),
    undefined
  );
});
