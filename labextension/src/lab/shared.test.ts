/** The host is asked for the versions of its packages that jaxviz runs on, not for those that it was built with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dependencies, jupyterlab } from '../../../package.json' with { type: 'json' };

test('of each package of JupyterLab, any version is asked for that is supported', () => {
  const asked = Object.entries(jupyterlab.sharedPackages).map(([name, { requiredVersion }]) => [name, requiredVersion]);
  const supported = Object.entries(dependencies).filter(([name]) => name.startsWith('@jupyterlab/'));
  assert.deepEqual(asked, supported);
});
