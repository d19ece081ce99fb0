import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import type { Document } from '../../document/graph.ts';
import { loop, Sketch } from '../../document/sketch.ts';
import { mergedAndFused } from '../../document/sketchPasses.ts';
import { openState } from '../../document/states.ts';
import { measure } from '../../draw/text.ts';
import { layout } from '../../layout/layout.ts';
import { counterparts } from '../../view/counterparts.ts';
import { Apart, Brevity, type ViewState } from '../../view/folds.ts';
import { rowsOf } from '../../view/outline.ts';
import { placesBefore, toLayout } from '../../view/place.ts';
import { show } from '../../view/view.ts';
import { Openings } from './openings.ts';

/** A program as two stages, whose operations are linked one to one. */
function twoStages(sketch: Sketch = loop()): Document {
  const plain = sketch.plain();
  const count = plain.graphs[0].nodes.kind.length;
  const nodes = Array.from({ length: count }, (_, node) => node).filter(node => plain.graphs[0].nodes.kind[node] === 0);
  return decodePlain({
    ...plain,
    graphs: [plain.graphs[0], plain.graphs[0]],
    programs: [{ ...plain.programs[0], stages: [...plain.programs[0].stages, { kind: 'hlo', graph: 1, seconds: {} }] }],
    links: [{ from: 0, to: 1, source: nodes, target: nodes, kind: nodes.map(() => 0), shares: {} }]
  });
}

const none = (): ViewState => ({ open: new Set() });
const labels = (document: Document, graph: number, openings: Openings): readonly string[] =>
  show(document, document.graphs[graph], openings.state).label;

test('what is opened in one stage is open in the others, and what is closed there is closed', () => {
  const document = twoStages();
  const [first, second] = document.graphs;
  const openings = new Openings(document, first);
  openings.enter(first, none);
  openings.toggle(1);
  assert.ok(labels(document, 0, openings).includes('mul'));
  openings.enter(second, none);
  assert.ok(labels(document, 1, openings).includes('mul'));
  openings.toggle(1);
  openings.enter(first, () => assert.fail('this stage was chosen already'));
  assert.ok(!labels(document, 0, openings).includes('mul'));
});

test('a region opens and closes with the one that mirrors it, and both are open in the other stages', () => {
  const sketch = new Sketch();
  const body = (name: string): void => {
    const x = sketch.argument(`x of ${name}`, 'f32[4]');
    const out = sketch.op('jit', [x], 'f32[4]');
    sketch.region(sketch.last, 'jit', name, () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
      const sin = sketch.op(`sin of ${name}`, [inner], 'f32[4]');
      sketch.result('', sketch.op('neg', [sin], 'f32[4]'), { kind: 'leave', to: out });
    });
    sketch.result(`result of ${name}`, out);
  };
  body('forward');
  body('backward');
  const document = twoStages(sketch);
  for (const graph of document.graphs) {
    rowsOf(document, graph).outline.twin.set([2, 1], 1);
  }
  const [first, second] = document.graphs;
  const openings = new Openings(document, first);
  openings.enter(first, none);
  const inside = (graph: number): string[] =>
    labels(document, graph, openings).filter(label => label.startsWith('sin'));
  openings.toggle(2);
  assert.deepEqual(inside(0), ['sin of forward', 'sin of backward']);
  openings.enter(second, none);
  assert.deepEqual(inside(1), ['sin of forward', 'sin of backward']);
  openings.toggle(1);
  assert.deepEqual(inside(1), []);
});

test('all that is open or closed at once is so in every stage', () => {
  const document = twoStages();
  const [first, second] = document.graphs;
  const openings = new Openings(document, first);
  openings.enter(first, none);
  openings.openAll(true);
  openings.enter(second, none);
  assert.ok(openings.open.has(1));
  openings.closeAll();
  openings.enter(first, none);
  assert.equal(openings.open.size, 0);
});

test('all that is open or closed at once is so in the picture beside, equations that only reshape with it', () => {
  const document = twoStages();
  const [first, second] = document.graphs;
  const beside = new Openings(document, second);
  beside.enter(second, none);
  const openings = new Openings(document, first, change => beside.copy(change));
  openings.enter(first, none);
  openings.openAll(true);
  assert.deepEqual([beside.all, beside.open.size > 0], [true, true]);
  openings.closeAll();
  assert.deepEqual([beside.all, beside.open.size], [false, 0]);
});

