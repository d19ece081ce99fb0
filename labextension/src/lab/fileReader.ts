/**
 * Reads files that a compiler wrote, which takes Python: one kernel for all of them, from the first that is opened until
 * the last is closed. It is found by its path, so that a page that was loaded again goes on with the same.
 */
import type { KernelMessage, ServiceManager, Session } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { pythonKernel } from './pythonKernel.ts';

const MIME_TYPE = 'application/vnd.jaxviz.v1+json';
/** Where no file is: the kernel runs in the folder that the server shows. */
const PATH = '.jaxviz-reader';

export class FileReader {
  private session: Promise<Session.ISessionConnection> | null = null;
  private ending: Promise<void> = Promise.resolve();
  private open = 0;

  constructor(
    private readonly services: ServiceManager.IManager,
    private readonly trans: TranslationBundle
  ) {}

  /** A file is open from now on, until what is given back is called. */
  hold(): () => void {
    this.open++;
    return () => {
      this.open--;
      if (this.open === 0) {
        this.ending = this.end();
      }
    };
  }

  /** The document of a file. */
  async read(path: string): Promise<unknown> {
    const session = await this.started();
    const { kernel } = session;
    const { trans } = this;
    if (!kernel) {
      throw new Error(trans.__('The kernel that was to read this file did not start.'));
    }
    const file = this.services.contents.localPath(path);
    const future = kernel.requestExecute({ code: program(file), store_history: false, allow_stdin: false });
    let document: unknown;
    let fault = '';
    future.onIOPub = (message: KernelMessage.IIOPubMessage) => {
      const content = message.content as Record<string, unknown>;
      if (message.header.msg_type === 'display_data') {
        document = (content.data as Record<string, unknown>)[MIME_TYPE] ?? document;
      } else if (message.header.msg_type === 'error') {
        fault = faultText(String(content.ename), String(content.evalue), kernel.name, trans);
      }
    };
    await future.done;
    if (document === undefined) {
      throw new Error(fault || trans.__('The kernel gave no document for this file.'));
    }
    return document;
  }

  private started(): Promise<Session.ISessionConnection> {
    return (this.session = this.session ? this.still(this.session) : this.start());
  }

  /** The session where its kernel still runs; else another. Somebody may have shut it down. */
  private async still(session: Promise<Session.ISessionConnection>): Promise<Session.ISessionConnection> {
    const before = await session.catch(() => null);
    if (before) {
      // Tells connections of what is gone.
      await this.services.sessions.refreshRunning();
    }
    return !before || before.isDisposed || before.kernel?.status === 'dead' ? this.start() : before;
  }

  private async start(): Promise<Session.ISessionConnection> {
    const { services, trans } = this;
    const name = await pythonKernel(services.kernelspecs);
    if (!name) {
      throw new Error(trans.__('To read this file takes a Python kernel with jaxviz, and there is none.'));
    }
    // Else the server would give the session that is about to go.
    await this.ending;
    return services.sessions.startNew({ path: PATH, type: 'file', name: trans.__('JAX files'), kernel: { name } });
  }

  private async end(): Promise<void> {
    const { session: last } = this;
    this.session = null;
    const session = await last?.catch(() => null);
    await session?.shutdown().catch(() => undefined);
    session?.dispose();
  }
}

function program(path: string): string {
  return [
    'import jaxviz',
    'from IPython.display import display',
    `display({${JSON.stringify(MIME_TYPE)}: jaxviz.open(${pythonText(path)}).with_others().to_json()}, raw=True)`
  ].join('\n');
}

/** A text as Python reads it: JSON's escapes are Python's too. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  );
}

function faultText(name: string, value: string, kernel: string, trans: TranslationBundle): string {
  return name === 'ModuleNotFoundError'
    ? trans.__('The kernel %1 has no jaxviz: pip install jupyterlab-jaxviz there. (%2)', kernel, value)
    : value || name;
}
