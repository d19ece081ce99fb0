/** The side panel, the tabs that programs are opened in, and their commands. */
import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IWindowResolver, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB, StateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { button } from '../explorer/elements.ts';
import type { KernelLine, Told } from '../explorer/kernelLine.ts';
import { AllPrograms } from './allPrograms.ts';
import { BrowserStorage } from './browserStorage.ts';
import { addCommands, type Origin } from './commands.ts';
import { Comparing } from './comparing.ts';
import { goTo } from './goTo.ts';
import { icon } from './icon.ts';
import { kernelLine } from './kernelLine.ts';
import { Commands } from './names.ts';
import { application } from './preferences.ts';
import type { Program } from './program.ts';
import { afterCell } from './questions.ts';
import { Shelves } from './shelf.ts';
import { ProgramTab } from './tab.ts';

/** ms that a tab waits for its kernel after the page was loaded again, besides those of a cell that the kernel runs. */
const PATIENCE = 30_000;

type Show = (document: unknown) => void;

export const programs: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-jaxviz:programs',
  description: 'Lists the programs of the running kernels, and opens them.',
  autoStart: true,
  optional: [
    INotebookTracker,
    ILabShell,
    ICommandPalette,
    ILauncher,
    ILayoutRestorer,
    IStateDB,
    IWindowResolver,
    ITranslator
  ],
  activate
};

function activate(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  lab: ILabShell | null,
  palette: ICommandPalette | null,
  launcher: ILauncher | null,
  restorer: ILayoutRestorer | null,
  state: IStateDB | null,
  workspace: IWindowResolver | null,
  translator: ITranslator | null
): void {
  const trans = (translator ?? nullTranslator).load('jupyterlab_jaxviz');
  application.trans = trans;
  // In Notebook 7, which has no workspaces, the database of the application ends with the page.
  const shelves = new Shelves(state && workspace ? state : ownDatabase(app));
  const all = new AllPrograms(app.serviceManager, shelves);
  app.serviceManager.contents.fileChanged.connect((_, { type, oldValue, newValue }) => {
    if (type === 'rename' && oldValue?.path && newValue?.path) {
      all.rename(oldValue.path, newValue.path);
    }
  });
  notebooks?.widgetAdded.connect((_, notebook) => all.follow(notebook.sessionContext));
  notebooks?.forEach(notebook => all.follow(notebook.sessionContext));

  const comparing = new Comparing();
  const active = (): string => notebooks?.currentWidget?.context.path ?? '';
  const panel = new LaterPanel(async () => {
    const { ProgramsPanel } = await import('./panel.ts');
    const made = new ProgramsPanel({ all, comparing, commands: app.commands, trans, active });
    notebooks?.currentChanged.connect(made.update, made);
    app.contextMenu.menu.aboutToClose.connect(made.leaveMenu);
    return made;
  });
  panel.id = 'jaxviz-programs';
  panel.title.icon = icon;
  panel.title.caption = trans.__('JAX programs');
  app.shell.add(panel, 'right', { rank: 900, type: 'JAX programs' });
  restorer?.add(panel, panel.id);

  application.goToLine = (output, spot) => {
    const notebook = notebooks?.find(one => one.node.contains(output));
    goTo(app, notebooks, () => notebook?.context.path ?? active(), trans)(spot);
  };
  application.toCell = output => {
    const content = notebooks?.find(one => one.node.contains(output))?.content;
    const index = content?.widgets.findIndex(({ node }) => node.contains(output)) ?? -1;
    if (content && index >= 0) {
      content.activeCellIndex = index;
      // A letter that was still meant for the picture is no command there, as to cut the cell.
      content.mode = 'edit';
    }
  };

  const tracker = new WidgetTracker<MainAreaWidget<ProgramTab>>({ namespace: 'jaxviz-programs' });
  const origins = new Map<MainAreaWidget<ProgramTab>, Origin>();
  /** Of each tab, when the programs in it were made, once that is known. */
  const made = new Map<MainAreaWidget<ProgramTab>, string>();
  /** The programs of a tab, as far as they are there. */
  const programsOf = ({ path, listed, other }: Origin): readonly (Program | undefined)[] => {
    const programs = all.ofPath(path)?.programs;
    const ids = [programs?.idOf(listed), ...(other === undefined ? [] : [other])];
    return ids.map(id => (id === undefined ? undefined : programs?.get(id)));
  };
  const followTab = (tab: MainAreaWidget<ProgramTab>, origin: Origin): void => {
    const known = programsOf(origin);
    if (known.every(one => one !== undefined)) {
      // A program that was renamed has its name in its tab too.
      tab.title.label = known.map(({ label, call }) => label || call).join(' ↔ ');
      const when = known.map(one => one.when).join();
      if (made.has(tab) && made.get(tab) !== when) {
        tab.content.renew();
      }
      made.set(tab, when);
    }
  };

  /** Opens a document in a tab. `origin` names it after the page was loaded again. */
  const openTab = (title: string, ask: (waits: Told) => Promise<unknown>, origin?: Origin): void => {
    const from = active();
    const go = goTo(app, notebooks, () => origins.get(tab)?.path ?? from, trans);
    const wait = trans.__('The kernel makes the picture of %1 …', title);
    // A comparison is of no program that could be run.
    const line = origin && origin.other === undefined ? (show: Show) => lineOf(origin, show) : undefined;
    const content = new ProgramTab(ask, wait, go, line);
    const tab: MainAreaWidget<ProgramTab> = new MainAreaWidget({ content });
    // The explorer has a bar of its own.
    tab.toolbar.hide();
    tab.title.label = title;
    tab.title.icon = icon;
    tab.title.closable = true;
    if (origin) {
      origins.set(tab, origin);
      followTab(tab, origin);
      tab.disposed.connect(() => {
        origins.delete(tab);
        made.delete(tab);
      });
      void tracker.add(tab);
    }
    if (lab) {
      app.shell.add(tab, 'main', { mode: 'tab-after' });
      app.shell.activateById(tab.id);
    } else {
      // Notebook 7 has room for one document.
      showOver(tab, trans.__('Close'));
    }
  };

  const showTab = (listed: string): boolean => {
    const [there] =
      [...origins].find(
        ([{ content }, { listed: of, other }]) => of === listed && other === undefined && !content.failed
      ) ?? [];
    if (there) {
      app.shell.activateById(there.id);
    }
    return there !== undefined;
  };

  /**
   * The line to a program, which `listed` names also after its kernel was started again. The kernel is the one that has
   * it, wherever the picture is; `path` is where it should be, if there is none.
   */
  const lineTo = (listed: string, path: string, show: Show): KernelLine =>
    kernelLine({
      kernel: () =>
        [all.ofSession(listed.split(':')[0]), all.ofPath(path)].find(one => one?.programs.hasKernel)?.programs,
      program: listed,
      show,
      open: (name, document) => openTab(name, () => Promise.resolve(document))
    });
  const lineOf = ({ path, listed }: Origin, show: Show): KernelLine => lineTo(listed, path, show);
  application.kernelLine = (output, program, show) =>
    lineTo(program, notebooks?.find(one => one.node.contains(output))?.context.path ?? active(), show);

  addCommands({
    app,
    all,
    comparing,
    trans,
    openTab,
    showTab,
    active,
    waitFor: (origin, waits) => waitFor(all, origin, waits)
  });
  app.commands.addCommand(Commands.show, {
    label: trans.__('JAX Programs'),
    caption: trans.__('Show the JAX programs of the running kernels'),
    icon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => app.shell.activateById(panel.id)
  });

  all.moved.connect((_, { from, to }) => {
    origins.forEach((origin, tab) => origins.set(tab, origin.path === from ? { ...origin, path: to } : origin));
  });
  all.changed.connect(() => {
    const { first } = comparing;
    if (first && !all.get(first.kernel)?.programs.get(first.program)) {
      // It was deleted, or its kernel started again: another program may have its number then.
      comparing.put(null);
    }
    origins.forEach((origin, tab) => followTab(tab, origin));
  });
  if (restorer) {
    void restorer.restore(tracker, {
      command: Commands.open,
      args: tab => ({ ...origins.get(tab), title: tab.title.label }),
      name: tab => {
        const origin = origins.get(tab);
        return origin ? [origin.path, origin.program, origin.other ?? []].flat().join(':') : '';
      }
    });
  }
  palette?.addItem({ command: Commands.show, category: 'JAX' });
  palette?.addItem({ command: Commands.notebook, args: { isPalette: true }, category: 'JAX' });
  launcher?.add({ command: Commands.notebook, category: trans.__('Other'), rank: 90 });
}

