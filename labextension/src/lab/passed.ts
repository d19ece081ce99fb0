/**
 * Removes from a cell what is left of a line that told how far a run is: an output that a kernel has emptied, and
 * cannot take back. Mostly a picture takes its place; it is left where a run is all that the cell does.
 */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { NotebookActions } from '@jupyterlab/notebook';
import { removePassed, type Output, type Outputs } from './passedOutputs.ts';

export const passed: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-jaxviz:passed',
  description: 'Removes lines on progress that have passed from the outputs of a cell.',
  autoStart: true,
  activate: () => {
    NotebookActions.executed.connect((_, { cell }) => {
      if ('outputs' in cell.model) {
        removePassed(cell.model.outputs as Outputs<Output>);
      }
    });
  }
};
