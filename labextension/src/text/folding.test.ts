import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { calledTwice, loop, type Sketch } from '../document/sketch.ts';
import { Folding } from './folding.ts';
import type { Listing } from './listing.ts';
import { listingOf } from './stageText.ts';

function folded(sketch: Sketch, kind: 'jaxpr' | 'hlo'): { listing: Listing; folding: Folding } {
  const plain = sketch.plain();
  plain.programs[0].stages[0].kind = kind;
  const document = decodePlain(plain);
  const listing = listingOf(document, document.graphs[0]);
  return { listing, folding: new Folding(listing) };
}

const seen = ({ listing, folding }: ReturnType<typeof folded>): string[] =>
  Array.from({ length: folding.count }, (_, row) => listing.text(folding.line(row)).trim().split(/[ (]/)[0]);

test('what is indented is folded behind the line before it', () => {
  const text = folded(loop(), 'jaxpr');
  const { listing, folding } = text;
  const [scan] = Array.from({ length: listing.count }, (_, line) => line).filter(line =>
    listing.text(line).includes('= scan[')
  );
  folding.toggle(scan);
  assert.deepEqual(seen(text), ['{', 'd:f32[4]', ']', 'j:f32[4]', 'in']);
  assert.equal(folding.inside(scan), 4);
  assert.deepEqual(
    [scan, scan + 2, scan + 5].map(line => folding.row(line)),
    [scan, scan, scan + 1]
  );
  assert.ok(folding.show(scan + 2));
  assert.equal(folding.count, listing.count);
  assert.ok(!folding.show(scan + 2));
});

test('a line that only ends something goes with it, and where all is folded the program stays open', () => {
  const text = folded(calledTwice(), 'hlo');
  const { listing, folding } = text;
  folding.foldAll();
  assert.deepEqual(seen(text), ['HloModule', '', '%double', 'ENTRY', '%x', '%double', 'ROOT', '}']);
  const head = Array.from({ length: listing.count }, (_, line) => line).find(line => folding.isFolded(line)) as number;
  const marks = new Uint8Array(listing.count);
  marks[head + 2] = 1;
  assert.ok(folding.isMarked(marks, head), 'what is folded away is marked on what it is folded behind');
  assert.equal(folding.around(head + 2), head);
  folding.unfoldAll();
  assert.ok(!folding.isMarked(marks, head));
  assert.equal(folding.count, listing.count);
});
