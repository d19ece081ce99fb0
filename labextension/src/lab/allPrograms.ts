/**
 * The programs of all kernels. Those of open notebooks are known as soon as the kernel tells; the other kernels of the
 * server are only asked while the side panel is open.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, ServiceManager, Session, SessionManager } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';
import { KernelPrograms } from './kernelPrograms.ts';
import type { Shelves } from './shelf.ts';

/** A kernel as the panel lists it. */
export interface KernelEntry {
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
  /** Whether kernels list all that they compile. */
  private listening = false;
  private readonly change = new Signal<this, void>(this);
  private readonly move = new Signal<this, { readonly from: string; readonly to: string }>(this);

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
    return this.move;
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
      }
    };
    context.kernelChanged.connect((_, { oldValue, newValue }) => {
      // A restart gives the same kernel again, which has not lost what is kept here.
      if (oldValue && oldValue.id !== newValue?.id) {
        this.drop(oldValue.id);
      }
      connect();
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
    this.refresh();
  }

  /** Has all kernels list what they compile, as long as somebody looks at the list. */
  listen(on: boolean): void {
    this.listening = on;
    this.entries.forEach(({ programs }) => programs.listen(on));
  }

  private noteStates(): void {
    if (this.entries.some(({ programs }) => programs.unheard)) {
      this.change.emit();
    }
  }

  private refresh(): void {
    const running = [...this.server.sessions.running()];
    const alive = new Set(running.map(({ kernel }) => kernel?.id));
    for (const { id, programs } of this.entries) {
      // The list of what runs may be older than a connection that is in use.
      if (programs.ended || (this.own.has(id) && !alive.has(id))) {
        this.drop(id);
      }
    }
    if (this.looking) {
      const open = new Set([...this.followed].map(({ path }) => path));
      for (const model of running) {
        const own = model.kernel && this.own.get(model.kernel.id);
        if (own?.kernel) {
          this.add(own.kernel, model.path);
        }
        // The kernel that reads files (`fileReader.ts`) is of that type; it has no programs.
        const isWanted = model.type !== 'file' && !open.has(model.path);
        if (model.kernel && isWanted && !this.kernels.has(model.kernel.id)) {
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
  }

  private add(kernel: Kernel.IKernelConnection, path: string): void {
    const known = this.kernels.get(kernel.id);
    const name = path.split('/').pop() ?? path;
    if (known?.programs.isOf(kernel)) {
      if (known.path !== path) {
        this.kernels.set(kernel.id, { ...known, path, name });
        this.move.emit({ from: known.path, to: path });
        this.change.emit();
      }
      return;
    }
    const programs = new KernelPrograms(kernel, known?.programs, this.shelves?.of(kernel.id));
    this.drop(kernel.id);
    programs.changed.connect(() => this.change.emit());
    this.kernels.set(kernel.id, { id: kernel.id, path, name, programs });
    programs.listen(this.listening);
    this.change.emit();
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
