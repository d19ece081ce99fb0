/** What can be done with a program of a kernel: by the panel, its context menu, the palette and keys. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, InputDialog, Notification, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { AllPrograms, KernelEntry } from './allPrograms.ts';
import type { Told } from '../explorer/kernelLine.ts';
import type { Comparing } from './comparing.ts';
import { icon } from './icon.ts';
import type { Program } from './program.ts';
import { Commands } from './names.ts';
import { newNotebook } from './newNotebook.ts';

/** Where the program of a tab is, also after the page was loaded again. */
export interface Origin {
  readonly path: string;
  readonly program: string;
  /** Its name among the programs of all kernels. */
  readonly listed: string;
  /** The program of the same kernel that it is compared with. */
  readonly other?: string;
}

export interface CommandParts {
  readonly app: JupyterFrontEnd;
  readonly all: AllPrograms;
  readonly comparing: Comparing;
  readonly trans: TranslationBundle;
  /** `ask` asks for the document, and may say why it does not come yet. */
  openTab(title: string, ask: (waits: Told) => Promise<unknown>, origin?: Origin): void;
  /** Shows the tab that a program is in already, if there is one. */
  showTab(listed: string): boolean;
  /** Path of the notebook that the person is in. */
  active(): string;
  /** Resolves when a program is there, or its kernel has others, or after a while; `waits` hears what it waits for. */
  waitFor(origin: Origin, waits: Told): Promise<void>;
}

/** A program and the kernel that has it. */
interface Chosen {
  readonly kernel: KernelEntry;
  readonly program: Program;
}

const ARGS = {
  args: {
    type: 'object',
    properties: {
      kernel: { type: 'string', description: 'Id of the kernel' },
      path: { type: 'string', description: 'Path of the notebook, in place of the id of its kernel' },
      program: { type: 'string', description: 'Id of the program' },
      listed: { type: 'string', description: 'Name of the program among those of all kernels' },
      other: { type: 'string', description: 'Id of the program that it is compared with' },
      title: { type: 'string', description: 'Title of its tab until it is there' }
    }
  }
} as const;

