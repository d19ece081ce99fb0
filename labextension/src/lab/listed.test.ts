import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed } from './listed.ts';

function entry(name: string, size: number, restarted = false) {
  const lost = restarted ? ('restarted' as const) : null;
  return { path: `work/${name}`, name, programs: { size, lost } };
}

test('the notebook that the person is in comes first, and those without programs are left out', () => {
  const all = [entry('c', 1), entry('a', 2), entry('b', 0), entry('d', 0, true)];
  const { entries, tellsHow } = listed(all, 'work/c');
  assert.deepEqual(
    entries.map(({ name }) => name),
    ['c', 'a', 'd']
  );
  assert.equal(tellsHow, false);
});

test('in a notebook without programs it is said how they come, whatever other notebooks have', () => {
  const all = [entry('a', 2), entry('b', 0)];
  assert.equal(listed(all, 'work/b').tellsHow, true);
  assert.equal(listed([entry('b', 0)], 'work/b').tellsHow, true);
  assert.equal(listed([], '').tellsHow, true);
});

test('where the person is in no notebook with a kernel, the list of the others says enough', () => {
  assert.equal(listed([entry('a', 2), entry('b', 0)], 'work/notes.md').tellsHow, false);
});

test('of a kernel that is yet to tell what it has, it is not said that it has nothing', () => {
  const all = [entry('a', 0), entry('b', 0), entry('c', 2)];
  const [a, b] = all;
  assert.equal(listed(all, 'work/a', [a]).tellsHow, false);
  assert.equal(listed(all, 'work/a', [b]).tellsHow, true);
  assert.equal(listed([a, b], '', [a]).tellsHow, false);
});
