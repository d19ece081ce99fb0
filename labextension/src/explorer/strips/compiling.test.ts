import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../../document/decode.ts';
import type { Document } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { CompilingStrip } from './compiling.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

const STEPS = {
  name: ['trace', 'lower', 'compile', 'optimize', 'write code'],
  kind: ['trace', 'lower', 'compile', 'optimize', 'generate'],
  start: [0, 0.1, 0.2, 0.2, 0.5],
  seconds: [0.1, 0.1, 0.8, 0.3, 0.5],
  parent: [-1, -1, -1, 2, 2]
};

function withCost(change: Record<string, unknown> = {}): Document {
  const plain = affine().plain();
  const cost = {
    program: 0,
    words: ['1 s before it can run', '12 passes of the compiler'],
    steps: STEPS,
    passes: { name: ['cse', 'fusion', 'dce'], seconds: [0.2, 0.05, 0.00001], runs: [3, 1, 1] },
    functions: {
      name: ['inner(f32[4])'],
      file: ['a.py'],
      line: [3],
      calls: [2],
      equations: [7],
      trace: [0],
      lower: [0.01],
      compile: [0.2]
    },
    lines: { file: ['a.py'], line: [1], seconds: [0.05] },
    ...change
  };
  plain.compiling = [cost] as typeof plain.compiling;
  return decodePlain(plain);
}

const strip = (document: Document): HTMLElement => new CompilingStrip(document, { show: () => undefined }).root;

test('the timeline has each step below the one that it is a part of, as long as it took', () => {
  const root = strip(withCost());
  const rows = [...root.querySelectorAll('.jv-timeline-row')];
  assert.equal(rows.length, 2);
  assert.deepEqual(
    rows.map(row => [...row.querySelectorAll('.jv-timeline-part')].map(part => part.getAttribute('aria-label'))),
    [
      ['trace: 100 ms, 10 %', 'lower: 100 ms, 10 %', 'compile: 800 ms, 80 %'],
      ['optimize: 300 ms, 30 %', 'write code: 500 ms, 50 %']
    ]
  );
  const widths = [...rows[0].querySelectorAll<HTMLElement>('.jv-timeline-part')].map(part =>
    parseFloat(part.style.width)
  );
  assert.deepEqual(widths.map(Math.round), [10, 10, 80]);
});

test('passes are listed by what they took, with how often they ran', () => {
  const root = strip(withCost());
  const names = [...root.querySelectorAll('.jv-run-line code')].map(code => code.textContent);
  assert.deepEqual(names, ['1  a.py', 'cse ×3', 'fusion', 'inner(f32[4]) ×2']);
});

test('it is opened and closed, and hidden where nothing was measured', () => {
  const root = strip(withCost());
  const more = root.querySelector<HTMLElement>('.jv-run-more');
  const title = root.querySelector<HTMLElement>('.jv-finding-title');
  assert.ok(more && title);
  assert.equal(more.hidden, true);
  title.click();
  assert.equal(more.hidden, false);
  assert.equal(title.getAttribute('aria-expanded'), 'true');
  assert.equal(strip(decodePlain(affine().plain())).hidden, true);
});

test('the curve of a loop has a line for each way to write it, and a table', () => {
  const curve = {
    name: 'scan over cell',
    own: 100,
    turns: [1, 10, 100],
    loop: [0.2, 0.2, 0.21],
    loopRun: [0.001, 0.002, -1],
    unrolled: [0.2, 0.9, -1],
    unrolledRun: [0.001, 0.001, -1]
  };
  const root = strip(withCost({ curve }));
  assert.equal(root.querySelector('polyline.jv-curve-loop')?.getAttribute('points')?.split(' ').length, 3);
  assert.equal(root.querySelector('polyline.jv-curve-unrolled')?.getAttribute('points')?.split(' ').length, 2);
  const last = [...root.querySelectorAll('.jv-curve-table tr:last-child td')].map(cell => cell.textContent);
  assert.deepEqual(last, ['100', '210 ms', '', 'not tried', '']);
});

test('what names rows that are not there is no document', () => {
  assert.throws(() => withCost({ program: 9 }), DocumentError);
  assert.throws(() => withCost({ steps: { ...STEPS, parent: [-1, 1, -1, 2, 2] } }), DocumentError);
  assert.throws(() => withCost({ steps: { ...STEPS, seconds: [1] } }), DocumentError);
});
