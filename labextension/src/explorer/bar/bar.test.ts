import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine } from '../../document/sketch.ts';
import { whole } from '../../document/sketchPair.ts';
import { explore, withExplorers } from '../testExplorer.ts';

withExplorers();

function measured(): ReturnType<ReturnType<typeof affine>['plain']> {
  const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words: [], seconds: { median: 1.24e-4 }, figures: {} };
  return { ...affine().plain(), measures: [run] } as never;
}

test('the button of the run says how long one took, and stops it while it lasts', async () => {
  const kernel = {
    missing: () => '',
    run: () => ({ answer: new Promise<void>(() => undefined), stop: () => undefined }),
    rebuild: () => assert.fail('nobody asked for it')
  };
  const { root, press } = await explore({ plain: measured }, { kernel });
  const run = root.querySelector('.jv-run-stage') as HTMLElement;
  assert.equal(run.textContent, 'run 124 µs');
  assert.match(run.getAttribute('aria-label') ?? '', /^run 124 µs: /);
  await press('r');
  assert.equal(run.textContent, 'stop');
  const unmeasured = await explore(affine());
  assert.equal(unmeasured.root.querySelector('.jv-run-stage')?.textContent, 'run');
});

test('a key that leads to another stage says which one that is, with its size', async () => {
  const { root, press } = await explore({ plain: whole });
  const heard = root.querySelector('.jv-bar [role=status].jv-heard') as HTMLElement;
  assert.match(heard.textContent ?? '', /^jaxpr: 3 /);
  await press('5');
  assert.match(heard.textContent ?? '', /^HLO: /);
});
