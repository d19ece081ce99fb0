/**
 * The programs of all kernels. Those of open notebooks are known as soon as the kernel tells; the other kernels of the
 * server are only asked while the side panel is open. Pinned programs are of their notebook, which may have no kernel.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, ServiceManager, Session, SessionManager } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';
import { KernelPrograms } from './kernelPrograms.ts';
import { movedPath, type Shelves } from './shelf.ts';

/** A kernel as the panel lists it, or a notebook that has none. */
export interface KernelEntry {
  /** That of the kernel; without one, of the entry alone. */
  readonly id: string;
  /** Path of the notebook or console, and its last part. */
  readonly path: string;
  readonly name: string;
  readonly programs: KernelPrograms;
}

export class AllPrograms {
  private readonly kernels = new Map<string, KernelEntry>();
  /** The notebooks that are open here: they connect to their kernels themselves, as soon as these are started. */
  private readonly followed = new Set<ISessionContext>();
  /** Connections that were made for the panel alone. */
  private readonly own = new Map<string, Session.ISessionConnection>();
  private looking = false;
  /** Notebooks with pinned programs, as far as they were looked for. */
  private pinning: readonly string[] = [];
  /** Whether kernels list all that they compile. */
  private listening = false;
  private readonly change = new Signal<this, void>(this);
  private readonly moves = new Signal<this, { readonly from: string; readonly to: string }>(this);

  constructor(
    private readonly server: Pick<ServiceManager.IManager, 'sessions' | 'kernels'>,
    private readonly shelves?: Shelves
  ) {
    server.sessions.runningChanged.connect(() => this.refresh());
    server.kernels.runningChanged.connect(() => this.noteStates());
  }

  get changed(): ISignal<this, void> {
    return this.change;
  }

  /** A notebook has another path. */
  get moved(): ISignal<this, { readonly from: string; readonly to: string }> {
    return this.moves;
  }

  get entries(): readonly KernelEntry[] {
    return [...this.kernels.values()];
  }

  /** The kernel of a notebook, by the notebook's path. */
  ofPath(path: string): KernelEntry | undefined {
    return this.entries.find(entry => entry.path === path);
  }

  /** The kernel that has the list of programs with this name. */
  ofSession(key: string): KernelEntry | undefined {
    return key ? this.entries.find(({ programs }) => programs.key === key) : undefined;
  }

  get(id: string): KernelEntry | undefined {
    return this.kernels.get(id);
  }

  /**
   * True for a kernel that runs a cell and tells what it has after it: one that ran it already when the page was loaded.
   * Its connection has not heard of the cell, but the server has.
   */
  comesAfterCell({ id, programs }: KernelEntry): boolean {
    const isBusy = ({ id: other, execution_state: state }: Kernel.IModel): boolean => other === id && state === 'busy';
    return programs.unheard && [...this.server.kernels.running()].some(isBusy);
  }

  /** Follows the kernel of a notebook or console that is open. */
  follow(context: ISessionContext): void {
    const connect = (): void => {
      const { session } = context;
      if (session?.kernel) {
        this.add(session.kernel, session.path);
      } else {
        const entry = this.ofPath(context.path);
        if (entry?.programs.ended) {
          this.release(entry);
        }
        void this.server.sessions.ready.then(() => this.refresh());
      }
    };
    context.kernelChanged.connect(connect);
    // A kernel that was dead, and is restarted, is the same kernel.
    context.statusChanged.connect((_, status) => {
      const kernel = context.session?.kernel;
      if (kernel && status !== 'dead' && !this.kernels.has(kernel.id)) {
        connect();
      }
    });
    // A notebook that is renamed takes its programs along.
    context.propertyChanged.connect((_, what) => {
      if (what === 'path') {
        connect();
      }
    });
    this.followed.add(context);
    context.disposed.connect(() => {
      this.followed.delete(context);
      this.refresh();
    });
    connect();
  }

  /** Looks at kernels without an open notebook too. */
  async lookAtAll(): Promise<void> {
    this.looking = true;
    await this.server.sessions.ready;
    // Without the database, there is nothing pinned either.
    this.pinning = (await this.shelves?.paths().catch(() => [])) ?? [];
    this.refresh();
  }

  /** Has all kernels list what they compile, as long as somebody looks at the list. */
  listen(on: boolean): void {
    this.listening = on;
    this.entries.forEach(({ programs }) => programs.listen(on));
  }

  /** A file, or a folder with all that is in it, has another name. */
  rename(from: string, to: string): void {
    this.renameShelf(from, to);
    this.pinning = this.pinning.map(path => movedPath(path, from, to));
    for (const entry of this.entries) {
      // A kernel tells of its notebook itself.
      if (!entry.programs.hasKernel) {
        this.move(entry, movedPath(entry.path, from, to));
      }
    }
  }

