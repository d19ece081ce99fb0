import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { loop } from '../document/sketch.ts';
import { remembered } from './remembered.ts';
import { show } from './view.ts';

test('what is visible is made once for the same open rows, and anew for others', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const open = new Set([1]);
  const first = remembered(document, graph, { open });
  assert.deepEqual(first, show(document, graph, { open }));
  assert.equal(remembered(document, graph, { open }), first);
  assert.notEqual(remembered(document, graph, { open: new Set([1]) }), first);
  assert.ok(remembered(document, graph, { open: new Set() }).count < first.count);
  // Another look at the same rows is another picture.
  assert.notEqual(remembered(document, graph, { open, all: true }), first);
  const again = { ...graph };
  const other = { ...document, graphs: [again] };
  assert.equal(remembered(other, again, { open }).graph, again);
});
