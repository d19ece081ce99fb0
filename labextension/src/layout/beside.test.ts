import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comeNear, type Taken } from './beside.ts';
import { LANE_GAP } from './distances.ts';
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';

const point = (x: number): Taken => [x, x];

test('what stands beside all boxes comes near to them, and all keeps its order', () => {
  const near = comeNear([[400, 500], [600, 640], point(0), point(20), point(395), point(450), point(900), point(905)]);
  assert.deepEqual([400, 500, 600, 640, 450].map(near), [400, 500, 600, 640, 450]);
  assert.deepEqual([395, 20, 0].map(near), [395, 395 - LANE_GAP, 395 - 2 * LANE_GAP]);
  assert.deepEqual([900, 905].map(near), [640 + LANE_GAP, 640 + LANE_GAP + 5]);
});

test('where no box stands, all stays', () => {
  assert.deepEqual([0, 900].map(comeNear([point(0), point(900)])), [0, 900]);
});

test('a column is no wider for an edge that comes from far in the column before', () => {
  // Beside a chain stands a wide box, and beyond that one more, which the end of the chain reads.
  const [count, alone, wide, chain] = [123, 1, 2, 3];
  const edges = Array.from({ length: count - 1 }, (_, i) => [Math.max(0, i < chain ? 0 : i), i + 1]);
  edges.push([alone, count - 1]);
  const input: LayoutInput = {
    parent: new Int32Array(count).fill(-1),
    width: Float64Array.from({ length: count }, (_, box) => (box === wide ? 700 : 80)),
    height: new Float64Array(count).fill(22),
    left: new Float64Array(count),
    right: new Float64Array(count),
    group: new Uint8Array(count),
    pin: new Uint8Array(count),
    source: Int32Array.from(edges, ([from]) => from),
    target: Int32Array.from(edges, ([, to]) => to),
    sourcePort: new Int32Array(edges.length),
    targetPort: Int32Array.from(edges, (_, edge) => (edge === edges.length - 1 ? 1 : 0)),
    aspect: 1.6
  };
  const { x, column, totalWidth } = layout(input);
  assert.ok(Math.max(...column) > 1);
  const first = x.reduce((most, left, box) => (column[box] === 0 ? Math.max(most, left + input.width[box]) : most), 0);
  assert.ok(totalWidth - first < 200 * Math.max(...column), `${totalWidth} px, of which ${first} in the first column`);
});
