/** What the side panel knows of kernels, without a page: a kernel that answers by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nullTranslator } from '@jupyterlab/translation';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { pathOfServer } from './serverPath.ts';
import { KernelPrograms } from './kernelPrograms.ts';
import type { Program } from './program.ts';
import type { Pinned, Shelf } from './shelf.ts';
import { agoText, costText, seconds } from './words.ts';

function program(id: string, more: Partial<Program> = {}): Program {
  return {
    id,
    origin: 'watched',
    function: 'step',
    group: 'step',
    defined: 'In [1], line 1',
    call: `step(${id})`,
    signature: '',
    when: 1,
    seconds: {},
    kinds: ['first'],
    why: '',
    remedy: '',
    place: '',
    label: '',
    pinned: false,
    ...more
  };
}

/** As much of a kernel connection as is used, with a comm that was open before the page or is not. */
class FakeKernel {
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly sent: Record<string, unknown>[] = [];
  readonly handleComms = true;
  readonly isDisposed = false;
  readonly clientId = 'client';
  readonly username = '';
  targets: string[] = [];
  /** Ids of the messages that were sent. */
  private readonly messages: string[] = [];

  constructor(private readonly comms: Record<string, unknown> = {}) {}

  registerCommTarget(name: string): void {
    this.targets.push(name);
  }

  requestCommInfo(): Promise<unknown> {
    return Promise.resolve({ content: { status: 'ok', comms: this.comms } });
  }

  sendShellMessage(message: { header: { msg_id: string }; content: { data: Record<string, unknown> } }): void {
    this.sent.push(message.content.data);
    this.messages.push(message.header.msg_id);
  }

  /** Begins with the last question. */
  begin(): void {
    const header = { msg_type: 'status' };
    const parent_header = { msg_id: this.messages.at(-1) };
    this.iopubMessage.emit({ header, parent_header, channel: 'iopub', content: { execution_state: 'busy' } });
  }

  say(type: 'comm_open' | 'comm_msg', data: unknown): void {
    const content = { comm_id: 'c', target_name: 'jaxviz', data };
    this.iopubMessage.emit({ header: { msg_type: type }, channel: 'iopub', content });
  }

  /** Says that it is at work, under its own name or the server's. */
  state(execution_state: string, session: string): void {
    const header = { msg_type: 'status', session };
    this.iopubMessage.emit({ header, channel: 'iopub', content: { execution_state } });
  }

  /** Answers the last question. */
  answer(data: object): void {
    this.say('comm_msg', { ...data, request: this.sent.at(-1)?.request });
  }
}

function make(kernel: FakeKernel, shelf?: Shelf): KernelPrograms {
  return new KernelPrograms(kernel as unknown as Kernel.IKernelConnection, undefined, shelf);
}

/** What outlives the page, with room for documents that are no longer than `room`. */
class FakeShelf implements Shelf {
  there: readonly Pinned[] = [];

  constructor(private readonly room = Infinity) {}

  read(): Promise<readonly Pinned[]> {
    return Promise.resolve(this.there);
  }

  write(pinned: readonly Pinned[]): Promise<readonly string[]> {
    const isTooLarge = ({ document }: Pinned): boolean => String(document).length > this.room;
    this.there = pinned.filter(one => !isTooLarge(one));
    return Promise.resolve(pinned.filter(isTooLarge).map(one => one.program.id));
  }
}

const later = (): Promise<void> => new Promise(done => setTimeout(done));

test('a kernel tells of its programs by itself', () => {
  const kernel = new FakeKernel();
  const programs = make(kernel);
  let changes = 0;
  programs.changed.connect(() => changes++);
  kernel.say('comm_open', { type: 'list', programs: [program('1')], dropped: 0 });
  kernel.say('comm_msg', { type: 'program', program: program('2') });
  kernel.say('comm_msg', { type: 'program', program: program('1', { label: 'mine' }) });
  assert.deepEqual(
    programs.list.map(({ id, label }) => [id, label]),
    [
      ['1', 'mine'],
      ['2', '']
    ]
  );
  kernel.say('comm_msg', { type: 'gone', ids: ['1'], dropped: 4 });
  assert.deepEqual([programs.size, programs.dropped, changes], [1, 4, 4]);
  assert.deepEqual(kernel.targets, ['jaxviz']);
});

