import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { NodeRole } from '../../document/graph.ts';
import { loop } from '../../document/sketch.ts';
import { openEverything } from '../../view/opening.ts';
import { rowsOf } from '../../view/outline.ts';
import { show } from '../../view/view.ts';
import { Tally } from './tally.ts';

type Kind = 'changed' | 'new';

/** What is told of the boxes of an open loop, whose `add` only counts the turns and has no box. */
function told(...what: (readonly [op: string, kind: Kind])[]): Record<string, unknown> {
  const plain = loop().plain();
  const [graph] = plain.graphs;
  const ops = graph.nodes.op.map(op => plain.strings[op]);
  const document = decodePlain(plain);
  const rows = rowsOf(document, document.graphs[0]);
  rows.outline.role[ops.indexOf('add')] = NodeRole.counter;
  const visible = show(document, document.graphs[0], { open: openEverything(rows, true) });
  const tally = new Tally<Kind>(document, visible);
  what.forEach(([op, kind]) => tally.add(ops.indexOf(op), kind));
  return Object.fromEntries([...tally.boxes()].map(([box, counts]) => [visible.label[box], counts]));
}

test('a kind that has no box of its own is told of what holds it, whatever other kinds have', () => {
  assert.deepEqual(told(['mul', 'changed'], ['add', 'new'], ['add', 'new']), {
    mul: { changed: 1 },
    cell: { new: 2 }
  });
});

test('a kind that has a box is told of nothing that only holds it', () => {
  assert.deepEqual(told(['mul', 'new'], ['add', 'new']), { mul: { new: 1 } });
});
