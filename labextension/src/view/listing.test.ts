import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import type { Document as PlainDocument } from '../document/schema.generated.ts';
import { loop, Sketch } from '../document/sketch.ts';
import { eachOf, groupings, groupsOf, type Listing } from './listing.ts';
import { figuredOf, wholeOf } from './measures.ts';

/** Optimized HLO: a product alone, and in a loop of three turns a fusion that adds and multiplies. */
function looped(turns: Record<string, string> = { known_trip_count: '3' }): Sketch {
  const hlo = new Sketch('looped');
  const x = hlo.argument('x', 'f32[4]');
  const product = hlo.op('dot', [x, x], 'f32[4]', {}, 'dot.1');
  const end = hlo.op('while', [product], 'f32[4]', turns, 'while.2');
  hlo.region(hlo.last, 'while body', 'body', () => {
    const carried = hlo.argument('', 'f32[4]', { kind: 'init', from: product });
    const made = hlo.op('fusion', [carried], 'f32[4]', {}, 'fusion.10');
    hlo.region(hlo.last, 'fusion', 'fused', () => {
      const p = hlo.argument('', 'f32[4]', { kind: 'enter', from: carried });
      hlo.result('', hlo.op('multiply', [hlo.op('add', [p, p], 'f32[4]'), p], 'f32[4]'), { kind: 'leave', to: made });
    });
    hlo.result('', made, { kind: 'leave', to: end });
  });
  hlo.result('result', hlo.op('fusion', [end], 'f32[4]', {}, 'fusion.2'));
  return hlo;
}

function ofCompiler(sketch: Sketch): PlainDocument {
  const plain = sketch.plain();
  Object.assign(plain.programs[0].stages[0], { kind: 'hlo' });
  return plain;
}

function names(listing: Listing): string[] {
  return Array.from({ length: listing.count }, (_, row) => listing.name(row));
}

test('of optimized HLO each kernel is a row, and what is inside of one is in its row', () => {
  const document = decodePlain(ofCompiler(looped()));
  const [graph] = document.graphs;
  const listing = eachOf(document, graph);
  assert.deepEqual(names(listing), ['dot.1', 'fusion.10', 'fusion.2']);
  const ops = Array.from(graph.op, (op, node) => [document.strings[op], listing.rowOf[node]]);
  assert.deepEqual(
    ops.filter(([op]) => op),
    [
      ['dot', 0],
      ['while', -1],
      ['fusion', 1],
      ['add', 1],
      ['multiply', 1],
      ['fusion', 2]
    ]
  );
});

test('what stands in a loop counts as often as the loop turns, in the table as in the colours', () => {
  for (const [turns, times, open] of [
    [{ known_trip_count: '3' }, 3, 0],
    [{}, 1, 1]
  ] as const) {
    const document = decodePlain(ofCompiler(looped(turns as Record<string, string>)));
    const [graph] = document.graphs;
    const { amounts, operations } = eachOf(document, graph);
    assert.deepEqual([...amounts.runs], [1, times, 1]);
    assert.deepEqual([...amounts.bytes], [32, times * 32, 32]);
    assert.equal(operations.open, open);
    const figured = figuredOf(document, graph, 'bytes');
    assert.equal(figured && wholeOf(figured, 'bytes'), 64 + times * 32);
  }
  const scanned = decodePlain(loop().plain());
  assert.deepEqual([...eachOf(scanned, scanned.graphs[0]).amounts.runs], [1, 32, 32, 1]);
});

test('the time of a loop by itself is a row, so that all rows add up to the whole', () => {
  const plain = ofCompiler(looped());
  const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words: [], seconds: { operations: 7 } };
  const figures = { hlo: { node: [1, 2, 4, 10], seconds: [1, 2, 3, 1], count: [1, 1, 3, 1] } };
  plain.measures = [{ ...run, figures }];
  const document = decodePlain(plain);
  const [graph] = document.graphs;
  const listing = eachOf(document, graph);
  assert.deepEqual(names(listing), ['dot.1', 'while.2', 'fusion.10', 'fusion.2']);
  assert.deepEqual([...listing.amounts.seconds], [1, 2, 3, 1]);
  assert.deepEqual([...listing.amounts.runs], [1, 1, 3, 1]);
  assert.deepEqual([listing.operations.seconds, listing.operations.loops], [7, 1]);
});

test('groups add up what their operations have, a kernel by the strongest that is in it', () => {
  const document = decodePlain(ofCompiler(looped()));
  const [graph] = document.graphs;
  const grouped = (key: string): unknown => {
    const grouping = groupings.find(one => one.key === key);
    const groups = grouping && groupsOf(document, graph, grouping);
    return (
      groups &&
      names(groups).map((name, row) => [name, groups.first[row + 1] - groups.first[row], groups.amounts.bytes[row]])
    );
  };
  assert.deepEqual(grouped('kind'), [
    ['matmul', 1, 32],
    ['elementwise', 1, 96],
    ['function or loop', 1, 32]
  ]);
  assert.deepEqual(grouped('operation'), [
    ['dot', 1, 32],
    ['fusion', 2, 128]
  ]);
  assert.equal(grouped('module'), null, 'all are in none');
  assert.equal(grouped('line'), null);
});