  private noteStates(): void {
    if (this.entries.some(({ programs }) => programs.unheard)) {
      this.change.emit();
    }
  }

  private refresh(): void {
    const running = [...this.server.sessions.running()];
    const alive = new Set(running.map(({ kernel }) => kernel?.id));
    for (const entry of this.entries) {
      const { id, path, programs } = entry;
      if (programs.ended && alive.has(id) && !this.isOpen(path)) {
        // Its notebook was closed, and it runs on.
        this.drop(id);
      } else if (programs.ended || (this.own.has(id) && !alive.has(id))) {
        // The list of what runs may be older than a connection that is in use.
        this.release(entry);
      }
    }
    if (this.looking) {
      for (const model of running) {
        const own = model.kernel && this.own.get(model.kernel.id);
        if (own?.kernel) {
          this.add(own.kernel, model.path);
        }
        // The kernel that reads files (`fileReader.ts`) is of that type; it has no programs.
        const isWanted = model.type !== 'file' && !this.isOpen(model.path);
        if (model.kernel && isWanted && !own && !this.kernels.has(model.kernel.id)) {
          // Without comms: if its notebook is opened, that needs them.
          const options = { model, kernelConnectionOptions: { handleComms: false } };
          const session = (this.server.sessions as SessionManager).connectTo(options);
          this.own.set(model.kernel.id, session);
          if (session.kernel) {
            this.add(session.kernel, model.path);
          }
        }
      }
    }
    const served = new Set(running.map(({ path }) => path));
    for (const path of [...[...this.followed].map(context => context.path), ...(this.looking ? this.pinning : [])]) {
      if (!served.has(path) && !this.ofPath(path)) {
        this.put(nobody(path), path, new KernelPrograms(null, undefined, this.shelves?.of(path)));
      }
    }
  }

  private add(kernel: Kernel.IKernelConnection, path: string): void {
    const known = this.kernels.get(kernel.id);
    if (known?.programs.isOf(kernel)) {
      this.move(known, path);
      return;
    }
    const before = known ?? this.ofPath(path);
    if (!known) {
      before?.programs.leave('changed');
    }
    this.put(kernel.id, path, new KernelPrograms(kernel, before?.programs, this.shelves?.of(path)), before);
  }

  /** Keeps what was pinned of a kernel that has ended, for its notebook. */
  private release(entry: KernelEntry): void {
    const { path, programs } = entry;
    programs.leave('gone');
    if (programs.size > 0 || this.isOpen(path)) {
      this.put(nobody(path), path, new KernelPrograms(null, programs, this.shelves?.of(path)), entry);
    } else {
      this.drop(entry.id);
    }
  }

  private put(id: string, path: string, programs: KernelPrograms, before?: KernelEntry): void {
    if (before) {
      this.drop(before.id);
    }
    programs.changed.connect(() => this.change.emit());
    this.kernels.set(id, { id, path, name: nameOf(path), programs });
    programs.listen(this.listening);
    this.dropOthers(id, path);
    this.change.emit();
  }

  /** A notebook that has a kernel now is not one without. */
  private dropOthers(id: string, path: string): void {
    const others = this.entries.filter(one => one.path === path && one.id !== id && !one.programs.hasKernel);
    others.forEach(one => this.drop(one.id));
  }

  private move(entry: KernelEntry, to: string): void {
    const { id, path: from, programs } = entry;
    if (from !== to) {
      this.renameShelf(from, to);
      programs.moveTo(this.shelves?.of(to));
      this.kernels.set(id, { ...entry, path: to, name: nameOf(to) });
      this.dropOthers(id, to);
      this.moves.emit({ from, to });
      this.change.emit();
    }
  }

  private renameShelf(from: string, to: string): void {
    // Without the database, nothing is on it.
    this.shelves?.rename(from, to).catch(() => undefined);
  }

  /** True for a notebook that is open here. */
  private isOpen(path: string): boolean {
    return [...this.followed].some(context => context.path === path);
  }

  private drop(id: string): void {
    const entry = this.kernels.get(id);
    if (entry) {
      entry.programs.dispose();
      this.kernels.delete(id);
      this.own.get(id)?.dispose();
      this.own.delete(id);
      this.change.emit();
    }
  }
}

/** Id of a notebook that has no kernel. */
function nobody(path: string): string {
  return `of ${path}`;
}

function nameOf(path: string): string {
  return path.split('/').pop() ?? path;
}
