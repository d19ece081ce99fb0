/**
 * Pinned programs with their documents, in a state database: there they stay when the page is loaded again.
 * JupyterLab's is sent as a whole whenever a tab moves, so there is room for only so much.
 */
import type { Session } from '@jupyterlab/services';
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { Program } from './kernelPrograms.ts';

const NAMESPACE = 'jaxviz-pinned';
/** Characters that the pinned programs of all kernels may have together. */
const ROOM = 4_000_000;

export interface Pinned {
  /** The list that it is of, as `KernelPrograms.key` names it. */
  readonly session: string;
  readonly program: Program;
  readonly document: unknown;
}

/** Where the pinned programs of one kernel stay. */
export interface Shelf {
  read(): Promise<readonly Pinned[]>;
  /** Puts these in place of what is there; gives the ids of those that there is no room for. */
  write(pinned: readonly Pinned[]): Promise<readonly string[]>;
}

export class Shelves {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly state: IStateDB,
    private readonly room = ROOM
  ) {}

  /** That of a kernel. */
  of(kernel: string): Shelf {
    const id = `${NAMESPACE}:${kernel}`;
    return {
      read: async () => ((await this.state.fetch(id)) ?? []) as unknown as Pinned[],
      write: pinned => this.next(() => this.write(id, pinned))
    };
  }

  /** Clears those of kernels that run no more. */
  async clear(running: Iterable<Session.IModel>): Promise<void> {
    const alive = new Set([...running].map(({ kernel }) => `${NAMESPACE}:${kernel?.id}`));
    const { ids } = await this.state.list(NAMESPACE);
    await Promise.all(ids.filter(id => !alive.has(id)).map(id => this.state.remove(id)));
  }

  private async write(id: string, pinned: readonly Pinned[]): Promise<readonly string[]> {
    const { ids, values } = await this.state.list(NAMESPACE);
    const others = values.filter((_, i) => ids[i] !== id);
    let left = others.reduce<number>((room, value) => room - length(value), this.room);
    const fitting: Pinned[] = [];
    const tooLarge: string[] = [];
    for (const one of pinned) {
      const size = length(one);
      if (size <= left) {
        left -= size;
        fitting.push(one);
      } else {
        tooLarge.push(one.program.id);
      }
    }
    if (fitting.length > 0) {
      await this.state.save(id, fitting as unknown as ReadonlyPartialJSONValue);
    } else if (ids.includes(id)) {
      await this.state.remove(id);
    }
    return tooLarge;
  }

  /** One after the other, so that what is written last is what stays. */
  private next<T>(run: () => Promise<T>): Promise<T> {
    const done = this.last.then(run);
    this.last = done.catch(() => undefined);
    return done;
  }
}

function length(value: unknown): number {
  return JSON.stringify(value).length;
}
