/**
 * The programs of one kernel, as the kernel tells them over its comm. A comm is found by its target, so a page that was
 * loaded again goes on where it was; a kernel that never made a program is asked once and told nothing.
 *
 * Messages of the comm are sent and heard as they are: only one of several connections of a page to one kernel may
 * have comms of its own, and that one belongs to the notebook.
 */
import { KernelMessage, type Kernel } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';
import type { Asked, Told } from '../explorer/kernelLine.ts';
import { application } from './preferences.ts';
import type { Program } from './program.ts';
import { AT_ONCE, Questions, type Message, type Purpose } from './questions.ts';
import type { Pinned, Shelf } from './shelf.ts';

/** The target of the comm, in `jaxviz/notebook/channel.py`. */
const TARGET = 'jaxviz';

/**
 * Why programs that were there are not any more, until others come: the kernel was restarted, the notebook has another
 * one, or has none.
 */
export type Lost = 'restarted' | 'changed' | 'gone';

/** A program that no kernel has, and the list that it is of. */
interface Kept {
  readonly session: string;
  readonly program: Program;
}

export class KernelPrograms {
  lost: Lost | null = null;
  /** Names the list: a kernel that was started again has another. */
  key = '';
  /** True while the kernel has not answered whether it has programs, though it had the time. */
  unheard = false;
  /** How many programs the kernel has dropped because there were too many. */
  dropped = 0;
  private programs = new Map<string, Program>();
  /** Programs of earlier kernels whose documents are here, by their names among those of all kernels. */
  private readonly kept = new Map<string, Kept>();
  private readonly documents = new Map<string, { readonly when: number; readonly document: unknown }>();
  private readonly questions: Questions | null;
  private comm: string | null = null;
  /** The kernel's own name for its time from start to end: one that was started again has another. */
  private life = '';
  /** Whether the kernel is to list all that it compiles; as it does by itself, where nobody said so. */
  private listens: boolean | null = null;
  /** When the pinned programs were made whose documents were asked for, by id. */
  private readonly fetched = new Map<string, number>();
  /** What is on the shelf; null until that was looked at. */
  private stored: readonly Pinned[] | null = null;
  /** Pinned programs that the shelf has no room for. */
  private tooLarge: ReadonlySet<string> = new Set();
  private isDisposed = false;
  private readonly change = new Signal<this, void>(this);

  /**
   * `kernel` is null for a notebook that has none. `before` is what was known over an earlier connection, or of an earlier
   * kernel of the notebook, which has told that it is `lost`. `shelf` has what was pinned, also after the page was loaded
   * again.
   */
  constructor(
    private readonly kernel: Kernel.IKernelConnection | null,
    before?: KernelPrograms,
    private shelf?: Shelf
  ) {
    this.lost = before?.lost ?? null;
    before?.kept.forEach(({ session, program }) => {
      this.keep(session, program, before.documents.get(listedAs(session, program.id))?.document);
    });
    this.questions = kernel && new Questions(kernel, () => this.change.emit());
    kernel?.iopubMessage.connect(this.hear, this);
    kernel?.statusChanged.connect(this.follow, this);
    if (kernel?.handleComms) {
      // Else the kernel would be told that nobody knows this comm.
      kernel.registerCommTarget(TARGET, () => undefined);
    }
    void this.recall();
  }

  /** Something about the programs is another. */
  get changed(): ISignal<this, void> {
    return this.change;
  }

  /** The programs, the oldest first; those that are only here, from an earlier kernel, come first. */
  get list(): readonly Program[] {
    return [...[...this.kept].map(([id, { program }]) => ({ ...program, id })), ...this.programs.values()];
  }

  get size(): number {
    return this.kept.size + this.programs.size;
  }

  /** True once it was looked whether there are programs of earlier kernels. */
  get isRecalled(): boolean {
    return this.stored !== null;
  }

  get hasKernel(): boolean {
    return this.kernel !== null;
  }

  /** True for a program that the kernel does not have, but one before it had. */
  isKept(id: string): boolean {
    return this.kept.has(id);
  }

