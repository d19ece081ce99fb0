/** From a line of the source pane to the cell or file that it stands in. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { SourceSpot } from '../explorer/source.ts';
import { pathOfServer } from './serverPath.ts';

/** What shows a line of a program of the notebook at `path`, which may be renamed meanwhile. */
export function goTo(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  path: () => string,
  trans: TranslationBundle
): (spot: SourceSpot) => void {
  return spot => {
    const notebook = notebooks?.find(one => one.context.path === path());
    if (notebook && goToCell(app, notebook, spot)) {
      return;
    }
    void goToFile(app, spot).then(found => {
      if (!found) {
        Notification.info(trans.__('%1 is not open here, and lies in no folder that is shown.', spot.label), {
          autoClose: 5000
        });
      }
    });
  };
}

/** The cell that was run under a number, if it still holds the line; else any other that does. */
function goToCell(app: JupyterFrontEnd, notebook: NotebookPanel, { label, line, text }: SourceSpot): boolean {
  const count = Number(/\[(\d+)\]/.exec(label)?.[1] ?? NaN);
  const holds = (source: string): boolean => source.split('\n')[line - 1]?.trim() === text.trim();
  const { content } = notebook;
  const cells = content.widgets.map((cell, index) => ({ cell, index }));
  const found =
    cells.find(({ cell }) => cell.model.sharedModel.source && countOf(cell.model) === count) ??
    cells.find(({ cell }) => holds(cell.model.sharedModel.source));
  if (!found || !(holds(found.cell.model.sharedModel.source) || countOf(found.cell.model) === count)) {
    return false;
  }
  app.shell.activateById(notebook.id);
  content.activeCellIndex = found.index;
  content.deselectAll();
  void content.scrollToCell(found.cell, 'center').then(() => {
    content.mode = 'edit';
    found.cell.editor?.setCursorPosition({ line: line - 1, column: 0 });
    found.cell.editor?.focus();
  });
  return true;
}

function countOf(model: object): number {
  return Number((model as { executionCount?: unknown }).executionCount ?? NaN);
}

/** What of the server's document has an editor with lines. */
interface HasEditor {
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
  const at = { line: line - 1, column: 0 };
  opened?.content.editor?.setCursorPosition(at);
  opened?.content.editor?.revealPosition(at);
  opened?.content.editor?.focus();
  return opened !== undefined;
}
