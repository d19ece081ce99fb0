/** The line from a picture to its kernel: a kernel that answers by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import type { KernelLine } from '../explorer/kernelLine.ts';
import { AllPrograms } from './allPrograms.ts';
import { kernelLine } from './kernelLine.ts';
import { KernelPrograms } from './kernelPrograms.ts';
import { application } from './preferences.ts';

class FakeKernel {
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly sent: Record<string, unknown>[] = [];
  /** The comms that it tells of when it is asked. */
  comms: Record<string, object> = {};
  life = 'first';
  readonly handleComms = false;
  readonly isDisposed = false;
  readonly clientId = 'client';
  readonly username = '';
  interrupts = 0;

  constructor(readonly id = 'kernel') {}

  requestCommInfo(): Promise<unknown> {
    return Promise.resolve({ content: { status: 'ok', comms: this.comms } });
  }

  sendShellMessage(message: { content: { data: Record<string, unknown> } }): void {
    this.sent.push(message.content.data);
  }

  interrupt(): Promise<void> {
    this.interrupts++;
    return Promise.resolve();
  }

  say(type: 'comm_open' | 'comm_msg', data: unknown): void {
    this.tell(type, { comm_id: 'c', target_name: 'jaxviz', data });
  }

  tell(type: string, content: object): void {
    this.iopubMessage.emit({ header: { msg_type: type, session: this.life }, channel: 'iopub', content });
  }

  answer(data: object, question = this.sent.at(-1)): void {
    this.say('comm_msg', { ...data, request: question?.request });
  }
}

interface Made {
  readonly kernel: FakeKernel;
  readonly programs: KernelPrograms;
  readonly line: KernelLine;
  readonly shown: unknown[];
  readonly opened: unknown[];
}

function made(program = 'key:1'): Made {
  const kernel = new FakeKernel();
  const programs = new KernelPrograms(kernel as unknown as Kernel.IKernelConnection);
  kernel.say('comm_open', { type: 'list', session: 'key', programs: [{ id: '1', when: 1 }], dropped: 0 });
  const shown: unknown[] = [];
  const opened: unknown[] = [];
  const line = kernelLine({
    kernel: () => programs,
    program,
    show: document => shown.push(document),
    open: (title, document) => opened.push([title, document])
  });
  return { kernel, programs, line, shown, opened };
}

test('a run tells how far it is, and what was measured is shown and kept', async () => {
  const { kernel, programs, line, shown } = made();
  assert.equal(line.missing(), '');
  const told: string[] = [];
  const { answer } = line.run(words => told.push(words));
  assert.deepEqual([kernel.sent[0].type, kernel.sent[0].id], ['run', '1']);
  kernel.answer({ type: 'progress', words: 'starting' });
  kernel.answer({ type: 'progress', words: '3 of 20 runs' });
  assert.deepEqual(told, ['starting', '3 of 20 runs']);
  kernel.answer({ type: 'document', id: '1', document: { measured: true } });
  await answer;
  assert.deepEqual(shown, [{ measured: true }]);
  // Who opens the program from the panel sees the same, without asking again.
  assert.deepEqual(await programs.open('1'), { measured: true });
});

test('what is stopped is interrupted once the kernel is at it, and not what the kernel does before', async () => {
  const { kernel, line } = made();
  const first = line.run(() => undefined);
  kernel.answer({ type: 'progress', words: 'starting' });
  first.stop();
  assert.equal(kernel.interrupts, 1);
  kernel.answer({ type: 'error', error: 'stopped', stopped: true });
  await assert.rejects(first.answer, { name: 'Stopped' });
  first.stop();
  assert.equal(kernel.interrupts, 1);
  // The kernel is busy with a cell, which is not to be interrupted.
  const second = line.run(() => assert.fail('nobody waits any more'));
  second.stop();
  await assert.rejects(second.answer, { name: 'Stopped' });
  assert.equal(kernel.interrupts, 1);
  kernel.answer({ type: 'progress', words: 'starting' });
  assert.equal(kernel.interrupts, 2);
  kernel.answer({ type: 'error', error: 'stopped', stopped: true });
});