  /** True for a pinned program that is lost when the page is loaded again and the kernel restarted. */
  isTooLarge(id: string): boolean {
    return this.tooLarge.has(id);
  }

  /** Names a program among those of all kernels, as `Exploration.listed` does. */
  listed(id: string): string {
    return this.kept.has(id) ? id : listedAs(this.key, id);
  }

  /** The id of the program with such a name, if it is here. */
  idOf(listed: string): string | undefined {
    return [...this.kept.keys(), ...this.programs.keys()].find(id => this.listed(id) === listed);
  }

  get(id: string): Program | undefined {
    const kept = this.kept.get(id);
    return kept ? { ...kept.program, id } : this.programs.get(id);
  }

  /** True for the connection that is listened to. */
  isOf(kernel: Kernel.IKernelConnection): boolean {
    return this.kernel === kernel;
  }

  /** True once nothing comes over the connection any more. */
  get ended(): boolean {
    return this.kernel !== null && (this.kernel.isDisposed || this.kernel.status === 'dead');
  }

  dispose(): void {
    this.isDisposed = true;
    Signal.clearData(this);
    this.questions?.fail(application.trans.__('The connection to the kernel has ended.'));
  }

  /** What the person has asked for and the kernel comes to when it is free, in words. */
  get late(): readonly string[] {
    return this.questions?.late ?? [];
  }

  /** The document of a program, made by the kernel when it is first asked for. */
  async open(id: string, purpose?: Purpose): Promise<unknown> {
    const program = this.get(id);
    const known = this.documents.get(id);
    if (program && known?.when === program.when) {
      return known.document;
    }
    const { document } = await this.ask({ type: 'open', id }, purpose);
    if (program) {
      this.documents.set(id, { when: program.when, document });
      this.store();
    }
    return document;
  }

  async compare(one: string, other: string, purpose?: Purpose): Promise<unknown> {
    return (await this.ask({ type: 'compare', ids: [one, other] }, purpose)).document;
  }

  async rename(id: string, label: string): Promise<void> {
    const kept = this.kept.get(id);
    if (kept) {
      this.kept.set(id, { ...kept, program: { ...kept.program, label: label.trim() } });
      this.tell();
      return;
    }
    const what = application.trans.__('rename %1', this.nameOf(id));
    await this.ask({ type: 'rename', id, label }, { what });
  }

  /** Has the kernel list every function of the person's that it compiles, or only what it is told to. */
  listen(on: boolean): void {
    if (on !== this.listens) {
      this.listens = on;
      this.tellListening();
    }
  }

  /** A pinned program is not dropped, and stays here when the kernel is restarted. */
  async pin(id: string, pinned: boolean): Promise<void> {
    const { trans } = application;
    const name = this.nameOf(id);
    const what = pinned ? trans.__('pin %1', name) : trans.__('unpin %1', name);
    if (pinned) {
      await this.open(id, { what });
    }
    await this.ask({ type: 'pin', id, pinned }, { what });
  }

  async remove(id: string): Promise<void> {
    if (this.kept.delete(id)) {
      this.documents.delete(id);
      this.tell();
      return;
    }
    const what = application.trans.__('delete %1', this.nameOf(id));
    await this.ask({ type: 'delete', id }, { what });
  }

  async clear(): Promise<void> {
    this.kept.clear();
    this.lost = null;
    this.tell();
    if (this.comm) {
      await this.ask({ type: 'clear' }, { what: application.trans.__('clear the list') });
    }
  }

  /** Has the kernel do something that takes its time, and can be stopped. */
  begin(question: Message, told: Told): Asked<Message> {
    const { answer, stop } = this.send(question, { told });
    const done = answer.then(message => {
      const { id, document } = message;
      const program = typeof id === 'string' && question.type === 'run' ? this.get(id) : undefined;
      if (program) {
        this.documents.set(program.id, { when: program.when, document });
      }
      return message;
    });
    return { answer: done, stop };
  }

  /** A program as the person knows it. */
  nameOf(id: string): string {
    const program = this.get(id);
    return program ? program.label || program.call : id;
  }

