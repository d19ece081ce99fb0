import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePlain } from '../../document/decode.ts';
import { affine, loop } from '../../document/sketch.ts';
import { parseView, readSaved, viewText, type SavedView } from './saved.ts';

const document = decodePlain(loop().plain());
const view: SavedView = {
  stage: 'jaxpr',
  open: [1, 2, 3, 9],
  spread: [3],
  selected: -8,
  kernels: false,
  colour: 'fate',
  search: 'op:add & more',
  height: null
};

test('a view is one line of text, and that line is the view again', () => {
  const text = viewText(document, view);
  assert.equal(text, 'jaxviz://loop/jaxpr?of=d&open=1-3,9&spread=3&selected=-8&colour=fate&search=op%3Aadd+%26+more');
  assert.deepEqual(parseView(document, ` ${text}\n`), view);
});

test('whatever the view, its text and its data give it back', () => {
  const rows = fc.uniqueArray(fc.nat(500)).map(all => all.sort((a, b) => a - b));
  const views = fc.record({
    stage: fc.constantFrom('jaxpr', 'stablehlo', 'hlo'),
    open: rows,
    spread: rows,
    selected: fc.option(fc.integer({ min: -500, max: 500 }), { nil: null }),
    kernels: fc.boolean(),
    colour: fc.constantFrom('', 'kind', 'fate'),
    search: fc.string({ unit: 'grapheme' }),
    height: fc.constant(null)
  });
  const beside = fc.record({ stage: fc.constantFrom('hlo', 'jaxpr@1'), place: fc.constantFrom(0.15, 0.5, 0.333) });
  const camera = fc.record({ x: fc.integer(), y: fc.integer(), scale: fc.constantFrom(0.02, 1, 7.5) });
  const settled = camera.map(one => ({ ...one, settled: true }));
  const all = fc.constant(true);
  const reading = fc.constantFrom('python', 'stage');
  const sorting = fc.record({ by: fc.constantFrom('share', 'order'), reversed: fc.boolean() });
  const table = fc.record({ by: fc.constantFrom('each', 'line'), sorting }, { requiredKeys: ['by'] });
  const optional = { beside, camera: fc.oneof(camera, settled), all, reading, table };
  const more = fc.record(optional, { requiredKeys: [] });
  fc.assert(
    fc.property(views, more, (made, optional) => {
      const one = structuredClone({ ...made, ...optional }) as SavedView;
      assert.deepEqual(parseView(document, viewText(document, one)), one);
      assert.deepEqual(readSaved(JSON.parse(JSON.stringify(one))), one);
    })
  );
});

test('a view of another program, and a text that is none, say so', () => {
  const other = decodePlain(affine().plain());
  assert.deepEqual(parseView(other, viewText(document, view)), {
    fault: 'this view was copied from another program: loop'
  });
  assert.match((parseView(document, 'jaxviz://nonsense') as { fault: string }).fault, /looks like jaxviz:/);
});

test('what is no view is none', () => {
  for (const value of [undefined, null, 3, 'view', {}, { ...view, open: [-1] }, { ...view, open: ['1'] }]) {
    assert.equal(readSaved(value), undefined);
  }
  assert.equal(readSaved({ ...view, selected: 'x' })?.selected, null);
});