test('a loop that was rebuilt says what both cost, and both are opened when that is asked for', async () => {
  const { kernel, line, opened } = made();
  const { answer } = line.rebuild(2, () => undefined);
  assert.deepEqual([kernel.sent[0].type, kernel.sent[0].loop], ['rebuild', 2]);
  kernel.answer({
    type: 'rebuilt',
    id: '1',
    rows: [['', 'unrolled', 'scan']],
    said: ['equal'],
    both: true
  });
  const { rows, said, beside } = await answer;
  assert.deepEqual([rows, said], [[['', 'unrolled', 'scan']], ['equal']]);
  // Their picture takes longer than the figures, so it is made when it is asked for.
  const heard: string[] = [];
  const opening = beside?.(words => heard.push(words));
  assert.deepEqual([kernel.sent[1].type, kernel.sent[1].loop], ['beside', 2]);
  kernel.answer({ type: 'progress', words: 'putting both side by side, 3 s' });
  assert.deepEqual([heard, opened], [['putting both side by side, 3 s'], []]);
  kernel.answer({ type: 'document', id: '1', document: { both: true } });
  await opening?.answer;
  assert.deepEqual(opened, [['unrolled beside a loop', { both: true }]]);
  const again = line.rebuild(0, () => undefined);
  kernel.answer({ type: 'rebuilt', id: '1', rows: [], said: ['It cannot be rebuilt: effects.'] });
  assert.equal((await again.answer).beside, undefined);
});

test('what a kernel cannot do is said beforehand', () => {
  assert.match(made('').line.missing(), /of no program in a kernel: explore the function with %jaxviz/);
  assert.match(made('other:1').line.missing(), /from before the kernel was started/);
  assert.match(made('key:9').line.missing(), /no such program any more/);
  const nobody = kernelLine({
    kernel: () => undefined,
    program: 'key:1',
    show: () => undefined,
    open: () => undefined
  });
  assert.match(nobody.missing(), /no kernel/);
});

test('what a kernel cannot do is said in the language of the person', () => {
  const before = application.trans;
  application.trans = { ...before, __: sentence => `in my language: ${sentence}` };
  try {
    assert.match(made('key:9').line.missing(), /^in my language: The kernel has no such program/);
  } finally {
    application.trans = before;
  }
});

test('an error of the kernel is said in its words; a restart ends the waiting', async () => {
  const { kernel, line } = made();
  const failing = line.run(() => undefined);
  kernel.answer({ type: 'error', error: 'the device has no room' });
  await assert.rejects(failing.answer, { message: 'the device has no room' });
  const waiting = line.run(() => undefined);
  kernel.statusChanged.emit('restarting');
  await assert.rejects(waiting.answer, { message: 'The kernel was restarted.' });
  assert.match(line.missing(), /from before the kernel was started/);
});

test('a kernel that someone else restarts is heard as it ends, and the next one by its name', async () => {
  const { kernel, programs, line } = made();
  const waiting = line.run(() => undefined);
  kernel.tell('shutdown_reply', { status: 'ok', restart: true });
  await assert.rejects(waiting.answer, { message: 'The kernel was restarted.' });
  assert.deepEqual([programs.lost, programs.size], ['restarted', 0]);
  kernel.tell('status', { execution_state: 'idle' });
  kernel.life = 'second';
  kernel.say('comm_open', { type: 'list', session: 'again', programs: [{ id: '1', when: 2 }], dropped: 0 });
  kernel.tell('status', { execution_state: 'idle' });
  assert.deepEqual([programs.lost, programs.size], [null, 1]);
  // The last words of this one are lost, and the first of the next.
  kernel.life = 'third';
  kernel.comms = { c: { target_name: 'jaxviz' } };
  kernel.tell('status', { execution_state: 'idle' });
  assert.deepEqual([programs.lost, programs.size], ['restarted', 0]);
  await new Promise(resolve => setTimeout(resolve));
  kernel.answer({ type: 'list', session: 'third', programs: [{ id: '1', when: 3 }], dropped: 0 });
  assert.deepEqual([programs.lost, programs.size], [null, 1]);
});