test('a stage that nobody has touched begins with its own first view, each time', () => {
  const document = twoStages();
  const openings = new Openings(document, document.graphs[0]);
  openings.enter(document.graphs[0], none);
  assert.ok(!openings.touched);
  openings.enter(document.graphs[0], () => ({ open: new Set([1]) }));
  assert.deepEqual([...openings.open], [1]);
});

/** Two passes of which the first leaves a row of three operations, the second the same row with two. */
function passesOfOneRow(): Document {
  const plain = mergedAndFused();
  const [passes] = plain.passes ?? [];
  const { rows, states } = passes;
  const name = plain.strings.push('sum') - 1;
  for (const size of [3, 2]) {
    const row = { ...Object.fromEntries(Object.entries(rows).map(([key, column]) => [key, column[1]])), name, size };
    Object.entries({ ...row, gap: 1, closed: 0 }).forEach(([key, value]) => rows[key as keyof typeof rows].push(value));
  }
  states[0].rows = [0, 0, 2, 0, 2];
  states[1].rows = [1, 1, 1, 3];
  states[2].rows = [1, 1, 1, 1];
  return decodePlain(plain);
}

test('a pass begins as the one that was seen before it, other stages with their own first views', () => {
  const document = passesOfOneRow();
  const states = [0, 1].map(number => document.graphs[openState(document, document.passes[0], number)]);
  const openings = new Openings(document, document.graphs[0]);
  openings.enter(document.graphs[0], none);
  openings.enter(states[0], () => ({ open: new Set([1]), brevity: Brevity.short }));
  openings.enter(states[1], () => assert.fail('this pass begins as the one before'));
  assert.deepEqual([...openings.open], [1]);
  assert.equal(openings.state.brevity, Brevity.short, 'with words as short as before');
  openings.enter(states[0], () => assert.fail('and back'));
  assert.deepEqual([...openings.open], [1]);
  openings.toggle(1);
  openings.enter(states[1], () => assert.fail('what was closed stays so'));
  assert.equal(openings.open.size, 0);
  const untouched = new Openings(document, states[0]);
  untouched.enter(states[0], () => ({ open: new Set([1]) }));
  untouched.enter(document.graphs[0], none);
  untouched.enter(states[1], () => ({ open: new Set([1]) }));
  assert.deepEqual([...untouched.open], [1]);
});

test('in another stage each box is told which one it was, and stands where that stood', () => {
  const document = twoStages();
  const [first, second] = document.graphs;
  const before = show(document, first, { open: new Set([1]) });
  const after = show(document, second, { open: new Set([1]) });
  const from = counterparts(document, before, after);
  after.label.forEach((label, box) => {
    // A value that goes round the loop has no link of its own.
    if (label !== 'carry' && label !== 'slice') {
      assert.equal(before.label[from[box]], label);
    }
  });
  const was = layout(toLayout(before, measure));
  const is = layout(toLayout(after, measure, placesBefore(from, was)));
  assert.ok(
    is.x.every((x, box) => Math.abs(x - was.x[box]) <= 1),
    'by no more than rounding'
  );
});

test('a box that opens is the frame that it becomes, and what stands in it is new', () => {
  const document = twoStages();
  const [graph] = document.graphs;
  const closed = show(document, graph, none());
  const open = show(document, graph, { open: new Set([1]) });
  const from = counterparts(document, closed, open);
  assert.equal(closed.label[from[open.label.indexOf('cell')]], 'cell');
  assert.equal(from[open.label.indexOf('mul')], -1);
});

test('what a person opens tells apart what it shows, also where there was no room for that at first', () => {
  const document = twoStages();
  const [graph] = document.graphs;
  const openings = new Openings(document, graph);
  openings.enter(graph, none);
  assert.equal(openings.state.apart, Apart.none);
  openings.toggle(1);
  assert.equal(openings.state.apart, Apart.beside);
});

test('where every equation was asked for, it is seen on when more of the same program is there, and not in another', () => {
  const document = twoStages();
  const before = new Openings(document, document.graphs[0]);
  before.enter(document.graphs[0], none);
  before.openAll(true);
  const goesOn = (next: Document): boolean => {
    const openings = new Openings(next, next.graphs[0]);
    openings.enter(next.graphs[0], none);
    openings.goOn(before);
    return openings.state.all === true;
  };
  assert.equal(goesOn(twoStages()), true);
  assert.equal(goesOn(decodePlain(new Sketch().plain())), false);
});
