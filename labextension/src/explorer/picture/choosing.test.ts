import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { Sketch } from '../../document/sketch.ts';
import { measure } from '../../draw/text.ts';
import { layout } from '../../layout/layout.ts';
import type { LayoutClient, LayoutJob } from '../../layout/client.ts';
import type { Layout, LayoutInput } from '../../layout/input.ts';
import { firstView } from '../../view/first.ts';
import { Choosing } from './choosing.ts';

/** A call of many operations, which stays closed, and a loop, which is open at first: to see that takes layouts. */
function callAndLoop(length: number): Sketch {
  const sketch = new Sketch('both');
  const x = sketch.argument('x', 'f32[4]');
  const call = sketch.op('jit', [x], 'f32[4]', {}, 'long');
  sketch.region(sketch.last, 'jit', 'long', () => {
    let value = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
    for (let i = 0; i < length; i++) {
      value = sketch.op('add', [value], 'f32[4]');
    }
    sketch.result('', value, { kind: 'leave', to: call });
  });
  const final = sketch.op('scan', [call], 'f32[4]', { length: '8' }, 'turns');
  sketch.region(sketch.last, 'scan', 'turns', () => {
    const carried = sketch.argument('', 'f32[4]', { kind: 'init', from: call });
    const first = sketch.last;
    const next = sketch.result('', sketch.op('sin', [sketch.op('mul', [carried], 'f32[4]')], 'f32[4]'), {
      kind: 'leave',
      to: final
    });
    sketch.bind('carry', next, first);
  });
  sketch.result('result', final);
  return sketch;
}

const space = { width: 4000, height: 2000 };

/** Layouts that are made when they are asked for; counts those that were asked for and those that were cancelled. */
function worker(): { layouts: LayoutClient; asked: LayoutInput[]; cancelled: number } {
  const seen = { layouts: undefined as unknown as LayoutClient, asked: [] as LayoutInput[], cancelled: 0 };
  const start = (input: LayoutInput): LayoutJob => {
    seen.asked.push(input);
    let stop: (error: Error) => void = () => undefined;
    const result = new Promise<Layout>((resolve, reject) => {
      stop = reject;
      setTimeout(() => resolve(layout(input)), 1);
    });
    const cancel = (): void => {
      seen.cancelled++;
      stop(new Error('cancelled'));
    };
    return { result, cancel };
  };
  seen.layouts = { layout: start } as unknown as LayoutClient;
  return seen;
}

const until = async (holds: () => boolean): Promise<void> => {
  for (let turns = 0; turns < 2_000 && !holds(); turns++) {
    await new Promise(done => setTimeout(done, 1));
  }
  assert.ok(holds());
};

test('of a small graph it is known at once what is open', () => {
  const document = decodePlain(callAndLoop(40).plain());
  const { layouts, asked } = worker();
  const choosing = new Choosing(document, layouts, () => space);
  let called = false;
  choosing.whenOpen(0, () => (called = true));
  assert.ok(called && !choosing.busy && asked.length === 0);
  assert.deepEqual(choosing.first(0), firstView(document, document.graphs[0], space, measure, layout));
});

test('of a large graph it is chosen in the worker, and as it would be at once', async () => {
  const document = decodePlain(callAndLoop(3_000).plain());
  const { layouts, asked } = worker();
  const choosing = new Choosing(document, layouts, () => space);
  let called = false;
  choosing.whenOpen(0, () => (called = true));
  assert.ok(!called && choosing.busy);
  await until(() => called);
  assert.ok(!choosing.busy);
  let tries = 0;
  const first = firstView(document, document.graphs[0], space, measure, input => {
    tries++;
    return layout(input);
  });
  assert.deepEqual(choosing.first(0), first);
  assert.equal(asked.length, tries);
  assert.ok(first.open.size > 0 && tries > 0);
  // Known from now on.
  called = false;
  choosing.whenOpen(0, () => (called = true));
  assert.ok(called);
});

test('who asks for another graph, or goes away, is not called for the first', async () => {
  const document = decodePlain(callAndLoop(3_000).plain());
  const seen = worker();
  const choosing = new Choosing(document, seen.layouts, () => space);
  let first = 0;
  let second = 0;
  choosing.whenOpen(0, () => first++);
  choosing.whenOpen(0, () => second++);
  await until(() => second > 0);
  assert.deepEqual([first, second], [0, 1]);
  const gone = new Choosing(document, seen.layouts, () => space);
  gone.whenOpen(0, () => assert.fail('nobody waits any more'));
  gone.cancel();
  assert.ok(!gone.busy);
  await new Promise(done => setTimeout(done, 60));
});

test('a choice that takes long is said to take long, until it is made or given up', async () => {
  const document = decodePlain(callAndLoop(3_000).plain());
  let finish = (): void => undefined;
  const held = (input: LayoutInput): LayoutJob => ({
    result: new Promise(resolve => (finish = () => resolve(layout(input)))),
    cancel: () => undefined
  });
  const layouts = { layout: held } as unknown as LayoutClient;
  const said: boolean[] = [];
  const choosing = new Choosing(
    document,
    layouts,
    () => space,
    waits => said.push(waits)
  );
  let called = false;
  choosing.whenOpen(0, () => (called = true));
  await until(() => said.length > 0);
  assert.deepEqual(said, [true]);
  const pump = setInterval(() => finish(), 1);
  await until(() => called);
  clearInterval(pump);
  assert.deepEqual(said, [true, false]);
  const given = new Choosing(
    document,
    layouts,
    () => space,
    waits => said.push(waits)
  );
  given.whenOpen(0, () => assert.fail('it was given up'));
  await until(() => said.length > 2);
  given.cancel();
  assert.deepEqual(said.slice(2), [true, false]);
});

test('where no layout can be made, everything is closed and the picture comes all the same', async () => {
  const document = decodePlain(callAndLoop(3_000).plain());
  const layouts = {
    layout: (): LayoutJob => ({ result: Promise.reject(new Error('no')), cancel: () => undefined })
  } as unknown as LayoutClient;
  const choosing = new Choosing(document, layouts, () => space);
  let called = false;
  choosing.whenOpen(0, () => (called = true));
  await until(() => called);
  assert.equal(choosing.busy, false);
});

test('it is chosen for what details leave free, and stays when they come or go', () => {
  const document = decodePlain(callAndLoop(40).plain());
  const chosen = (room: { width: number; height: number }) =>
    firstView(document, document.graphs[0], room, measure, layout);
  const low = { width: 4000, height: 120 };
  assert.notDeepEqual(chosen(low), chosen(space));
  let room = low;
  const choosing = new Choosing(
    document,
    worker().layouts,
    () => space,
    undefined,
    () => room
  );
  assert.deepEqual(choosing.first(0), chosen(low));
  room = space;
  assert.deepEqual(choosing.first(0), chosen(low));
});
