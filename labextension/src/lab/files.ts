/** Files that a compiler wrote, opened on double click. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ABCWidgetFactory, DocumentWidget, type DocumentRegistry } from '@jupyterlab/docregistry';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { FileReader } from './fileReader.ts';
import { icon } from './icon.ts';
import { ProgramTab } from './tab.ts';

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
    const factory = new CompilerFileFactory(options, new FileReader(app.serviceManager, trans), trans);
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
    private readonly reader: FileReader,
    private readonly trans: TranslationBundle
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<ProgramTab> {
    const name = context.path.split('/').pop() ?? context.path;
    const wait = this.trans.__('A kernel reads %1 …', name);
    const content = new ProgramTab(
      () => this.reader.read(context.path),
      wait,
      () => undefined
    );
    const widget = new DocumentWidget({ content, context });
    widget.disposed.connect(this.reader.hold());
    // The explorer has a bar of its own.
    widget.toolbar.hide();
    return widget;
  }
}
