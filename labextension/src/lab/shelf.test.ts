/** What of the pinned programs fits into JupyterLab's state database, which here is one in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateDB } from '@jupyterlab/statedb';
import { Shelves, type Pinned } from './shelf.ts';

function pinned(id: string, length: number): Pinned {
  return { session: 'a', program: { id } as Pinned['program'], document: 'x'.repeat(length) };
}

test('what one notebook has pinned is not what another has', async () => {
  const shelves = new Shelves(new StateDB());
  await shelves.of('one').write([pinned('1', 5)]);
  assert.deepEqual(await shelves.of('one').read(), [pinned('1', 5)]);
  assert.deepEqual(await shelves.of('other').read(), []);
  await shelves.of('one').write([]);
  assert.deepEqual(await shelves.of('one').read(), []);
});

test('what there is no room for is told, and what is there already stays', async () => {
  const shelves = new Shelves(new StateDB(), 1000);
  assert.deepEqual(await shelves.of('one').write([pinned('1', 600)]), []);
  assert.deepEqual(await shelves.of('other').write([pinned('2', 600), pinned('3', 10)]), ['2']);
  assert.deepEqual(await shelves.of('one').read(), [pinned('1', 600)]);
  assert.deepEqual(await shelves.of('other').read(), [pinned('3', 10)]);
});

test('what is written last stays', async () => {
  const shelf = new Shelves(new StateDB()).of('one');
  await Promise.all([shelf.write([pinned('1', 5)]), shelf.write([]), shelf.write([pinned('2', 5)])]);
  assert.deepEqual(await shelf.read(), [pinned('2', 5)]);
});

test('what a notebook has pinned moves with it, and with the folder that it is in', async () => {
  const shelves = new Shelves(new StateDB());
  for (const path of ['a.ipynb', 'work/b.ipynb', 'workshop/c.ipynb']) {
    await shelves.of(path).write([pinned(path, 5)]);
  }
  await shelves.rename('a.ipynb', 'd.ipynb');
  await shelves.rename('work', 'done');
  assert.deepEqual([...(await shelves.paths())].sort(), ['d.ipynb', 'done/b.ipynb', 'workshop/c.ipynb']);
  assert.deepEqual(await shelves.of('done/b.ipynb').read(), [pinned('work/b.ipynb', 5)]);
});