export function addCommands(parts: CommandParts): void {
  const { app, all, comparing, trans, openTab } = parts;
  const { commands } = app;

  const chosen = (args: ReadonlyPartialJSONObject): Chosen | null => {
    let kernel = args.kernel ? all.get(String(args.kernel)) : args.path ? all.ofPath(String(args.path)) : undefined;
    let id = args.program === undefined ? '' : String(args.program);
    if (!kernel) {
      const row = app.contextMenuHitTest(node => node.classList.contains('jv-entry'));
      kernel = all.get(row?.dataset.kernel ?? '');
      id = row?.dataset.program ?? '';
    }
    const program = kernel?.programs.get(id);
    return kernel && program ? { kernel, program } : null;
  };

  const openNow = ({ programs }: KernelEntry, { program, other }: Origin, waits: Told): Promise<unknown> =>
    other === undefined
      ? programs.open(program, { what: trans.__('open %1', programs.nameOf(program)), waits })
      : programs.compare(program, other, {
          what: trans.__('compare %1 with %2', programs.nameOf(program), programs.nameOf(other)),
          waits
        });

  const openLater = async (origin: Origin, waits: Told): Promise<unknown> => {
    const { path, listed } = origin;
    await parts.waitFor(origin, waits);
    const kernel = all.ofPath(path);
    // A kernel that was started again counts its programs from the beginning.
    const program = kernel?.programs.idOf(listed);
    if (!kernel || program === undefined) {
      throw new Error(
        trans.__('This program is no longer there: its kernel was restarted or shut down. Run %1 again.', path)
      );
    }
    return openNow(kernel, { ...origin, program }, waits);
  };

  /** Adds a command about one program; a failure is told in a dialog. */
  const add = (
    id: string,
    label: string | ((of: Chosen | null) => string),
    run: (of: Chosen) => Promise<void> | void,
    isEnabled: (of: Chosen) => boolean = () => true
  ): void => {
    commands.addCommand(id, {
      label: args => (typeof label === 'string' ? label : label(chosen(args))),
      describedBy: ARGS,
      isEnabled: args => {
        const of = chosen(args);
        return of !== null && isEnabled(of);
      },
      execute: async args => {
        const of = chosen(args);
        if (of) {
          try {
            await run(of);
          } catch (error) {
            await showErrorMessage(trans.__('JAX programs'), error instanceof Error ? error : String(error));
          }
        }
      }
    });
  };

  commands.addCommand(Commands.open, {
    label: trans.__('Open'),
    icon,
    describedBy: ARGS,
    execute: args => {
      // A tab that comes back may be of another program than the kernel has in that place now.
      const of = args.listed === undefined ? chosen(args) : null;
      if (of) {
        const { kernel, program } = of;
        const listed = kernel.programs.listed(program.id);
        if (!parts.showTab(listed)) {
          const origin = { path: kernel.path, program: program.id, listed };
          openTab(kernel.programs.nameOf(program.id), waits => openNow(kernel, origin, waits), origin);
        }
      } else if (args.path !== undefined && args.program !== undefined) {
        // The page was loaded again, and the kernel may not be here yet.
        const origin = {
          path: String(args.path),
          program: String(args.program),
          listed: String(args.listed),
          ...(args.other === undefined ? {} : { other: String(args.other) })
        };
        openTab(String(args.title ?? origin.program), waits => openLater(origin, waits), origin);
      }
    }
  });
  add(Commands.rename, trans.__('Rename…'), async ({ kernel, program }) => {
    const { value } = await InputDialog.getText({
      title: trans.__('Name of this program'),
      label: program.call,
      text: program.label,
      okLabel: trans.__('Rename')
    });
    if (value !== null) {
      await kernel.programs.rename(program.id, value);
    }
  });
  add(
    Commands.pin,
    of => (of?.program.pinned ? trans.__('Unpin') : trans.__('Pin (kept over a restart, never dropped)')),
    ({ kernel, program }) => kernel.programs.pin(program.id, !program.pinned),
    isInKernel
  );
  add(Commands.save, trans.__('Save As…'), of => save(parts, of));
  add(Commands.remove, trans.__('Delete'), ({ kernel, program }) => kernel.programs.remove(program.id));
  add(
    Commands.select,
    trans.__('Select for Comparison'),
    ({ kernel, program }) => comparing.put({ kernel: kernel.id, program: program.id }),
    // To compare takes the kernel.
    isComparable
  );
  add(
    Commands.compare,
    () => {
      const { first } = comparing;
      const other = first && all.get(first.kernel)?.programs.get(first.program);
      return other ? trans.__('Compare with %1', other.label || other.call) : trans.__('Compare with Selected');
    },
    ({ kernel, program }) => {
      const { first } = comparing;
      if (first) {
        const title = `${kernel.programs.nameOf(first.program)} ↔ ${kernel.programs.nameOf(program.id)}`;
        const listed = kernel.programs.listed(first.program);
        const origin = { path: kernel.path, program: first.program, listed, other: program.id };
        openTab(title, waits => openNow(kernel, origin, waits), origin);
        comparing.put(null);
      }
    },
    of => isComparable(of) && comparing.goesWith(of.kernel.id, of.program.id)
  );
  commands.addCommand(Commands.clear, {
    label: trans.__('Clear the List of JAX Programs'),
    describedBy: ARGS,
    execute: args => all.get(String(args.kernel))?.programs.clear()
  });
  commands.addCommand(Commands.notebook, {
    label: args => (args.isPalette ? trans.__('New JAX Notebook') : trans.__('JAX exploration')),
    caption: trans.__('A notebook with a first function to explore'),
    icon,
    describedBy: { args: { type: 'object', properties: { cwd: { type: 'string' } } } },
    execute: args => newNotebook(app, args.cwd === undefined ? '' : String(args.cwd))
  });
}

/** Whether the kernel has it, and not only this page. */
function isInKernel({ kernel, program }: Chosen): boolean {
  return !kernel.programs.isKept(program.id);
}

/** Whether there is a kernel to compare it, and something to compare. */
function isComparable(of: Chosen): boolean {
  return isInKernel(of) && !of.program.failed;
}

/** Writes a document beside the notebook, under a name that the person chooses. */
async function save({ app, trans }: CommandParts, { kernel, program }: Chosen): Promise<void> {
  const folder = kernel.path.includes('/') ? kernel.path.slice(0, kernel.path.lastIndexOf('/') + 1) : '';
  const name = (program.label || program.function).replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'program';
  const { value } = await InputDialog.getText({
    title: trans.__('Save %1', program.label || program.call),
    label: trans.__('File'),
    text: `${folder}${name}.jaxviz`,
    okLabel: trans.__('Save')
  });
  if (!value) {
    return;
  }
  const path = value.endsWith('.jaxviz') ? value : `${value}.jaxviz`;
  const { contents } = app.serviceManager;
  // To ask for a file that is not there would be logged as an error.
  const around = await contents.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  if ((around.content as { path: string }[]).some(one => one.path === path)) {
    const { button } = await showDialog({
      title: trans.__('Replace this file?'),
      body: path,
      buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: trans.__('Replace') })]
    });
    if (!button.accept) {
      return;
    }
  }
  const document = await kernel.programs.open(program.id, { what: trans.__('save %1', path) });
  const content = `${JSON.stringify(document)}\n`;
  await contents.save(path, { type: 'file', format: 'text', content });
  Notification.success(trans.__('Saved as %1', path), { autoClose: 4000 });
}
