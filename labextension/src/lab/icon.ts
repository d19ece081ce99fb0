/** The sign of jaxviz as an icon of JupyterLab. */
import { LabIcon } from '@jupyterlab/ui-components';
import { sign } from './sign.ts';

export const icon = new LabIcon(sign);
