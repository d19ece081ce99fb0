import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changesOf, storyOf, successorOf } from './changes.ts';
import { decodePlain } from './decode.ts';
import { follow } from './follow.ts';
import type { Document } from './graph.ts';
import { applyEdit, stateOf } from './series.ts';
import { mergedAndFused } from './sketchPasses.ts';
import { openState, placeOf } from './states.ts';

const opsOf = (document: Document, number: number): string[] => {
  const graph = document.graphs[openState(document, document.passes[0], number)];
  return Array.from(graph.op, op => document.strings[op]);
};

test('a state is put together from its differences: nodes, what they read, regions and what crosses their borders', () => {
  const document = decodePlain(mergedAndFused());
  assert.deepEqual(opsOf(document, 0), ['argument', 'sine', 'sine', 'add', 'result']);
  assert.deepEqual(opsOf(document, 1), ['argument', 'sine', 'add', 'result']);
  assert.deepEqual(opsOf(document, 2), ['argument', 'fusion', 'argument', 'sine', 'add', 'result', 'result']);
  const { graph } = stateOf(document.passes[0], 1);
  assert.deepEqual([...graph.operandSource.subarray(graph.firstOperand[2], graph.firstOperand[3])], [1, 1]);
  const fused = stateOf(document.passes[0], 2);
  assert.deepEqual([...fused.graph.region], [0, 0, 1, 1, 1, 1, 0]);
  assert.deepEqual([...fused.graph.regionOwner], [-1, 1]);
  assert.deepEqual([...fused.graph.bindingFrom], [0, 5]);
  assert.deepEqual([...fused.graph.bindingTo], [2, 1]);
  assert.deepEqual([...fused.outline.end], [7, 6]);
});

test('a state becomes a graph of the document once, with its outline and its links', () => {
  const document = decodePlain(mergedAndFused());
  const [passes] = document.passes;
  const index = openState(document, passes, 1);
  assert.equal(openState(document, passes, 1), index);
  assert.deepEqual(placeOf(document, index), { passes, number: 1 });
  assert.equal(placeOf(document, 0), undefined);
  assert.equal(document.outlines.filter(outline => outline.graph === index).length, 1);
  assert.deepEqual(
    follow(document, 0, 1, index).map(({ node }) => document.strings[document.graphs[index].name[node]]),
    ['sine.1']
  );
});

test('what a pass did: gone, changed, fused, new', () => {
  const document = decodePlain(mergedAndFused());
  const [passes] = document.passes;
  assert.deepEqual(changesOf(document, passes, 0), { added: [], removed: [], changed: [], fused: [], moved: [] });
  assert.deepEqual(changesOf(document, passes, 1), { added: [], removed: [2], changed: [2], fused: [], moved: [] });
  assert.deepEqual(changesOf(document, passes, 2), { added: [1], removed: [], changed: [], fused: [3, 4], moved: [] });
});

test('an instruction is followed through the passes, one that is gone to what took its place', () => {
  const document = decodePlain(mergedAndFused());
  const [passes] = document.passes;
  const [first, merged, fused] = [0, 1, 2].map(number => openState(document, passes, number));
  assert.deepEqual(follow(document, first, 3, fused), [{ node: 4, kind: 0 }]);
  assert.deepEqual(follow(document, fused, 4, first), [{ node: 3, kind: 0 }]);
  assert.deepEqual(follow(document, first, 2, merged), [{ node: 1, kind: 1 }]);
  assert.equal(successorOf(passes, 0, 2, 2), 3);
});

test('the story of an instruction', () => {
  const document = decodePlain(mergedAndFused());
  const [passes] = document.passes;
  const told = (number: number, node: number): unknown[] =>
    storyOf(document, passes, number, node).map(({ number, kind, from, by }) => [number, kind, from, by]);
  assert.deepEqual(told(0, 3), [
    [0, 'given', [], -1],
    [1, 'changed', [], -1],
    [2, 'fused', [], -1]
  ]);
  assert.deepEqual(told(0, 2), [
    [0, 'given', [], -1],
    [1, 'removed', [], 1]
  ]);
  assert.deepEqual(told(2, 1), [[2, 'added', [1, 2], -1]]);
});

test('edits that do not fit are refused; those that do keep, take away and put in', () => {
  assert.deepEqual(applyEdit([1, 2, 3, 4], [1, 2, 1, 9], 10), [1, 9, 4]);
  for (const edit of [[5, 0, 0], [0, 0, 2, 1], [0, 0, 1, 10], [0]]) {
    assert.throws(() => applyEdit([1, 2, 3, 4], edit, 10), RangeError, String(edit));
  }
  const numbers = fc.array(fc.nat(9), { maxLength: 20 });
  fc.assert(
    fc.property(numbers, numbers, (before, after) => {
      assert.deepEqual(applyEdit(before, [0, before.length, after.length, ...after], 10), after);
    })
  );
});

test('damaged passes are refused in one line', () => {
  const breaks: readonly ((passes: NonNullable<ReturnType<typeof mergedAndFused>['passes']>[number]) => void)[] = [
    passes => (passes.graph = 7),
    passes => passes.links.node.fill(99),
    passes => passes.operands.output.pop(),
    passes => passes.states[0].nodes.push(9, 9, 9),
    passes => passes.nodes.op.pop()
  ];
  for (const harm of breaks) {
    const plain = mergedAndFused();
    harm((plain.passes as NonNullable<typeof plain.passes>)[0]);
    assert.throws(() => decodePlain(plain), /^DocumentError: This jaxviz document is damaged: [^\n]+$/);
  }
  const plain = mergedAndFused();
  (plain.passes as NonNullable<typeof plain.passes>)[0].operands.lineage.fill(2);
  const document = decodePlain(plain);
  assert.throws(() => openState(document, document.passes[0], 1), RangeError);
});
