import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../document/decode.ts';
import type { Document, Graph } from '../document/graph.ts';
import { affine, loop, type Sketch } from '../document/sketch.ts';
import { measureLines } from '../explorer/details/measured.ts';
import { colourings, groupsOfBoxes } from './colouring.ts';
import { openEverything } from './opening.ts';
import { measuredOf, ofItem, shareText, timeText, wholeOf } from './measures.ts';
import { rowsOf } from './outline.ts';
import { parseQuery } from './query.ts';
import { findMatches } from './search.ts';
import { show } from './view.ts';
import { Shape } from './visible.ts';

type Plain = ReturnType<Sketch['plain']>;

/** A document with the seconds of some nodes of its jaxpr. */
function timed(plain: Plain, seconds: Record<number, number>, more: Record<string, unknown> = {}): Plain {
  const node = Object.keys(seconds).map(Number);
  const words = ['median 1 ms on CPU'];
  const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words, seconds: { median: 0.001 } };
  plain.measures = [{ ...run, figures: { jaxpr: { node, seconds: Object.values(seconds), ...more } } }];
  return plain;
}

function opened(plain: Plain): { document: Document; graph: Graph } {
  const document = decodePlain(plain);
  return { document, graph: document.graphs[0] };
}

function found(plain: Plain, query: string): string[] {
  const { document, graph } = opened(plain);
  const { items, fault } = findMatches(document, graph, parseQuery(query));
  return fault ? [fault] : items.map(item => (item < 0 ? document.strings[graph.op[-1 - item]] : `row ${item}`));
}

test('without a run nothing is measured, and what is computed is known by shapes; the search says how to get times', () => {
  const { document, graph } = opened(affine().plain());
  assert.equal(measuredOf(document, graph), null);
  assert.deepEqual(measureLines(document, graph, -4), [
    { term: 'computes', text: '64 FLOP', note: ' 88.9 % of all, by shapes' }
  ]);
  assert.deepEqual(found(affine().plain(), 'flops>60'), ['dot_general']);
  assert.deepEqual(found(affine().plain(), 'flops<=0.004kFLOP'), ['add', 'tanh']);
  assert.match(found(affine().plain(), 'time>1ms')[0], /no times were measured here: .*--run/);
});

test('a node with bodies has its own time and that of all inside', () => {
  // scan is node 3, mul and add inside of it 7 and 8.
  const { document, graph } = opened(timed(loop().plain(), { 3: 0.001, 7: 0.003, 8: 0.004 }));
  const measured = measuredOf(document, graph);
  assert.ok(measured);
  assert.equal(ofItem(document, measured, graph, 'seconds', -4).toFixed(6), '0.008000');
  assert.equal(wholeOf(measured, 'seconds').toFixed(6), '0.008000');
  assert.equal(measured.own.seconds[3], 0.001);
  const [line] = measureLines(document, graph, -4);
  assert.equal(line.text, '8 ms');
  assert.match(line.note, /100 % of a run, 1 ms by itself/);
});

test('the colours by time are steps of the whole, with what is inside of a closed box', () => {
  const { document, graph } = opened(timed(affine().plain(), { 3: 0.8, 4: 0.12, 5: 0.005 }));
  const colouring = colourings.find(one => one.key === 'time');
  const groups = colouring?.groups(document, graph);
  assert.ok(colouring && groups);
  const visible = show(document, graph, { open: new Set<number>() });
  const of = groupsOfBoxes(document, visible, colouring, groups);
  const said = Object.fromEntries([...of].map((group, box) => [visible.label[box], groups.names[group] ?? '']));
  assert.equal(said.dot_general, '40 % and more');
  assert.equal(said.add, '5 to 15 %');
  assert.equal(said.tanh, 'under 1 %');
  assert.equal(said.w, '');
  const closed = opened(timed(loop().plain(), { 7: 0.3, 8: 0.3, 11: 0.4 }));
  const inLoop = colouring.groups(closed.document, closed.graph);
  assert.ok(inLoop);
  const folded = show(closed.document, closed.graph, { open: new Set<number>() });
  const boxes = groupsOfBoxes(closed.document, folded, colouring, inLoop);
  assert.equal(inLoop.names[boxes[folded.label.indexOf('cell')]], '40 % and more');
});

test('an open region that was timed as one, as a kernel is, keeps its colour; what was timed by its parts has none', () => {
  const colouring = colourings.find(one => one.key === 'time');
  assert.ok(colouring);
  const coloured = (seconds: Record<number, number>): Record<string, string> => {
    const { document, graph } = opened(timed(loop().plain(), seconds));
    const groups = colouring.groups(document, graph);
    assert.ok(groups);
    const visible = show(document, graph, { open: openEverything(rowsOf(document, graph), true) });
    assert.ok(visible.shape.includes(Shape.frame));
    const of = groupsOfBoxes(document, visible, colouring, groups);
    return Object.fromEntries(
      [...of].flatMap((group, box) => (group < 0 ? [] : [[visible.label[box], groups.names[group]]]))
    );
  };
  assert.deepEqual(coloured({ 3: 0.9, 11: 0.1 }), { cell: '40 % and more', neg: '5 to 15 %' });
  assert.deepEqual(coloured({ 7: 0.9, 11: 0.1 }), { mul: '40 % and more', neg: '5 to 15 %' });
});

