/**
 * What is asked of a kernel over its comm, from the question to the answer. A kernel that runs a cell comes to a question
 * only after it: until then, the question is waiting, and that is said.
 */
import { KernelMessage, type Kernel } from '@jupyterlab/services';
import { Stopped, type Asked, type Told } from '../explorer/kernelLine.ts';
import { application } from './preferences.ts';

/** ms in which a kernel that is free has begun: so long, nobody is told that he waits. */
export const AT_ONCE = 250;

/** Why nothing comes. */
export function afterCell(): string {
  return application.trans.__('The kernel is busy with a cell: this comes after it.');
}

/** What goes over the comm. */
export type Message = Readonly<Record<string, unknown>>;

/** What the person hears of a question. */
export interface Purpose {
  /** What it is asked for, in words; without them nobody waits for it. */
  readonly what?: string;
  /** Hears how far it is. */
  readonly told?: Told;
  /** Hears why the kernel has not begun; no words once it has. */
  readonly waits?: Told;
}

interface Question extends Purpose {
  /** Id of the message that it went with. */
  readonly message: string;
  resolve(answer: Message): void;
  reject(error: Error): void;
  readonly timer: ReturnType<typeof setTimeout>;
  /** True while the kernel has not begun though it had the time. */
  late: boolean;
  /** True once the kernel has told how far it is: from then on an interrupt stops this and nothing else. */
  underWay: boolean;
}

export class Questions {
  private readonly open = new Map<string, Question>();
  /** What was stopped before the kernel came to it. */
  private readonly unwanted = new Set<string>();
  private count = 0;

  /** `changed` hears when something begins to wait, or no longer waits. */
  constructor(
    private readonly kernel: Kernel.IKernelConnection,
    private readonly changed: () => void
  ) {}

  /** What the person has asked for and the kernel has not come to, in words. */
  get late(): readonly string[] {
    const waiting = [...this.open.values()].filter(({ late, what }) => late && what !== undefined);
    return [...new Set(waiting.map(({ what }) => String(what)))];
  }

  ask(comm: string, question: Message, purpose: Purpose = {}): Asked<Message> {
    const { kernel } = this;
    const request = `${kernel.clientId}-${++this.count}`;
    const message = KernelMessage.createMessage({
      msgType: 'comm_msg',
      channel: 'shell',
      session: kernel.clientId,
      username: kernel.username,
      content: { comm_id: comm, data: { ...question, request } as never }
    });
    const answer = new Promise<Message>((resolve, reject) => {
      const timer = setTimeout(() => this.noteLate(request), AT_ONCE);
      const own = { message: message.header.msg_id, timer, late: false, underWay: false };
      this.open.set(request, { ...purpose, ...own, resolve, reject });
      kernel.sendShellMessage(message, false, true);
    });
    return { answer, stop: () => this.stop(request) };
  }

  /** Notices that the kernel begins with a question: it says so of every message. */
  hear(message: KernelMessage.IIOPubMessage): void {
    if (!KernelMessage.isStatusMsg(message) || message.content.execution_state !== 'busy') {
      return;
    }
    const id = (message.parent_header as { msg_id?: string } | undefined)?.msg_id;
    for (const question of this.open.values()) {
      if (question.message === id) {
        this.begin(question);
      }
    }
  }

  /** Takes what the kernel tells of a question, if it is of one. */
  take(data: Message): void {
    const request = String(data.request);
    const question = this.open.get(request);
    if (data.type === 'progress') {
      if (question) {
        question.underWay = true;
        question.told?.(String(data.words));
      } else if (this.unwanted.delete(request)) {
        void this.kernel.interrupt();
      }
    } else if (question) {
      this.close(request, question);
      if (data.type === 'error') {
        question.reject(data.stopped === true ? new Stopped() : new Error(String(data.error)));
      } else {
        question.resolve(data);
      }
    }
  }

  /** Nothing is answered any more. */
  fail(reason: string): void {
    this.unwanted.clear();
    for (const [request, question] of this.open) {
      this.close(request, question);
      question.reject(new Error(reason));
    }
  }

  private stop(request: string): void {
    const question = this.open.get(request);
    if (question?.underWay) {
      void this.kernel.interrupt();
    } else if (question) {
      // Whatever the kernel does now is not to be interrupted.
      this.unwanted.add(request);
      this.close(request, question);
      question.reject(new Stopped());
    }
  }

  private noteLate(request: string): void {
    const question = this.open.get(request);
    if (question) {
      question.late = true;
      question.waits?.(afterCell());
      this.changed();
    }
  }

  private begin(question: Question): void {
    clearTimeout(question.timer);
    if (question.late) {
      question.late = false;
      question.waits?.('');
      this.changed();
    }
  }

  private close(request: string, question: Question): void {
    this.open.delete(request);
    this.begin(question);
  }
}
