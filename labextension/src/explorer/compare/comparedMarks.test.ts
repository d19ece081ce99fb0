import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { NodeRole } from '../../document/graph.ts';
import { loop } from '../../document/sketch.ts';
import { compare } from '../../view/compared.ts';
import { rowsOf } from '../../view/outline.ts';
import { openEverything } from '../../view/opening.ts';
import { show } from '../../view/view.ts';
import { comparedMarks } from './comparedMarks.ts';

const CHANGED = 3;

/** The marks of a loop beside itself, in which some operations do something else; its `add` only counts the turns. */
function marks(...changed: string[]): string[] {
  const plain = loop().plain();
  const [graph] = plain.graphs;
  const [program] = plain.programs;
  plain.graphs.push(structuredClone(graph));
  plain.programs.push({ ...program, stages: [{ ...program.stages[0], graph: 1 }] });
  const ops = graph.nodes.op.map(op => plain.strings[op]);
  const nodes = ops.map((_, node) => node);
  const kind = ops.map(op => (changed.includes(op) ? CHANGED : 0));
  plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind, shares: {} }];
  const document = decodePlain(plain);
  const rows = rowsOf(document, document.graphs[0]);
  rows.outline.role[ops.indexOf('add')] = NodeRole.counter;
  const visible = show(document, document.graphs[0], { open: openEverything(rows, true) });
  const found = comparedMarks(document, visible, compare(document, 0, 1), true);
  return found.map(({ box, text }) => `${visible.label[box]}: ${text}`);
}

test('what differs is marked on its box, and a loop for what it is the inside of', () => {
  assert.deepEqual(marks('mul', 'neg'), ['mul: changed', 'neg: changed']);
  assert.deepEqual(marks('scan'), ['cell: changed']);
});

test('what has no box is marked on the loop that holds it where nothing else differs', () => {
  assert.deepEqual(marks('add'), ['cell: changed']);
  assert.deepEqual(marks('add', 'neg'), ['neg: changed']);
});

test('programs that are equal have no marks', () => {
  assert.deepEqual(marks(), []);
});
