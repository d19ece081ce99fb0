/**
 * Layout off the main thread. A worker does one job at a time; cancelling a job that runs ends its worker, and the
 * next job starts a new one. Where no worker can be made, jobs are done in place.
 */
import type { Layout, LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { LayoutMemory, type Told } from './memory.ts';

/** A layout under way. `result` rejects with an `AbortError` once it is cancelled. */
export interface LayoutJob {
  readonly result: Promise<Layout>;
  cancel(): void;
}

interface Answer {
  readonly id: number;
  readonly layout?: Layout;
  readonly learned?: Told;
  readonly error?: string;
}

interface Waiting {
  readonly input: LayoutInput;
  resolve(layout: Layout): void;
  reject(error: Error): void;
}

function ownWorker(): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url));
}

function aborted(): Error {
  const error = new Error('The layout was cancelled');
  error.name = 'AbortError';
  return error;
}

export class LayoutClient {
  private worker: Worker | null = null;
  private failed = false;
  private seen = true;
  /** What the worker remembers; a worker that ends takes nothing with it. */
  private readonly memory = new LayoutMemory();
  private next = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly makeWorker: () => Worker = ownWorker) {}

  layout(input: LayoutInput): LayoutJob {
    const isNew = !this.worker;
    const worker = this.start();
    if (!worker) {
      return this.inPlace(input);
    }
    const id = this.next++;
    const result = new Promise<Layout>((resolve, reject) => this.waiting.set(id, { input, resolve, reject }));
    worker.postMessage(isNew ? { id, input, learned: this.memory.tell('all') } : { id, input });
    return { result, cancel: () => this.cancel(id) };
  }

  /** While a picture is out of sight no worker waits for it: there may be many pictures on a page. */
  setSeen(seen: boolean): void {
    this.seen = seen;
    this.rest();
  }

  /** Ends the worker; jobs under way are cancelled. */
  dispose(): void {
    for (const id of [...this.waiting.keys()]) {
      this.cancel(id);
    }
    this.stop();
  }

  private inPlace(input: LayoutInput): LayoutJob {
    let cancelled = false;
    // Not at once, so that a cancelled job costs nothing.
    const result = Promise.resolve().then(() => {
      if (cancelled) {
        throw aborted();
      }
      return layout(input, this.memory);
    });
    return {
      result,
      cancel: () => {
        cancelled = true;
      }
    };
  }

  private cancel(id: number): void {
    const job = this.waiting.get(id);
    if (!job) {
      return;
    }
    this.waiting.delete(id);
    job.reject(aborted());
    // The worker cannot be interrupted. Others that wait for it are rare: a view has one job at a time.
    if (this.waiting.size === 0) {
      this.stop();
    }
  }

  private start(): Worker | null {
    if (!this.worker && !this.failed) {
      try {
        this.worker = this.makeWorker();
      } catch {
        this.failed = true;
        return null;
      }
      this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.answer(data);
      this.worker.onerror = () => this.fail();
    }
    return this.worker;
  }

  private rest(): void {
    if (!this.seen && this.waiting.size === 0) {
      this.stop();
    }
  }

  private stop(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  private answer({ id, layout, learned, error }: Answer): void {
    const job = this.waiting.get(id);
    this.waiting.delete(id);
    this.memory.learn(learned ?? []);
    if (layout) {
      job?.resolve(layout);
    } else {
      job?.reject(new Error(error));
    }
    this.rest();
  }

  /** The worker could not be loaded, as under a strict content policy: what waits for it is done here. */
  private fail(): void {
    this.failed = true;
    this.stop();
    for (const { input, resolve, reject } of this.waiting.values()) {
      try {
        resolve(layout(input, this.memory));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
    this.waiting.clear();
  }
}
