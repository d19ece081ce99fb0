import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { loop } from '../document/sketch.ts';
import { keptIn } from './residuals.ts';

test('of what goes across to a way back, only that is kept which the document names, or a call gives', () => {
  const plain = loop().plain();
  const [graph] = decodePlain(plain).graphs;
  const values = [...graph.valueNode.keys()];
  assert.ok(values.every(keptIn(decodePlain(plain), graph)), 'a document that says nothing of it');
  const call = graph.valueNode.find(node => graph.firstRegion[node] < graph.firstRegion[node + 1]);
  const [node] = graph.valueNode;
  assert.ok(call !== undefined && call !== node);
  plain.residuals = [{ graph: 0, node: [node], size: [4], order: [1], policies: [] }];
  const document = decodePlain(plain);
  const kept = values.filter(keptIn(document, document.graphs[0])).map(value => graph.valueNode[value]);
  assert.deepEqual(new Set(kept), new Set([node, call]));
});
