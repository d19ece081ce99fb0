/** Which kernels the side panel connects to by itself, without a server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { AllPrograms } from './allPrograms.ts';

/** As much of the sessions of a server as is used; it notes what is connected to. */
class FakeSessions {
  readonly runningChanged = new Signal<this, void>(this);
  readonly ready = Promise.resolve();
  readonly connected: string[] = [];

  constructor(private readonly paths: readonly string[]) {}

  running(): Session.IModel[] {
    return this.paths.map(path => ({ id: path, name: path, path, type: 'notebook', kernel: { id: path, name: 'py' } }));
  }

  connectTo({ model }: { model: Session.IModel }): object {
    this.connected.push(model.path);
    return { kernel: null, dispose: () => undefined };
  }
}

/** A notebook that is open, and whose kernel is about to be connected to. */
class FakeNotebook {
  readonly kernelChanged = new Signal<this, unknown>(this);
  readonly propertyChanged = new Signal<this, unknown>(this);
  readonly disposed = new Signal<this, void>(this);
  readonly session = null;

  constructor(readonly path: string) {}
}

test('a notebook that is open here connects to its kernel itself; when it is closed, the panel does', async () => {
  const sessions = new FakeSessions(['open.ipynb', 'closed.ipynb']);
  const all = new AllPrograms(sessions as unknown as Session.IManager);
  const notebook = new FakeNotebook('open.ipynb');
  all.follow(notebook as unknown as ISessionContext);
  await all.lookAtAll();
  assert.deepEqual(sessions.connected, ['closed.ipynb']);
  notebook.disposed.emit();
  assert.equal(sessions.connected.includes('open.ipynb'), true);
});