test('after the page was loaded again the list is asked for, once', async () => {
  const kernel = new FakeKernel({ c: { target_name: 'jaxviz' } });
  const programs = make(kernel);
  await later();
  assert.deepEqual(
    kernel.sent.map(({ type }) => type),
    ['list']
  );
  kernel.answer({ type: 'list', programs: [program('7')], dropped: 0 });
  assert.equal(programs.get('7')?.call, 'step(7)');
});

test('a kernel without programs is sent nothing', async () => {
  const kernel = new FakeKernel();
  make(kernel);
  await later();
  assert.deepEqual(kernel.sent, []);
});

test('a document is asked for once, and again when the program has changed', async () => {
  const kernel = new FakeKernel();
  const programs = make(kernel);
  kernel.say('comm_open', { type: 'list', programs: [program('1')], dropped: 0 });
  const first = programs.open('1');
  kernel.answer({ type: 'document', id: '1', document: 'a' });
  assert.equal(await first, 'a');
  assert.equal(await programs.open('1'), 'a');
  assert.equal(kernel.sent.length, 1);
  kernel.say('comm_msg', { type: 'program', program: program('1', { when: 2 }) });
  const second = programs.open('1');
  kernel.answer({ type: 'error', error: 'no' });
  await assert.rejects(second, /^Error: no$/);
});

test('a restart is told, questions under way fail, and what is pinned stays', async () => {
  const kernel = new FakeKernel();
  const programs = make(kernel);
  kernel.say('comm_open', {
    type: 'list',
    session: 'a',
    programs: [program('1', { pinned: true }), program('2')],
    dropped: 0
  });
  const opened = programs.open('1');
  kernel.answer({ type: 'document', id: '1', document: 'kept' });
  await opened;
  const lost = programs.open('2');
  kernel.statusChanged.emit('restarting');
  await assert.rejects(lost, /restarted/);
  assert.equal(programs.lost, 'restarted');
  const [kept] = programs.list;
  assert.equal(programs.size, 1);
  assert.equal(await programs.open(kept.id), 'kept');
  await assert.rejects(programs.compare(kept.id, '2'), /run the cell again/);
  // A program of the new kernel with the same number is another one.
  kernel.say('comm_open', { type: 'list', session: 'b', programs: [program('1')], dropped: 0 });
  assert.deepEqual([programs.size, programs.lost], [2, null]);
});

test('what the person asks of a kernel that runs a cell is said until the kernel comes to it', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const kernel = new FakeKernel();
  const programs = make(kernel);
  kernel.say('comm_open', { type: 'list', programs: [program('1'), program('2', { label: 'mine' })], dropped: 0 });
  const heard: string[] = [];
  const opened = programs.open('1', { what: 'open step(1)', waits: why => heard.push(why) });
  const renamed = programs.rename('2', 'yours');
  assert.deepEqual([programs.late, heard], [[], []], 'a kernel that is free has begun by then');
  t.mock.timers.tick(300);
  assert.deepEqual(programs.late, ['open step(1)', 'rename mine']);
  assert.match(heard[0], /busy with a cell/);
  const [open] = kernel.sent;
  kernel.answer({ type: 'done' });
  await renamed;
  kernel.say('comm_msg', { type: 'document', document: 'there', request: open.request });
  assert.equal(await opened, 'there');
  assert.deepEqual([programs.late, heard.at(-1)], [[], '']);
});

test('nobody waits for a kernel that has begun, nor for what the page asks by itself', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const kernel = new FakeKernel();
  const programs = make(kernel);
  programs.listen(true);
  kernel.say('comm_open', { type: 'list', programs: [program('1')], dropped: 0 });
  t.mock.timers.tick(300);
  assert.deepEqual(programs.late, []);
  const pinned = programs.pin('1', true);
  kernel.begin();
  t.mock.timers.tick(300);
  assert.deepEqual(programs.late, []);
  kernel.answer({ type: 'document', document: 'there' });
  await new Promise(done => setImmediate(done));
  // Meanwhile another cell has begun.
  t.mock.timers.tick(300);
  assert.deepEqual(programs.late, ['pin step(1)']);
  kernel.begin();
  assert.deepEqual(programs.late, []);
  kernel.answer({ type: 'done' });
  await pinned;
});

