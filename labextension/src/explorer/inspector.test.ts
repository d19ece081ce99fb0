import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sketch } from '../document/sketch.ts';
import { explore, withExplorers } from './testExplorer.ts';

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