function ownDatabase(app: JupyterFrontEnd): IStateDB {
  const { baseUrl } = app.serviceManager.serverSettings;
  return new StateDB({ connector: new BrowserStorage(`jaxviz ${baseUrl} `, () => localStorage) });
}

/** A program, or others of its kernel; that may come in a while, after the page was loaded again. */
function waitFor(all: AllPrograms, { path, listed }: Origin, waits: Told): Promise<void> {
  const isThere = (): boolean => {
    const programs = all.ofPath(path)?.programs;
    const isKnown = programs !== undefined && programs.isRecalled;
    return isKnown && (programs.idOf(listed) !== undefined || (programs.hasKernel && programs.size > 0));
  };
  return new Promise(resolve => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      const kernel = all.ofPath(path);
      if (isThere()) {
        stop();
      } else if (kernel && all.comesAfterCell(kernel)) {
        clearTimeout(timer);
        timer = undefined;
        waits(afterCell());
      } else if (timer === undefined) {
        waits('');
        timer = setTimeout(stop, PATIENCE);
      }
    };
    const stop = (): void => {
      clearTimeout(timer);
      all.changed.disconnect(look);
      resolve();
    };
    all.changed.connect(look);
    look();
  });
}

/** Shows a tab over the whole page, until it is closed. */
function showOver(tab: Widget, close: string): void {
  tab.addClass('jv-over');
  tab.node.append(button('jv-over-close', '×', close, () => tab.dispose()));
  tab.node.addEventListener('keydown', event => {
    // What the explorer itself lets go of with this key goes first.
    if (event.key === 'Escape' && event.target instanceof HTMLElement && event.target.closest('.jv-over-close')) {
      tab.dispose();
    }
  });
  Widget.attach(tab, document.body);
  // Keys are meant for it.
  tab.activate();
}

/** The place of the panel, which is made, and its code loaded, when it is first shown. */
class LaterPanel extends Widget {
  private asked = false;

  constructor(private readonly make: () => Promise<Widget>) {
    super();
    this.layout = new PanelLayout();
    this.addClass('jp-SidePanel');
  }

  protected override onAfterShow(): void {
    if (!this.asked) {
      this.asked = true;
      void this.make().then(made => {
        if (!this.isDisposed) {
          made.node.style.height = '100%';
          (this.layout as PanelLayout).addWidget(made);
        }
      });
    }
  }
}
