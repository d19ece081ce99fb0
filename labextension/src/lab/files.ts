/**
 * Files that a compiler wrote, opened on double click. To read them takes Python: a kernel is started beside the file
 * for as long as that takes.
 */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ABCWidgetFactory, DocumentWidget, type DocumentRegistry } from '@jupyterlab/docregistry';
import type { KernelMessage, ServiceManager } from '@jupyterlab/services';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { icon } from './icon.ts';
import { pythonKernel } from './pythonKernel.ts';
import { ProgramTab } from './tab.ts';

const MIME_TYPE = 'application/vnd.jaxviz.v1+json';
const FACTORY = 'JAX program';

export const files: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-jaxviz:files',
  description: 'Opens HLO, MLIR and exported JAX functions.',
  autoStart: true,
  optional: [ILayoutRestorer, ITranslator],
  activate: (app: JupyterFrontEnd, restorer: ILayoutRestorer | null, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load('jupyterlab_jaxviz');
    const types = typesIn(trans);
    for (const type of types) {
      // The text is not needed here; of base64, each model takes any file.
      app.docRegistry.addFileType({ ...type, fileFormat: 'base64', contentType: 'file', icon });
    }
    const names = types.map(({ name }) => name);
    const label = trans.__('JAX program');
    const options = { name: FACTORY, label, modelName: 'base64', fileTypes: names, defaultFor: names, readOnly: true };
    const factory = new CompilerFileFactory(options, app.serviceManager, trans);
    const tracker = new WidgetTracker<DocumentWidget<ProgramTab>>({ namespace: 'jaxviz-files' });
    factory.widgetCreated.connect((_, widget) => {
      widget.title.icon = icon;
      void tracker.add(widget);
    });
    app.docRegistry.addWidgetFactory(factory);
    if (restorer) {
      void restorer.restore(tracker, {
        command: 'docmanager:open',
        args: widget => ({ path: widget.context.path, factory: FACTORY }),
        name: widget => widget.context.path
      });
    }
  }
};

/** The kinds of files, as they are called in a language. */
function typesIn(trans: TranslationBundle): { name: string; displayName: string; extensions: string[] }[] {
  return [
    { name: 'jaxviz-hlo', displayName: trans.__('XLA HLO'), extensions: ['.hlo', '.hlo.txt'] },
    {
      name: 'jaxviz-hlo-proto',
      displayName: trans.__('XLA HLO (proto)'),
      extensions: ['.hlo.pb', '.hlo_snapshot.pb', '.xplane.pb']
    },
    { name: 'jaxviz-mlir', displayName: trans.__('MLIR'), extensions: ['.mlir', '.mlirbc'] },
    { name: 'jaxviz-export', displayName: trans.__('JAX export'), extensions: ['.jaxexport'] }
  ];
}

class CompilerFileFactory extends ABCWidgetFactory<DocumentWidget<ProgramTab>> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions,
    private readonly services: ServiceManager.IManager,
    private readonly trans: TranslationBundle
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<ProgramTab> {
    const name = context.path.split('/').pop() ?? context.path;
    const wait = this.trans.__('A kernel is started to read %1 …', name);
    const content = new ProgramTab(
      () => read(this.services, context.path, this.trans),
      wait,
      () => undefined
    );
    const widget = new DocumentWidget({ content, context });
    // The explorer has a bar of its own.
    widget.toolbar.hide();
    return widget;
  }
}

/** The document of a file. The kernel runs in the folder of the file. */
async function read(services: ServiceManager.IManager, path: string, trans: TranslationBundle): Promise<unknown> {
  const kernelName = await pythonKernel(services.kernelspecs);
  if (!kernelName) {
    throw new Error(trans.__('To read this file takes a Python kernel with jaxviz, and there is none.'));
  }
  const name = path.split('/').pop() ?? path;
  const session = await services.sessions.startNew({
    path: `${path}.jaxviz-reader`,
    type: 'file',
    name,
    kernel: { name: kernelName }
  });
  try {
    const kernel = session.kernel;
    if (!kernel) {
      throw new Error(trans.__('The kernel that was to read this file did not start.'));
    }
    const future = kernel.requestExecute({ code: program(name), store_history: false, allow_stdin: false });
    let document: unknown;
    let fault = '';
    future.onIOPub = (message: KernelMessage.IIOPubMessage) => {
      const content = message.content as Record<string, unknown>;
      if (message.header.msg_type === 'display_data') {
        document = (content.data as Record<string, unknown>)[MIME_TYPE] ?? document;
      } else if (message.header.msg_type === 'error') {
        fault = faultText(String(content.ename), String(content.evalue), kernelName, trans);
      }
    };
    await future.done;
    if (document === undefined) {
      throw new Error(fault || trans.__('The kernel gave no document for this file.'));
    }
    return document;
  } finally {
    await session.shutdown().catch(() => undefined);
    session.dispose();
  }
}

function program(name: string): string {
  return [
    'import jaxviz',
    'from IPython.display import display',
    `display({${JSON.stringify(MIME_TYPE)}: jaxviz.open(${pythonText(name)}).document().to_json()}, raw=True)`
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
