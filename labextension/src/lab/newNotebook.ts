/** A notebook with a function to begin with. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { pythonKernel } from './pythonKernel.ts';

const CELLS = [
  '%load_ext jaxviz\nimport jax\nimport jax.numpy as jnp',
  'def step(x):\n    return jnp.tanh(x @ x.T).sum()\n\n%jaxviz jax.grad(step)(jnp.ones((4, 8)))'
];

export async function newNotebook(app: JupyterFrontEnd, folder: string): Promise<void> {
  const { contents } = app.serviceManager;
  const made = await contents.newUntitled({ path: folder, type: 'notebook' });
  const cell = (source: string): object => ({
    cell_type: 'code',
    metadata: {},
    source,
    outputs: [],
    execution_count: null
  });
  await contents.save(made.path, {
    type: 'notebook',
    format: 'json',
    content: { cells: CELLS.map(cell), metadata: {}, nbformat: 4, nbformat_minor: 4 }
  });
  // A person who has not asked for a kernel is not asked for its name.
  const name = await pythonKernel(app.serviceManager.kernelspecs);
  await app.commands.execute('docmanager:open', { path: made.path, ...(name ? { kernel: { name } } : {}) });
}
