/**
 * Pinned programs with their documents, in a state database: there they stay when the page is loaded again.
 * JupyterLab's is sent as a whole whenever a tab moves, so there is room for only so much.
 */
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { Program } from './program.ts';

const NAMESPACE = 'jaxviz-pinned';
const PREFIX = `${NAMESPACE}:`;
/** Characters that the pinned programs of all notebooks may have together. */
const ROOM = 4_000_000;

export interface Pinned {
  /** The list that it is of, as `KernelPrograms.key` names it. */
  readonly session: string;
  readonly program: Program;
  readonly document: unknown;
}

/** Where the pinned programs of one notebook stay. */
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

  /** That of a notebook. */
  of(path: string): Shelf {
    const id = PREFIX + path;
    return {
      read: () => this.next(() => this.read(id)),
      write: pinned => this.next(() => this.write(id, pinned))
    };
  }

  /** The notebooks that have pinned programs. */
  async paths(): Promise<readonly string[]> {
    const { ids } = await this.next(() => this.state.list(NAMESPACE));
    return ids.map(id => id.slice(PREFIX.length));
  }

  /** A notebook, or a folder with all that is in it, has another place. */
  rename(from: string, to: string): Promise<void> {
    return this.next(async () => {
      const { ids } = await this.state.list(NAMESPACE);
      for (const id of ids) {
        const path = id.slice(PREFIX.length);
        const there = movedPath(path, from, to);
        if (there !== path) {
          await this.state.save(PREFIX + there, (await this.read(id)) as unknown as ReadonlyPartialJSONValue);
          await this.state.remove(id);
        }
      }
    });
  }

  private async read(id: string): Promise<readonly Pinned[]> {
    return ((await this.state.fetch(id)) ?? []) as unknown as Pinned[];
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

/** Where something is once a file or a folder has moved. */
export function movedPath(path: string, from: string, to: string): string {
  return path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

function length(value: unknown): number {
  return JSON.stringify(value).length;
}