test('a program from before a restart is renamed without its kernel, and stays so', async () => {
  const shelf = new FakeShelf();
  const [kernel, programs] = await load(shelf, 'a', [PINNED]);
  kernel.statusChanged.emit('restarting');
  await programs.rename(programs.list[0].id, ' mine ');
  assert.equal(programs.list[0].label, 'mine');
  const [, after] = await load(shelf, '', []);
  assert.equal(after.list[0].label, 'mine');
});

const FOUND = { c: { target_name: 'jaxviz' } };

/** A page that is loaded where the kernel has such a list; its pinned programs have the documents `pinned-ID`. */
async function load(
  shelf: Shelf,
  session: string,
  programs: readonly Program[]
): Promise<[FakeKernel, KernelPrograms]> {
  const kernel = new FakeKernel(session ? FOUND : {});
  const made = make(kernel, shelf);
  await later();
  if (session) {
    kernel.answer({ type: 'list', session, programs, dropped: 0 });
    for (const { id, request } of kernel.sent.filter(({ type }) => type === 'open')) {
      kernel.say('comm_msg', { type: 'document', id, document: `pinned-${String(id)}`, request });
    }
  }
  await later();
  return [kernel, made];
}

const PINNED = program('1', { pinned: true });

test('a pinned program stays when the page is loaded again and then the kernel restarted', async () => {
  const shelf = new FakeShelf();
  await load(shelf, 'a', [PINNED, program('2')]);
  const [kernel, programs] = await load(shelf, 'a', [PINNED, program('2')]);
  // Its document is there already.
  assert.deepEqual(
    kernel.sent.map(({ type }) => type),
    ['list']
  );
  kernel.statusChanged.emit('restarting');
  assert.equal(programs.size, 1);
  assert.equal(await programs.open(programs.list[0].id), 'pinned-1');
});

test('a pinned program that no page has looked at since it was loaded stays too', async () => {
  const [kernel, programs] = await load(new FakeShelf(), 'a', [PINNED, program('2')]);
  kernel.statusChanged.emit('restarting');
  assert.equal(await programs.open(programs.list[0].id), 'pinned-1');
});

test('a pinned program stays when the kernel is restarted and then the page loaded again, until it is deleted', async () => {
  const shelf = new FakeShelf();
  const [kernel] = await load(shelf, 'a', [PINNED]);
  kernel.statusChanged.emit('restarting');
  // Once while the kernel has no programs, and once while it has others.
  await load(shelf, '', []);
  const [, programs] = await load(shelf, 'b', [program('1')]);
  assert.equal(programs.size, 2);
  const [kept] = programs.list;
  assert.equal(await programs.open(kept.id), 'pinned-1');
  await programs.remove(kept.id);
  const [, after] = await load(shelf, 'b', [program('1')]);
  assert.deepEqual([after.size, shelf.there], [1, []]);
});

test('a kernel that was restarted while no page was there has its pinned programs too', async () => {
  const shelf = new FakeShelf();
  await load(shelf, 'a', [PINNED]);
  const [, programs] = await load(shelf, 'b', [program('1')]);
  assert.deepEqual(
    programs.list.map(({ id }) => programs.isKept(id)),
    [true, false]
  );
});

test('a notebook that has no kernel has what was pinned, and says why there is nothing else', async () => {
  const shelf = new FakeShelf();
  const [, before] = await load(shelf, 'a', [PINNED, program('2')]);
  before.leave('gone');
  const without = new KernelPrograms(null, before, shelf);
  // The next page knows of it too.
  const after = new KernelPrograms(null, undefined, shelf);
  await later();
  for (const programs of [without, after]) {
    assert.deepEqual([programs.lost, programs.hasKernel, programs.size], ['gone', false, 1]);
    const [{ id }] = programs.list;
    assert.deepEqual([programs.isKept(id), await programs.open(id)], [true, 'pinned-1']);
  }
  after.dispose();
  await without.remove(without.list[0].id);
  assert.deepEqual(shelf.there, []);
});

