/**
 * Gives the keys back to a notebook where a person clicks in it beside the picture, as on the number of its cell.
 * JupyterLab leaves the focus in an output then: letters meant for the cell would be commands to the picture.
 */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

export const keys: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-jaxviz:keys',
  description: 'Gives the keys back to a notebook that is clicked in beside a picture.',
  autoStart: true,
  activate: () => document.addEventListener('mousedown', giveBack, { capture: true })
};

/** Before the notebook hears of the click, which looks for the focus then. */
function giveBack({ target }: MouseEvent): void {
  const focused = document.activeElement;
  const output = focused?.closest('.jv-output');
  if (output?.closest('.jp-Notebook')?.contains(target as Node) && !output.contains(target as Node)) {
    (focused as HTMLElement).blur();
  }
}
