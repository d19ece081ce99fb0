import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { keptApartBy } from './between.ts';

/** Why what a kernel writes lies in memory, where a copy with this layout reads it. */
function copiedAs(layout: Record<string, string>): string {
  const sketch = new Sketch('copied');
  const x = sketch.argument('x', 'f32[4,8]');
  const made = sketch.op('tanh', [x], 'f32[4,8]', {}, 'tanh.1');
  const kernel = sketch.last;
  sketch.result('', sketch.op('copy', [made], 'f32[4,8]', layout, 'copy.2'));
  const document = decodePlain(sketch.plain());
  return keptApartBy(document, document.graphs[0], kernel);
}

test('a copy is for layout where it gives axes another order, not where it only moves what has one of its own', () => {
  assert.equal(copiedAs({ layout: '{0,1} from {1,0}' }), 'a copy for layout');
  assert.equal(copiedAs({ layout: '{0,1:T(8,128)S(1)} from {1,0:T(8,128)}' }), 'a copy for layout');
  for (const layout of [{}, { layout: '{0,1}' }, { layout: '{0,1:S(1)} from {0,1}' }]) {
    assert.equal(copiedAs(layout as Record<string, string>), 'a copy that XLA put in');
  }
});
