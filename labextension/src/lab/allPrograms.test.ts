/** Which kernels the side panel connects to by itself, without a server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, ServiceManager, Session } from '@jupyterlab/services';
import { StateDB } from '@jupyterlab/statedb';
import { Signal } from '@lumino/signaling';
import { AllPrograms } from './allPrograms.ts';
import { Shelves, type Pinned } from './shelf.ts';

/** As much of the sessions of a server as is used; it notes what is connected to. */
class FakeSessions {
  readonly runningChanged = new Signal<this, void>(this);
  readonly ready = Promise.resolve();
  readonly connected: string[] = [];

  constructor(readonly paths: string[]) {}

  running(): Session.IModel[] {
    return this.paths.map(path => ({ id: path, name: path, path, type: 'notebook', kernel: { id: path, name: 'py' } }));
  }

  connectTo({ model }: { model: Session.IModel }): object {
    this.connected.push(model.path);
    return { kernel: null, dispose: () => undefined };
  }
}

/** The kernels of a server, as it sees them. */
class FakeKernels {
  readonly runningChanged = new Signal<this, void>(this);
  state = 'busy';

  running(): Kernel.IModel[] {
    return [{ id: 'kernel', name: 'py', execution_state: this.state }];
  }
}

function serverOf(sessions: FakeSessions, kernels = new FakeKernels()): ServiceManager.IManager {
  return { sessions, kernels } as unknown as ServiceManager.IManager;
}

/** A connection to a kernel that answers when it is told to. */
class FakeKernel {
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, unknown>(this);
  readonly id = 'kernel';
  readonly handleComms = false;
  /** Answers what was asked: that there are no programs. */
  answer: () => void = () => undefined;

  requestCommInfo(): Promise<unknown> {
    return new Promise(resolve => {
      this.answer = () => resolve({ content: { status: 'ok', comms: {} } });
    });
  }
}

/** A notebook that is open, and whose kernel is about to be connected to. */
class FakeNotebook {
  readonly kernelChanged = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly propertyChanged = new Signal<this, unknown>(this);
  readonly disposed = new Signal<this, void>(this);

  constructor(
    readonly path: string,
    public session: object | null = null
  ) {}
}

/** What follows once nothing is under way any more. */
const later = (): Promise<void> => new Promise(done => setTimeout(done));

/** Shelves on which one notebook has a pinned program. */
async function shelvesOf(path: string): Promise<Shelves> {
  const shelves = new Shelves(new StateDB());
  const program = { id: '1', call: 'step(x)', when: 1, pinned: true } as Pinned['program'];
  await shelves.of(path).write([{ session: 'a', program, document: 'kept' }]);
  return shelves;
}

function stateOf(all: AllPrograms): unknown[] {
  return all.entries.map(({ path, programs }) => [path, programs.size, programs.lost]);
}

test('a notebook that is open here connects to its kernel itself; when it is closed, the panel does', async () => {
  const sessions = new FakeSessions(['open.ipynb', 'closed.ipynb']);
  const all = new AllPrograms(serverOf(sessions));
  const notebook = new FakeNotebook('open.ipynb');
  all.follow(notebook as unknown as ISessionContext);
  await all.lookAtAll();
  assert.deepEqual(sessions.connected, ['closed.ipynb']);
  notebook.disposed.emit();
  assert.equal(sessions.connected.includes('open.ipynb'), true);
});

test('a kernel that runs a cell when it is connected to comes with its list after it', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const kernels = new FakeKernels();
  const all = new AllPrograms(serverOf(new FakeSessions([]), kernels));
  const kernel = new FakeKernel();
  all.follow(new FakeNotebook('one.ipynb', { kernel, path: 'one.ipynb' }) as unknown as ISessionContext);
  const [entry] = all.entries;
  let changes = 0;
  all.changed.connect(() => changes++);
  assert.equal(all.comesAfterCell(entry), false, 'one that is free has answered by then');
  t.mock.timers.tick(300);
  assert.deepEqual([all.comesAfterCell(entry), changes], [true, 1]);
  // One that is not started yet runs nothing.
  kernels.state = 'starting';
  kernels.runningChanged.emit();
  assert.deepEqual([all.comesAfterCell(entry), changes], [false, 2]);
  kernels.state = 'busy';
  kernel.answer();
  await new Promise(done => setImmediate(done));
  assert.equal(all.comesAfterCell(entry), false);
});

test('a notebook without a kernel has its pinned programs, wherever it moves, and so has the kernel that it gets', async () => {
  const all = new AllPrograms(serverOf(new FakeSessions([])), await shelvesOf('one.ipynb'));
  const notebook = new FakeNotebook('two.ipynb');
  all.follow(notebook as unknown as ISessionContext);
  await all.lookAtAll();
  await later();
  assert.deepEqual(stateOf(all), [
    ['two.ipynb', 0, null],
    ['one.ipynb', 1, 'gone']
  ]);
  all.rename('one.ipynb', 'two.ipynb');
  await later();
  assert.deepEqual(stateOf(all), [['two.ipynb', 1, 'gone']]);
  const kernel = new FakeKernel();
  notebook.session = { kernel, path: 'two.ipynb' };
  notebook.kernelChanged.emit({});
  kernel.answer();
  await later();
  assert.deepEqual(stateOf(all), [['two.ipynb', 1, 'changed']]);
  // It is shut down.
  notebook.session = null;
  Object.assign(kernel, { isDisposed: true });
  notebook.kernelChanged.emit({});
  await later();
  assert.deepEqual(stateOf(all), [['two.ipynb', 1, 'gone']]);
});

test('a kernel that was dead and is restarted has its programs again', async () => {
  const sessions = new FakeSessions([]);
  const all = new AllPrograms(serverOf(sessions));
  const kernel = Object.assign(new FakeKernel(), { status: 'idle' });
  const notebook = new FakeNotebook('one.ipynb', { kernel, path: 'one.ipynb' });
  all.follow(notebook as unknown as ISessionContext);
  kernel.status = 'dead';
  notebook.statusChanged.emit('dead');
  sessions.runningChanged.emit();
  assert.deepEqual(
    all.entries.map(({ programs }) => programs.hasKernel),
    [false]
  );
  kernel.status = 'restarting';
  notebook.statusChanged.emit('restarting');
  await later();
  assert.deepEqual(
    all.entries.map(({ id, programs }) => [id, programs.hasKernel]),
    [['kernel', true]]
  );
});

test('a notebook whose kernel the server has is not said to have none while it connects', async () => {
  const sessions = new FakeSessions(['one.ipynb']);
  const all = new AllPrograms(serverOf(sessions), await shelvesOf('one.ipynb'));
  all.follow(new FakeNotebook('one.ipynb') as unknown as ISessionContext);
  await all.lookAtAll();
  assert.deepEqual(stateOf(all), []);
});
