import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeRole } from '../../document/graph.ts';
import { plainOutline, Sketch } from '../../document/sketch.ts';
import { explore, withExplorers } from '../testExplorer.ts';
import type { SavedView } from './saved.ts';

withExplorers();

/** Two operations, of which the first only hands its value on. */
function plain(): ReturnType<Sketch['plain']> {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f16[4]');
  const wide = sketch.op('convert', [x], 'f32[4]');
  sketch.result('result', sketch.op('sin', [wide], 'f32[4]'));
  const made = sketch.plain();
  const outline = plainOutline({ back: [1], kind: [0], name: [0], gap: [0], size: [4] }, 4);
  return { ...made, outlines: [{ ...outline, role: [0, NodeRole.edge, 0, 0] }] };
}

test('every equation is a box again in a view that was saved so', async () => {
  const { explorer, press } = await explore({ plain });
  assert.ok(!explorer.labels.includes('convert'));
  await press('e');
  assert.ok(explorer.labels.includes('convert'));
  const again = await explore({ plain }, { view: explorer.view });
  assert.deepEqual(again.explorer.labels, explorer.labels);
  await press('e');
  const less = await explore({ plain }, { view: explorer.view });
  assert.ok(!less.explorer.labels.includes('convert'));
});

test('what is read beside the picture and the table are seen again in a view that was saved with them', async () => {
  const saved: SavedView[] = [];
  const { press, root } = await explore({ plain }, { save: view => saved.push(view) });
  await press('t');
  await press('o');
  const heads = root.querySelectorAll<HTMLElement>('.jv-table [role=columnheader]');
  [...heads]
    .find(({ textContent }) => textContent?.startsWith('name'))
    ?.querySelector('button')
    ?.click();
  assert.deepEqual(saved.at(-1)?.table, { by: 'each', sorting: { by: 'name', reversed: false } });
  assert.equal(saved.at(-1)?.reading, 'stage');
  const again = await explore({ plain }, { view: saved.at(-1) });
  assert.equal(again.root.classList.contains('jv-reading'), true);
  assert.equal(again.root.querySelector('.jv-table [aria-sort]')?.textContent?.startsWith('name'), true);
  const odd = await explore({ plain }, { view: { ...(saved.at(-1) as SavedView), table: { by: 'nothing' } } });
  assert.equal(odd.root.querySelector<HTMLSelectElement>('.jv-table select')?.value, 'each');
  await press('t');
  await press('o');
  assert.deepEqual([saved.at(-1)?.reading, saved.at(-1)?.table], [undefined, undefined]);
});
