/** Files that a compiler wrote, opened on double click; any file or folder, from its menu in the file browser. */
import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ABCWidgetFactory, DocumentWidget, type DocumentRegistry } from '@jupyterlab/docregistry';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { DUMPED } from './dumped.ts';
import { FileReader } from './fileReader.ts';
import { icon } from './icon.ts';
import { Commands } from './names.ts';
import { ProgramTab } from './tab.ts';

const FACTORY = 'JAX program';

export const files: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-jaxviz:files',
  description: 'Opens HLO, MLIR and exported JAX functions.',
  autoStart: true,
  optional: [ILayoutRestorer, ITranslator, IFileBrowserFactory, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    browsers: IFileBrowserFactory | null,
    lab: ILabShell | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyterlab_jaxviz');
    const types = typesIn(trans);
    for (const type of types) {
      // The text is not needed here; of base64, each model takes any file.
      app.docRegistry.addFileType({ ...type, fileFormat: 'base64', contentType: 'file', icon });
    }
    const names = types.map(({ name }) => name);
    const label = trans.__('JAX program');
    const reader = new FileReader(app.serviceManager, trans);
    const options = { name: FACTORY, label, modelName: 'base64', fileTypes: names, defaultFor: names, readOnly: true };
    const factory = new CompilerFileFactory(options, reader, trans);
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
    // In Notebook 7 there is no room for what is no document.
    if (lab) {
      addOpening(app, reader, trans, browsers, restorer);
    }
  }
};

/** The command that shows the programs in a file or folder whatever its name is: of what is selected, or at `path`. */
function addOpening(
  app: JupyterFrontEnd,
  reader: FileReader,
  trans: TranslationBundle,
  browsers: IFileBrowserFactory | null,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<MainAreaWidget<ProgramTab>>({ namespace: 'jaxviz-paths' });
  const paths = new Map<MainAreaWidget<ProgramTab>, string>();
  const selected = (): string[] => [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])].map(one => one.path);
  app.commands.addCommand(Commands.openPath, {
    label: trans.__('Show JAX Programs'),
    caption: trans.__('Show the JAX programs in a file, an archive or a folder, such as one of dumps or a profile'),
    icon,
    describedBy: {
      args: {
        type: 'object',
        properties: { path: { type: 'string', description: 'Path of a file or folder, as the server names it' } }
      }
    },
    execute: args => {
      for (const path of args.path === undefined ? selected() : [String(args.path)]) {
        const name = path.split('/').pop() ?? path;
        const content = new ProgramTab(
          () => reader.read(path),
          trans.__('A kernel reads %1 …', name),
          () => undefined
        );
        const tab: MainAreaWidget<ProgramTab> = new MainAreaWidget({ content });
        tab.toolbar.hide();
        Object.assign(tab.title, { label: name, caption: path, icon, closable: true });
        paths.set(tab, path);
        const letGo = reader.hold();
        tab.disposed.connect(() => {
          paths.delete(tab);
          letGo();
        });
        void tracker.add(tab);
        app.shell.add(tab, 'main', { mode: 'tab-after' });
        app.shell.activateById(tab.id);
      }
    }
  });
  if (restorer) {
    void restorer.restore(tracker, {
      command: Commands.openPath,
      args: tab => ({ path: paths.get(tab) ?? '' }),
      name: tab => paths.get(tab) ?? ''
    });
  }
}

/** The kinds of files, as they are called in a language. */
function typesIn(
  trans: TranslationBundle
): { name: string; displayName: string; extensions: string[]; pattern?: string }[] {
  return [
    { name: 'jaxviz-hlo', displayName: trans.__('XLA HLO'), extensions: ['.hlo', '.hlo.txt'], pattern: DUMPED },
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