test('FLOPs and bytes colour only where they are known', () => {
  const plain = timed(affine().plain(), { 3: 0.8, 4: 0.2 }, { flops: [64, 4] });
  const { document, graph } = opened(plain);
  const groupsOf = (key: string): unknown => colourings.find(one => one.key === key)?.groups(document, graph);
  assert.ok(groupsOf('flops'));
  assert.equal(groupsOf('bytes'), null);
  assert.deepEqual(
    measureLines(document, graph, -4).map(({ term, text }) => `${term} ${text}`),
    ['time 800 ms', 'computes 64 FLOP']
  );
});

test('what limits an operation is said without shares that cannot be', () => {
  const limit = (seconds: number): string => {
    const plain = timed(affine().plain(), { 3: seconds }, { flops: [1e6], bytes: [1e7] });
    Object.assign(plain.measures?.[0] ?? {}, { ceilings: { flops: 1e12, bytes: 1e10 } });
    const { document, graph } = opened(plain);
    const line = measureLines(document, graph, -4).find(({ term }) => term === 'limit');
    return `${line?.text},${line?.note}`;
  };
  assert.equal(limit(2e-3), 'memory-bound at 50 %, of 10 GB/s');
  assert.equal(limit(0.98e-3), 'memory-bound at 100 %, of 10 GB/s');
  assert.equal(limit(1e-4), 'faster than memory, its data come from caches');
  assert.equal(limit(1), 'neither computing nor memory, below 2 % of what the device can do');
});

test('what takes long is found', () => {
  const plain = (): Plain => timed(affine().plain(), { 3: 0.002, 4: 0.0005 });
  assert.deepEqual(found(plain(), 'time>1ms'), ['dot_general']);
  assert.deepEqual(found(plain(), 'time<=500us'), ['add']);
  assert.deepEqual(found(plain(), 'time>1s'), []);
});

test('an estimate is called one', () => {
  const { document, graph } = opened(
    timed(affine().plain(), { 3: 0.2, 4: 0.4 }, { shared: [0.2, 0.1], count: [1, 5] })
  );
  assert.match(measureLines(document, graph, -4)[0].note, /estimated: a share of its kernel/);
  assert.match(measureLines(document, graph, -5)[0].note, /in 5 executions, in part estimated/);
});

test('times and shares in words', () => {
  assert.deepEqual([75, 0.0123, 4.2e-6, 3e-9, 0].map(timeText), ['75 s', '12.3 ms', '4.2 µs', '3 ns', '0 s']);
  assert.deepEqual([shareText(1, 3), shareText(1, 40), shareText(1, 9999)], ['33.3 %', '2.5 %', 'under 0.1 %']);
});

test('measures that do not fit the document are refused in one line', () => {
  const wrong: [(plain: Plain) => void, RegExp][] = [
    [plain => Object.assign(plain.measures?.[0] ?? {}, { program: 3 }), /a program that is not there/],
    [plain => Object.assign(plain.measures?.[0].figures.jaxpr ?? {}, { node: [99, 3] }), /names node 99 of/],
    [plain => Object.assign(plain.measures?.[0].figures.jaxpr ?? {}, { flops: [1] }), /has 1 entries, expected 2/],
    [plain => Object.assign(plain.measures?.[0].figures ?? {}, { hlo: { node: [] } }), /is no stage/],
    [plain => Object.assign(plain.measures?.[0] ?? {}, { seconds: { median: -1 } }), /damaged/]
  ];
  for (const [change, expected] of wrong) {
    const plain = timed(affine().plain(), { 3: 1, 4: 1 });
    change(plain);
    assert.throws(
      () => decodePlain(plain),
      error => error instanceof DocumentError && expected.test(error.message)
    );
  }
});

test('what limits a kernel in a loop is told by the time of one turn, as in Python', () => {
  const limits = (count: number, op = 'mul'): string[] => {
    const plain = timed(loop().plain(), { 7: 4e-5 }, { count: [count], flops: [400], bytes: [4000] });
    plain.measures = plain.measures?.map(one => ({ ...one, ceilings: { flops: 1e9, bytes: 1e8 } })) ?? [];
    plain.strings = plain.strings.map(text => (text === 'mul' ? op : text));
    const { document, graph } = opened(plain);
    return measureLines(document, graph, -8).flatMap(({ term, text }) => (term === 'limit' ? [text] : []));
  };
  assert.deepEqual(limits(1), ['memory-bound at 100 %']);
  assert.deepEqual(limits(32), [], 'a turn is too short to say');
  assert.deepEqual(limits(1, 'all-reduce'), [], 'others are waited for');
});