  /** Takes what was pinned from the shelf, once it is known what the kernel has itself. */
  private async recall(): Promise<void> {
    const found = this.find();
    const pinned = (await this.shelf?.read().catch(() => [])) ?? [];
    for (const { program, document } of pinned) {
      if (!this.documents.has(program.id)) {
        this.documents.set(program.id, { when: program.when, document });
      }
    }
    await found;
    if (this.isDisposed || this.kernel?.isDisposed) {
      return;
    }
    for (const { session, program, document } of pinned) {
      if (session !== this.key) {
        this.keep(session, program, document);
      }
    }
    if (this.kept.size > 0 && this.programs.size === 0) {
      this.lost ??= this.kernel ? 'changed' : 'gone';
    }
    this.stored = pinned;
    this.tell();
  }

  /** Asks for the comm that a kernel may have from before this page. */
  private async find(): Promise<void> {
    if (!this.kernel) {
      return;
    }
    const timer = setTimeout(() => this.noteUnheard(true), AT_ONCE);
    try {
      const { content } = await this.kernel.requestCommInfo({ target_name: TARGET });
      const [id] = content.status === 'ok' ? Object.keys(content.comms) : [];
      if (id && this.comm === null) {
        this.comm = id;
        this.tellListening();
        await this.ask({ type: 'list' });
      }
    } catch {
      // The kernel ended or was restarted meanwhile: what it has next, it tells.
    } finally {
      clearTimeout(timer);
      this.noteUnheard(false);
    }
  }

  private noteUnheard(unheard: boolean): void {
    if (unheard !== this.unheard) {
      this.unheard = unheard;
      this.change.emit();
    }
  }

  private tellListening(): void {
    if (this.comm !== null && this.listens !== null) {
      // One of a jaxviz that does not know the question lists what it always did.
      this.ask({ type: 'listen', on: this.listens }).catch(() => undefined);
    }
  }

  private ask(question: Message, purpose?: Purpose): Promise<Message> {
    return this.send(question, purpose).answer;
  }

  private send(question: Message, purpose?: Purpose): Asked<Message> {
    const { comm, kernel, questions } = this;
    if (comm === null || !questions || kernel?.isDisposed) {
      const { trans } = application;
      const answer = Promise.reject(new Error(trans.__('The kernel has no programs now: run the cell again.')));
      return { answer, stop: () => undefined };
    }
    return questions.ask(comm, question, purpose);
  }

  private hear(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    this.noticeRestart(message);
    this.questions?.hear(message);
    if (KernelMessage.isCommOpenMsg(message) && message.content.target_name === TARGET) {
      this.comm = message.content.comm_id;
      this.programs.clear();
      this.take(message.content.data as Message);
      this.tellListening();
    } else if (KernelMessage.isCommMsgMsg(message) && message.content.comm_id === this.comm) {
      this.take(message.content.data as Message);
    }
  }

  private take(data: Message): void {
    const { type } = data;
    this.questions?.take(data);
    if (type === 'unlistened' && this.listens) {
      // It was another page that looks no more.
      this.tellListening();
    }
    if (type === 'list') {
      this.programs = new Map((data.programs as Program[]).map(program => [program.id, program]));
      this.key = String(data.session ?? '');
      this.dropOwn();
      this.dropped = Number(data.dropped);
    } else if (type === 'program') {
      const program = data.program as Program;
      this.programs.set(program.id, program);
    } else if (type === 'gone') {
      (data.ids as string[]).forEach(id => this.programs.delete(id));
      this.dropped = Number(data.dropped);
    } else {
      return;
    }
    this.lost = this.programs.size === 0 ? this.lost : null;
    this.fetchPinned();
    this.tell();
  }

