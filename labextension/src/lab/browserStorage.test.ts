/** Entries of a state database in the storage of a browser, which here is one in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateDB } from '@jupyterlab/statedb';
import { BrowserStorage } from './browserStorage.ts';

/** As much of a browser's storage as is used. */
class FakeStorage {
  private readonly entries = new Map<string, string>();

  get length(): number {
    return this.entries.size;
  }

  key(index: number): string | null {
    return [...this.entries.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.entries.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.entries.set(key, value);
  }

  removeItem(key: string): void {
    this.entries.delete(key);
  }
}

test('a database in the browser has its own entries, also for the next page', async () => {
  const storage = new FakeStorage() as unknown as Storage;
  const open = (server: string): StateDB =>
    new StateDB({ connector: new BrowserStorage(`jaxviz ${server} `, () => storage) });
  storage.setItem('theme', 'of somebody else');
  await open('/one/').save('pinned:a', [1]);
  await open('/one/').save('other:b', 2);
  await open('/two/').save('pinned:a', 3);
  assert.deepEqual(await open('/one/').fetch('pinned:a'), [1]);
  assert.deepEqual(await open('/one/').list('pinned'), { ids: ['pinned:a'], values: [[1]] });
  await open('/one/').remove('pinned:a');
  assert.equal(await open('/one/').fetch('pinned:a'), undefined);
  assert.equal(await open('/two/').fetch('pinned:a'), 3);
});