/** As much of an open notebook as is followed. */
function notebookOf(kernel: FakeKernel, path: string) {
  return {
    session: { kernel, path },
    kernelChanged: new Signal<object, unknown>({}),
    statusChanged: new Signal<object, string>({}),
    propertyChanged: new Signal<object, string>({}),
    disposed: new Signal<object, void>({})
  };
}

test('of two notebooks side by side, each picture finds the kernel that made it, also once that was renamed', () => {
  const sessions = { runningChanged: new Signal<object, void>({}), running: () => [] };
  const all = new AllPrograms({ sessions, kernels: sessions } as never);
  const kernels = ['one', 'two'].map(id => {
    const kernel = new FakeKernel(id);
    all.follow(notebookOf(kernel, `${id}.ipynb`) as never);
    kernel.say('comm_open', { type: 'list', session: `key-${id}`, programs: [{ id: '1', when: 1 }], dropped: 0 });
    return kernel;
  });
  const shown: unknown[] = [];
  const line = kernelLine({
    kernel: () => all.ofSession('key-two')?.programs,
    program: 'key-two:1',
    show: document => shown.push(document),
    open: () => undefined
  });
  assert.equal(line.missing(), '');
  line.run(() => undefined);
  assert.deepEqual(
    kernels.map(({ sent }) => sent.filter(({ type }) => type === 'run').length),
    [0, 1]
  );
  assert.equal(all.ofSession(''), undefined);
  assert.equal(all.ofSession('key-three'), undefined);
});

test('a notebook that is renamed keeps the list of its programs, under its new path', () => {
  const sessions = { runningChanged: new Signal<object, void>({}), running: () => [] };
  const all = new AllPrograms({ sessions, kernels: sessions } as never);
  const kernel = new FakeKernel('one');
  const notebook = notebookOf(kernel, 'folder/one.ipynb');
  const { session, propertyChanged } = notebook;
  all.follow(notebook as never);
  kernel.say('comm_open', { type: 'list', session: 'key', programs: [{ id: '1', when: 1 }], dropped: 0 });
  const moves: unknown[] = [];
  all.moved.connect((_, move) => moves.push(move));
  session.path = 'folder/uno.ipynb';
  propertyChanged.emit('name');
  assert.equal(all.ofPath('folder/uno.ipynb'), undefined);
  propertyChanged.emit('path');
  assert.equal(all.ofPath('folder/one.ipynb'), undefined);
  assert.equal(all.ofPath('folder/uno.ipynb')?.name, 'uno.ipynb');
  assert.equal(all.ofPath('folder/uno.ipynb')?.programs.size, 1);
  assert.deepEqual(moves, [{ from: 'folder/one.ipynb', to: 'folder/uno.ipynb' }]);
});

test('kernels list all that they compile while somebody looks, also those that come later or start anew', () => {
  const sessions = { runningChanged: new Signal<object, void>({}), running: () => [] };
  const all = new AllPrograms({ sessions, kernels: sessions } as never);
  const follow = (id: string): FakeKernel => {
    const kernel = new FakeKernel(id);
    all.follow(notebookOf(kernel, `${id}.ipynb`) as never);
    return kernel;
  };
  const told = ({ sent }: FakeKernel): unknown[] => sent.filter(({ type }) => type === 'listen').map(({ on }) => on);
  const open = (kernel: FakeKernel): void =>
    kernel.say('comm_open', { type: 'list', session: 'key', programs: [], dropped: 0 });
  const early = follow('early');
  all.listen(true);
  assert.deepEqual(told(early), [], 'it has no jaxviz yet');
  open(early);
  assert.deepEqual(told(early), [true]);
  const late = follow('late');
  open(late);
  open(late);
  assert.deepEqual(told(late), [true, true]);
  // Another page looks no more, this one does.
  late.say('comm_msg', { type: 'unlistened' });
  assert.deepEqual(told(late), [true, true, true]);
  all.listen(false);
  assert.deepEqual([told(early).at(-1), told(late).at(-1)], [false, false]);
  const before = told(late).length;
  late.say('comm_msg', { type: 'unlistened' });
  assert.equal(told(late).length, before);
});
