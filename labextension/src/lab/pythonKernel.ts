/** The name of a Python kernel of the server: the default one where that is Python. */
import type { KernelSpec } from '@jupyterlab/services';

export async function pythonKernel(kernelspecs: KernelSpec.IManager): Promise<string | undefined> {
  await kernelspecs.ready;
  const { specs } = kernelspecs;
  const all = specs?.kernelspecs ?? {};
  const python = specs && all[specs.default]?.language === 'python' ? specs.default : undefined;
  return python ?? Object.values(all).find(spec => spec?.language === 'python')?.name;
}
