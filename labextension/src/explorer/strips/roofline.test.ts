import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import type { Document } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { measuredOf } from '../../view/measures.ts';
import { dotsOf, nearestDot, roofline } from './roofline.ts';
import { takenBySelf } from '../ownKeys.ts';
import { withWindow } from '../testWindow.ts';

const windowNow = withWindow();

/** `affine` with figures for its three operations, on a device of 1 TFLOP/s and 10 GB/s. */
function measured(ceilings?: Record<string, number>): Document {
  const plain = affine().plain();
  const figures = { node: [3, 4, 5], seconds: [4e-3, 1e-3, 1e-9], flops: [2e9, 1e6, 5], bytes: [1e7, 8e6, 5] };
  const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words: ['median 5 ms'], seconds: { median: 5e-3 } };
  plain.measures = [{ ...run, ...(ceilings ? { ceilings } : {}), figures: { jaxpr: figures } }];
  return decodePlain(plain);
}

test('a dot for each kernel that takes a part of the time, the longest first', () => {
  const document = measured();
  const [graph] = document.graphs;
  const found = measuredOf(document, graph);
  assert.ok(found);
  assert.deepEqual(
    dotsOf(document, graph, found).map(({ node, intensity, rate }) => [node, intensity, rate]),
    [
      [3, 200, 5e11],
      [4, 0.125, 1e9]
    ]
  );
});

test('the plot says each kernel in words, and a dot leads to it', () => {
  const document = measured({ flops: 1e12, bytes: 1e10 });
  const picked: number[] = [];
  const plot = roofline(document, document.graphs[0], document.measures[0], node => picked.push(node));
  assert.ok(plot);
  const dots = [...plot.querySelectorAll('.jv-plot-dot')];
  assert.deepEqual(
    dots.map(dot => dot.getAttribute('aria-label')),
    ['dot_general: 4 ms, 80 %, 500 GFLOP/s, compute-bound at 50 %', 'add: 1 ms, 20 %, 1 GFLOP/s, memory-bound at 80 %']
  );
  dots[1].dispatchEvent(new (windowNow().Event)('click') as unknown as Event);
  assert.deepEqual(picked, [4]);
  assert.ok(takenBySelf({ target: dots[0], key: 'Enter' }));
  assert.equal(takenBySelf({ target: dots[0], key: 'x' }), false);
  assert.deepEqual(picked, [4, 3]);
  const numbers = ['cx', 'cy', 'r'].flatMap(name => dots.map(dot => Number(dot.getAttribute(name))));
  assert.ok(numbers.every(Number.isFinite));
  assert.match(plot.querySelector('figcaption')?.textContent ?? '', /10 GB\/s on the slope, 1 TFLOP\/s on the flat/);
});

test('of dots that cover each other the one whose centre is nearest is meant, and of those at one place each in turn', () => {
  const dots = [
    { node: 1, x: 10, y: 10, r: 11 },
    { node: 2, x: 14, y: 10, r: 10 },
    { node: 3, x: 14.2, y: 10, r: 10 },
    { node: 4, x: 100, y: 10, r: 3 }
  ];
  // The centre of the largest lies under the others.
  assert.equal(nearestDot(dots, [10, 10], -1), 1);
  assert.equal(nearestDot(dots, [10, 10], 1), 1);
  assert.deepEqual(
    [-1, 2, 3].map(last => nearestDot(dots, [14, 10], last)),
    [2, 3, 2]
  );
  assert.equal(nearestDot(dots, [101, 11], 2), 4);
  assert.equal(nearestDot(dots, [60, 60], -1), -1);
});

test('what is faster than memory is explained', () => {
  const said = (ceilings: Record<string, number>): string => {
    const document = measured(ceilings);
    const plot = roofline(document, document.graphs[0], document.measures[0], () => undefined);
    return plot?.querySelector('figcaption')?.textContent ?? '';
  };
  assert.doesNotMatch(said({ flops: 1e12, bytes: 1e10 }), /caches/);
  assert.match(said({ flops: 1e12, bytes: 2e9 }), /above the slope has its data from caches/);
});

test('without ceilings there is no plot', () => {
  const document = measured();
  assert.equal(
    roofline(document, document.graphs[0], document.measures[0], () => undefined),
    null
  );
});
