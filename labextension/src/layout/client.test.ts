import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutClient } from './client.ts';
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { LayoutMemory, type Told } from './memory.ts';

const input = (boxes: number): LayoutInput => ({
  parent: new Int32Array(boxes).fill(-1),
  width: new Float64Array(boxes).fill(50),
  height: new Float64Array(boxes).fill(22),
  left: new Float64Array(boxes),
  right: new Float64Array(boxes),
  group: new Uint8Array(boxes),
  pin: new Uint8Array(boxes),
  source: Int32Array.of(),
  target: Int32Array.of(),
  sourcePort: Int32Array.of(),
  targetPort: Int32Array.of()
});

/** A worker that answers when it is told to. */
class FakeWorker {
  static made: FakeWorker[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  readonly jobs: { id: number; input: LayoutInput; learned?: Told }[] = [];
  readonly memory = new LayoutMemory();
  ended = false;
  constructor() {
    FakeWorker.made.push(this);
  }
  postMessage(job: { id: number; input: LayoutInput; learned?: Told }): void {
    this.jobs.push(job);
  }
  terminate(): void {
    this.ended = true;
  }
  answer(): void {
    const job = this.jobs.shift();
    if (job && !this.ended) {
      this.memory.learn(job.learned ?? []);
      const made = layout(job.input, this.memory);
      this.onmessage?.({ data: { id: job.id, layout: made, learned: this.memory.tell('last') } });
    }
  }
}

const client = (): LayoutClient => {
  FakeWorker.made = [];
  return new LayoutClient(() => new FakeWorker() as unknown as Worker);
};
const aborted = (error: Error): boolean => error.name === 'AbortError';

test('a job is done by the worker', async () => {
  const job = client().layout(input(3));
  FakeWorker.made[0].answer();
  assert.deepEqual(await job.result, layout(input(3)));
});

test('a cancelled job ends its worker, and the next one starts a new one', async () => {
  const layouts = client();
  const first = layouts.layout(input(3));
  first.cancel();
  await assert.rejects(first.result, aborted);
  assert.ok(FakeWorker.made[0].ended);
  const second = layouts.layout(input(2));
  assert.equal(FakeWorker.made.length, 2);
  FakeWorker.made[1].answer();
  assert.equal((await second.result).x.length, 2);
});

test('the next worker is told what the last one had laid out, though that was ended', async () => {
  const layouts = client();
  const [small, large] = [layouts.layout(input(3)), layouts.layout(input(4))];
  FakeWorker.made[0].answer();
  FakeWorker.made[0].answer();
  await Promise.all([small.result, large.result]);
  layouts.setSeen(false);
  layouts.setSeen(true);
  void layouts.layout(input(3));
  const [{ learned }] = FakeWorker.made[1].jobs;
  assert.deepEqual(
    learned?.map(([, { fresh }]) => fresh?.x.length),
    [3, 4]
  );
  void layouts.layout(input(3));
  assert.equal(FakeWorker.made[1].jobs[1].learned, undefined);
});

test('cancelling a job that is done changes nothing', async () => {
  const layouts = client();
  const job = layouts.layout(input(1));
  FakeWorker.made[0].answer();
  await job.result;
  job.cancel();
  assert.ok(!FakeWorker.made[0].ended);
});

test('without a worker jobs are done in place', async () => {
  const layouts = new LayoutClient(() => {
    throw new Error('forbidden');
  });
  assert.deepEqual(await layouts.layout(input(4)).result, layout(input(4)));
  const job = layouts.layout(input(4));
  job.cancel();
  await assert.rejects(job.result, aborted);
});

test('a worker that cannot be loaded is replaced by work in place, also for what waits', async () => {
  const layouts = client();
  const job = layouts.layout(input(2));
  FakeWorker.made[0].onerror?.({});
  assert.equal((await job.result).x.length, 2);
  assert.equal((await layouts.layout(input(5)).result).x.length, 5);
  assert.equal(FakeWorker.made.length, 1);
});

test('disposing cancels what is under way', async () => {
  const layouts = client();
  const job = layouts.layout(input(2));
  layouts.dispose();
  await assert.rejects(job.result, aborted);
  assert.ok(FakeWorker.made[0].ended);
});

test('out of sight, a worker ends when its work is done, and another one comes when there is more', async () => {
  const layouts = client();
  const first = layouts.layout(input(3));
  layouts.setSeen(false);
  assert.equal(FakeWorker.made[0].ended, false);
  FakeWorker.made[0].answer();
  assert.equal((await first.result).x.length, 3);
  assert.ok(FakeWorker.made[0].ended);
  const second = layouts.layout(input(2));
  FakeWorker.made[1].answer();
  assert.equal((await second.result).x.length, 2);
  assert.ok(FakeWorker.made[1].ended);
  layouts.setSeen(true);
  const third = layouts.layout(input(2));
  FakeWorker.made[2].answer();
  await third.result;
  assert.equal(FakeWorker.made[2].ended, false);
});
