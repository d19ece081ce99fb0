import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { FateKind } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { fateText } from './fate.ts';

/** What is said of dot_general, of this fate, where add (or the argument x) took its place in a pass. */
function said(kind: number, by = 4): string {
  const plain = affine().plain();
  const where = (plain.strings as string[]).push('algsimp') - 1;
  const rows = [0, 0, 0, kind, 0, 0, 0];
  plain.fates = [
    { graph: 0, kind: rows, where: rows.map(one => (one ? where : 0)), by: rows.map(one => (one ? by : -1)) }
  ];
  const document = decodePlain(plain);
  const fate = fateText(document, document.graphs[0], 3);
  assert.ok(fate);
  return fate.text + (fate.by < 0 ? '' : fate.byLead + fate.byText);
}

test('of what was simplified it is said what stands in its place, an argument too', () => {
  assert.equal(said(FateKind.simplified), 'simplified away, by the pass algsimp; in its place: add');
  assert.match(said(FateKind.simplified, 0), /; in its place: \w+$/);
  assert.equal(said(FateKind.simplified, -1), 'simplified away, by the pass algsimp');
});

test('of what was merged it is said with what; of what was moved, what holds its value now', () => {
  assert.equal(said(FateKind.merged, 3), 'merged with an equal operation, by the pass algsimp: dot_general');
  assert.equal(said(FateKind.moved), 'moved into other operations, by the pass algsimp; in its place: add');
});

test('of what was merged with a part of another operation it is said in which that is', () => {
  assert.equal(said(FateKind.merged), 'merged with an equal operation, by the pass algsimp, which is in: add');
});
