/**
 * Bundles what is used outside of JupyterLab: the drawing code as one classic script for the JavaScript engine inside
 * Python, and the explorer for pages and widgets, whose worker goes with it as text.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { rspack } from '@rspack/core';
import shared from '../rspack.config.js';

const folder = resolve('jaxviz/static');

/** A style sheet with those that it imports in their places. */
function style(name) {
  const text = readFileSync(`labextension/style/${name}`, 'utf8');
  return text.replace(/^@import (?:url\()?['"]\.\/([^'"]+)['"]\)?;$/gm, (_, other) => style(other));
}

/** One entry as one script. */
function bundle(entry, name, options = {}) {
  return {
    ...shared,
    mode: 'production',
    target: ['web', 'es2020'],
    entry: `./labextension/src/${entry}.ts`,
    output: { path: folder, filename: `${name}.js`, ...options.output },
    // These make a worker of a text: a file beside them is not emitted.
    module: { ...shared.module, parser: { javascript: { worker: false, url: false } } },
    // It would be the place of the sources on the machine that bundles them.
    plugins: [new rspack.DefinePlugin({ 'import.meta.url': JSON.stringify('about:blank') })],
    experiments: options.experiments ?? {},
    performance: { hints: false }
  };
}

rspack(
  [
    bundle('page/headless', 'headless'),
    bundle('page/page', 'page'),
    bundle('layout/worker', 'worker'),
    bundle('page/widget', 'widget', {
      output: { module: true, library: { type: 'modern-module' } },
      experiments: { outputModule: true }
    })
  ],
  (error, stats) => {
    if (error || stats.hasErrors()) {
      throw error ?? new Error(stats.toString('errors-only'));
    }
    writeFileSync(resolve(folder, 'page.css'), style('index.css'));
  }
);
