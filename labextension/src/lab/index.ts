/** What jaxviz adds to JupyterLab and Notebook, one plugin for each. The renderer of outputs is apart, in `mime.ts`. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { files } from './files.ts';
import { keys } from './keys.ts';
import { passed } from './passed.ts';
import { programs } from './programs.ts';
import { settings } from './settings.ts';

const plugins: JupyterFrontEndPlugin<void>[] = [settings, programs, files, passed, keys];

export default plugins;