  /**
   * Whoever restarts a kernel past this page tells nobody. But the kernel does, as it ends; and should that be lost, the
   * next speaks under another name. Only the end is sure to be heard: what a kernel says right after its start, it may
   * say before the server listens again.
   */
  private noticeRestart(message: KernelMessage.IIOPubMessage): void {
    const { msg_type: type, session } = message.header;
    // Not among the types that JupyterLab knows on this channel.
    if ((type as string) === 'shutdown_reply') {
      this.forget();
    }
    // Other states come from the server too, under a name of its own.
    const isAtWork = KernelMessage.isStatusMsg(message) && ['busy', 'idle'].includes(message.content.execution_state);
    const speaks = isAtWork || KernelMessage.isCommOpenMsg(message) || KernelMessage.isCommMsgMsg(message);
    if (!speaks || session === this.life) {
      return;
    }
    const before = this.life;
    this.life = session;
    if (before) {
      this.forget();
      // Its comm may have been opened before the server listened.
      void this.find();
    }
  }

  private follow(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this.forget();
    }
  }

  /** The notebook has another kernel, or none. */
  leave(why: Lost): void {
    this.forget();
    this.lost = this.lost && why;
  }

  /** The notebook has another place. */
  moveTo(shelf: Shelf | undefined): void {
    this.shelf = shelf;
  }

  /** A restarted kernel has no programs. Those that are pinned and here stay. */
  private forget(): void {
    this.questions?.fail(application.trans.__('The kernel was restarted.'));
    this.fetched.clear();
    this.comm = null;
    if (this.programs.size > 0) {
      this.lost = 'restarted';
    }
    for (const [id, program] of this.programs) {
      const known = this.documents.get(id);
      this.documents.delete(id);
      if (program.pinned && known) {
        this.keep(this.key, program, known.document);
      }
    }
    this.key = '';
    this.programs.clear();
    this.tell();
  }

  private keep(session: string, program: Program, document: unknown): void {
    const name = listedAs(session, program.id);
    this.kept.set(name, { session, program });
    this.documents.set(name, { when: program.when, document });
  }

  /** What the kernel has itself is not of an earlier one. */
  private dropOwn(): void {
    for (const [id, { session }] of this.kept) {
      if (session === this.key) {
        this.kept.delete(id);
        this.documents.delete(id);
      }
    }
  }

  /** Has the documents of all pinned programs here: a kernel that is restarted gives none any more. */
  private fetchPinned(): void {
    for (const { id, when, pinned } of this.programs.values()) {
      if (pinned && this.documents.get(id)?.when !== when && this.fetched.get(id) !== when) {
        this.fetched.set(id, when);
        // One that cannot be made now is asked for again when it is opened, and says why there.
        this.open(id).catch(() => undefined);
      }
    }
  }

  private tell(): void {
    this.store();
    this.change.emit();
  }

  /** Brings the shelf up to what is pinned. */
  private store(): void {
    const { pinned, stored } = this;
    if (!stored || !this.shelf || this.isDisposed || isSame(pinned, stored)) {
      return;
    }
    this.stored = pinned;
    this.shelf.write(pinned).then(
      tooLarge => this.noteTooLarge(tooLarge),
      // Without the database all are lost with the page.
      () => this.noteTooLarge(pinned.map(({ program }) => program.id))
    );
  }

  private noteTooLarge(ids: readonly string[]): void {
    if (ids.length !== this.tooLarge.size || ids.some(id => !this.tooLarge.has(id))) {
      this.tooLarge = new Set(ids);
      this.change.emit();
    }
  }

  /** The pinned programs whose documents are here. */
  private get pinned(): readonly Pinned[] {
    const kept = [...this.kept.values()].map(one => ({ ...one, id: listedAs(one.session, one.program.id) }));
    const own = [...this.programs].map(([id, program]) => ({ session: this.key, program, id }));
    return [...kept, ...own].flatMap(({ session, program, id }) => {
      const known = this.documents.get(id);
      const isHere = program.pinned && known?.when === program.when;
      return isHere ? [{ session, program, document: known.document }] : [];
    });
  }
}

/** The name of a program among those of all kernels, which outlives its kernel. */
function listedAs(session: string, id: string): string {
  return `${session}:${id}`;
}

function isSame(some: readonly Pinned[], others: readonly Pinned[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ session, program, document }, i) => {
      const other = others[i];
      return session === other.session && program === other.program && document === other.document;
    })
  );
}
