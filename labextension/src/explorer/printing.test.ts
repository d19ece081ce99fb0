import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine } from '../document/sketch.ts';
import { lookAttributes } from '../draw/svgText.ts';
import { looks, palettes } from '../draw/theme.ts';
import { explore, withExplorers } from './testExplorer.ts';

const window = withExplorers();

test('what is printed is a drawing in the colours of day, and what was seen is there again after it', async () => {
  Object.assign(globalThis, { DOMParser: window().DOMParser });
  window().document.body.dataset.jpThemeLight = 'false';
  const { explorer, root } = await explore(affine());
  const tell = (event: string): boolean => window().dispatchEvent(new (window().Event)(event));
  assert.equal(root.dataset.theme, 'dark');
  tell('beforeprint');
  assert.equal(root.dataset.theme, 'light');
  const [paper] = root.querySelectorAll('.jv-paper svg');
  for (const label of explorer.labels) {
    assert.ok(paper.textContent?.includes(label), label);
  }
  assert.ok(paper.innerHTML.includes(lookAttributes(looks['box-matmul'], palettes.light)));
  tell('afterprint');
  assert.equal(root.dataset.theme, 'dark');
  assert.equal(root.querySelector('.jv-paper'), null);
  explorer.dispose();
  tell('beforeprint');
  assert.equal(root.querySelector('.jv-paper'), null);
});
