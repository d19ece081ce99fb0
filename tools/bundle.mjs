/** Bundles the drawing code as one classic script, for the JavaScript engine inside Python. */
import { resolve } from 'node:path';
import { rspack } from '@rspack/core';
import shared from '../rspack.config.js';

rspack(
  {
    ...shared,
    mode: 'production',
    target: ['web', 'es2020'],
    entry: './labextension/src/page/headless.ts',
    output: { path: resolve('jaxviz/static'), filename: 'headless.js' },
    performance: { hints: false }
  },
  (error, stats) => {
    if (error || stats.hasErrors()) {
      throw error ?? new Error(stats.toString('errors-only'));
    }
  }
);
