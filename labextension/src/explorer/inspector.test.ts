import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine, Sketch } from '../document/sketch.ts';
import { pair } from '../document/sketchPair.ts';
import { explore, giveSize, withExplorers } from './testExplorer.ts';

withExplorers();

test('a long name of a parameter goes on in the next line where a word of it begins', async () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  sketch.result('result', sketch.op('dot_general', [x, x], 'f32[]', { preferred_element_type: 'float32' }));
  const { explorer, root } = await explore(sketch);
  explorer.select([1]);
  const [name] = [...root.querySelectorAll('.jv-details dt')].filter(term => term.textContent?.startsWith('preferred'));
  assert.equal(name.innerHTML, 'preferred_<wbr class="">element_<wbr class="">type');
});

test('in a narrow picture the details stand in its lower part, and what is fitted keeps clear of them', async () => {
  for (const [width, low] of [
    [430, true],
    [900, false]
  ] as const) {
    giveSize(width, 400);
    const { explorer, root } = await explore(affine());
    const details = root.querySelector('.jv-inspector') as HTMLElement;
    Object.defineProperty(details, 'offsetHeight', { value: 180 });
    Object.defineProperty(details, 'offsetWidth', { value: 250 });
    explorer.select([3]);
    assert.equal(details.classList.contains('jv-low'), low);
    const { left, right, bottom } = explorer.picture.covered;
    assert.deepEqual(
      { left, right, bottom },
      low ? { left: 0, right: 0, bottom: 180 } : { left: 0, right: 250, bottom: 0 }
    );
  }
});

test('the picture keeps clear of the line at the top as it is beside the details', async () => {
  giveSize(380, 400);
  const { explorer, root } = await explore(affine());
  const trail = root.querySelector('.jv-trail') as HTMLElement;
  const details = root.querySelector('.jv-inspector') as HTMLElement;
  // At the side of the details there is hardly room for words.
  const height = () => (details.classList.contains('jv-low') ? 40 : 280);
  Object.defineProperty(trail, 'offsetHeight', { get: height });
  explorer.select([3]);
  assert.equal(explorer.picture.covered.top, 40);
});

test('one of two pictures is sooner too narrow for details at its side', async () => {
  giveSize(490, 400);
  const plain = pair();
  const [program] = plain.programs;
  const [first] = program.stages;
  const programs = [{ ...program, stages: [first, { ...first, kind: 'hlo' as const, graph: 1 }] }];
  const { explorer, root, press } = await explore({ plain: () => ({ ...plain, programs }) });
  const low = () => (root.querySelector('.jv-inspector') as HTMLElement).classList.contains('jv-low');
  explorer.select([3]);
  assert.ok(!low());
  await press('d');
  assert.ok(low());
});
