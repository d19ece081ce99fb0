/** From a line of the source pane to the cell or file that it stands in. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { SourceSpot } from '../explorer/source/source.ts';
import { cellLine } from './cellLine.ts';
import { pathOfServer } from './serverPath.ts';

/** What shows a line of a program of the notebook at `path`, which may be renamed meanwhile. */
export function goTo(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  path: () => string,
  trans: TranslationBundle
): (spot: SourceSpot) => void {
  return spot => void go(app, notebooks, path(), spot, trans);
}

async function go(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  path: string,
  spot: SourceSpot,
  trans: TranslationBundle
): Promise<void> {
  const isOfCell = !Number.isNaN(cellNumber(spot));
  const notebook =
    notebooks?.find(one => one.context.path === path) ?? (isOfCell ? await openNotebook(app, path) : undefined);
  if ((notebook && goToCell(app, notebook, spot, trans)) || (!isOfCell && (await goToFile(app, spot)))) {
    return;
  }
  const words =
    isOfCell && notebook
      ? trans.__('%1 is no longer in this notebook.', spot.label)
      : trans.__('%1 is not open here, and lies in no folder that is shown.', spot.label);
  Notification.info(words, { autoClose: 5000 });
}

/** A notebook that was closed while its kernel runs on; none for a console, which has a path too. */
async function openNotebook(app: JupyterFrontEnd, path: string): Promise<NotebookPanel | undefined> {
  if (!path.endsWith('.ipynb')) {
    return undefined;
  }
  const opened = (await app.commands.execute('docmanager:open', { path })) as NotebookPanel | undefined;
  await opened?.revealed;
  return opened;
}

/** The number of the cell that a line stands in, as it was run; none for a file. */
function cellNumber({ label }: SourceSpot): number {
  return Number(/^In \[(\d+)\]/.exec(label)?.[1] ?? NaN);
}

/** Shows the line in a cell of the notebook, and says so where the cell no longer has it; false where no cell had it. */
function goToCell(app: JupyterFrontEnd, notebook: NotebookPanel, spot: SourceSpot, trans: TranslationBundle): boolean {
  const { content } = notebook;
  const count = cellNumber(spot);
  const cells = content.widgets.map(({ model }) => ({ source: model.sharedModel.source, count: countOf(model) }));
  const found = cellLine(cells, count, spot.line, spot.text);
  if (!found) {
    return false;
  }
  const { line } = found;
  const cell = content.widgets[found.cell];
  app.shell.activateById(notebook.id);
  content.activeCellIndex = found.cell;
  content.deselectAll();
  void content.scrollToCell(cell, 'center').then(() => {
    content.mode = 'edit';
    if (line !== null) {
      cell.editor?.setCursorPosition({ line: line - 1, column: 0 });
    }
    cell.editor?.focus();
  });
  if (line === null) {
    Notification.info(trans.__('%1 was changed since: it no longer has this line.', spot.label), { autoClose: 5000 });
  }
  return true;
}

function countOf(model: object): number {
  return Number((model as { executionCount?: unknown }).executionCount ?? NaN);
}

/** What of the server's document has an editor with lines. */
interface HasEditor {
  /** Resolved once the text of the file is there. */
  readonly revealed: Promise<void>;
  readonly content: {
    readonly editor?: {
      setCursorPosition(position: { line: number; column: number }): void;
      revealPosition(position: { line: number; column: number }): void;
      focus(): void;
    };
  };
}

async function goToFile(app: JupyterFrontEnd, { path, line }: SourceSpot): Promise<boolean> {
  const inside = pathOfServer(path, PageConfig.getOption('serverRoot'));
  if (inside === null) {
    return false;
  }
  try {
    await app.serviceManager.contents.get(inside, { content: false });
  } catch {
    return false;
  }
  const opened = (await app.commands.execute('docmanager:open', { path: inside })) as HasEditor | undefined;
  await opened?.revealed;
  const at = { line: line - 1, column: 0 };
  opened?.content.editor?.setCursorPosition(at);
  opened?.content.editor?.revealPosition(at);
  opened?.content.editor?.focus();
  return opened !== undefined;
}