test('another kernel of a notebook has what was pinned before, under the name that it had', async () => {
  const shelf = new FakeShelf();
  const [, before] = await load(shelf, 'a', [PINNED, program('2')]);
  const listed = before.listed('1');
  before.leave('changed');
  const kernel = new FakeKernel();
  const programs = new KernelPrograms(kernel as unknown as Kernel.IKernelConnection, before, shelf);
  await later();
  assert.deepEqual([programs.lost, programs.size], ['changed', 1]);
  assert.equal(await programs.open(programs.idOf(listed) ?? ''), 'pinned-1');
  kernel.say('comm_open', { type: 'list', session: 'b', programs: [program('1')], dropped: 0 });
  assert.deepEqual([programs.lost, programs.size], [null, 2]);
});

test('what a kernel turns out to have itself is not of an earlier one', async () => {
  const shelf = new FakeShelf();
  await load(shelf, 'a', [PINNED]);
  const without = new KernelPrograms(null, undefined, shelf);
  await later();
  const kernel = new FakeKernel(FOUND);
  const programs = new KernelPrograms(kernel as unknown as Kernel.IKernelConnection, without, shelf);
  await later();
  kernel.answer({ type: 'list', session: 'a', programs: [PINNED], dropped: 0 });
  await later();
  assert.deepEqual(
    programs.list.map(({ id }) => programs.isKept(id)),
    [false]
  );
});

test('a program that is pinned no more is not kept', async () => {
  const shelf = new FakeShelf();
  await load(shelf, 'a', [PINNED]);
  const [kernel, programs] = await load(shelf, 'a', [program('1')]);
  kernel.statusChanged.emit('restarting');
  assert.deepEqual([programs.size, shelf.there], [0, []]);
});

test('a pinned program that is too large for the shelf says so', async () => {
  const [, programs] = await load(new FakeShelf(3), 'a', [PINNED]);
  assert.equal(programs.isTooLarge('1'), true);
});

test('a kernel that somebody else restarted says so by its name', () => {
  const kernel = new FakeKernel();
  const programs = make(kernel);
  kernel.state('idle', 'first');
  kernel.say('comm_open', { type: 'list', programs: [program('1')], dropped: 0 });
  kernel.state('starting', 'of the server');
  kernel.state('busy', 'first');
  assert.deepEqual([programs.size, programs.lost], [1, null]);
  kernel.state('busy', 'second');
  assert.deepEqual([programs.size, programs.lost], [0, 'restarted']);
  // Its programs are its own.
  kernel.say('comm_open', { type: 'list', programs: [program('1')], dropped: 0 });
  kernel.state('idle', 'second');
  assert.deepEqual([programs.size, programs.lost], [1, null]);
});

test('rubbish and messages of others change nothing', () => {
  const kernel = new FakeKernel();
  const programs = make(kernel);
  kernel.iopubMessage.emit({
    header: { msg_type: 'comm_open' },
    channel: 'iopub',
    content: { comm_id: 'x', target_name: 'jupyter.widget', data: { type: 'list' } }
  });
  kernel.say('comm_msg', { type: 'program', program: program('1') });
  assert.equal(programs.size, 0);
});

test('costs and times read as people say them', () => {
  const trans = nullTranslator.load('');
  assert.equal(seconds({ trace: 0.5, compile: 1 }), 1.5);
  assert.deepEqual([0.0001, 0.0354, 0.25, 1.25, 12.4].map(costText), ['1 ms', '35 ms', '0.25 s', '1.3 s', '12 s']);
  assert.equal(agoText(100, trans, 130), 'just now');
  assert.equal(agoText(100, trans, 400), '5 min ago');
});

test('a file is found below the root of the server', () => {
  assert.equal(pathOfServer('/srv/notebooks/a/b.py', '/srv/notebooks'), 'a/b.py');
  assert.equal(pathOfServer('/srv/other/b.py', '/srv/notebooks'), null);
  assert.equal(pathOfServer('/home/me/notebooks/b.py', '~/notebooks'), 'b.py');
  assert.equal(pathOfServer('/srv/notebooks/b.py', '~/notebooks'), null);
  // The home of whoever administers a machine stands apart from the others.
  assert.equal(pathOfServer('/root/b.py', '~'), 'b.py');
});
