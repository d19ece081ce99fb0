import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../document/decode.ts';
import type { Document } from '../document/graph.ts';
import { affine } from '../document/sketch.ts';
import { colourings } from './colouring.ts';
import { aliveAtPeak, peakOf } from './peak.ts';

/** `affine` as HLO: the product lives over two steps, the sum over the last two. */
function withMemory(change: Record<string, unknown> = {}): Document {
  const plain = affine().plain();
  plain.programs[0].stages[0].kind = 'hlo';
  const sizes = { program: 0, arguments: 100, results: 16, aliased: 0, temporary: 96 };
  const steps = { step: [3, 4, 5], live: [64, 96, 32] };
  const values = { node: [3, 4], size: [64, 32], first: [0, 1], last: [1, 2] };
  plain.memory = [{ ...sizes, words: ['needs 212 B'], ...steps, ...values, ...change }];
  return decodePlain(plain);
}

test('the peak is the step that needs most, with what is alive there, the largest first', () => {
  const [memory] = withMemory().memory;
  assert.deepEqual(peakOf(memory), { step: 1, alive: [0, 1] });
});

test('what is alive at the peak has a colour by its size', () => {
  const document = withMemory();
  const [graph] = document.graphs;
  const alive = aliveAtPeak(document, graph);
  assert.deepEqual([...(alive ?? [])], [0, 0, 0, 64, 32, 0, 0]);
  const groups = colourings.find(({ key }) => key === 'alive')?.groups(document, graph);
  assert.deepEqual(
    [3, 4, 5].map(node => groups?.names[groups.of[node]]),
    ['10 B to 100 B', '10 B to 100 B', undefined]
  );
  const none = decodePlain(affine().plain());
  assert.equal(aliveAtPeak(none, none.graphs[0]), null);
});

test('memory that does not fit the document is refused in one line', () => {
  for (const wrong of [{ program: 2 }, { step: [3, 4, 99] }, { last: [1, 3] }, { live: [1] }, { size: [1] }]) {
    assert.throws(() => withMemory(wrong), DocumentError);
  }
});
