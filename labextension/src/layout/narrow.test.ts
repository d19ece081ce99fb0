import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pin } from './input.ts';
import { layout } from './layout.ts';
import { check, graph } from './layout.test.ts';

/** A box above two groups side by side, and a group that reads the second one alone. */
function update(width: number): ReturnType<typeof graph> {
  const side = { group: true, pin: Pin.ordered, width: 200 };
  const boxes = [{}, side, { parent: 1 }, side, { parent: 3 }, { group: true, width }, { parent: 5 }];
  const edges: [number, number][] = [
    [0, 2],
    [0, 4],
    [3, 6]
  ];
  return graph(boxes, edges);
}

test('what reads one of two groups that stand side by side stands below that one', () => {
  const input = update(100);
  const out = layout(input);
  check(input, out);
  assert.equal(out.x[5] + out.width[5] / 2, out.x[3] + out.width[3] / 2);
});

test('what is wider than the group above it keeps within the width of both', () => {
  const input = update(350);
  const out = layout(input);
  check(input, out);
  assert(out.y[5] > out.y[3]);
  assert(out.x[5] + out.width[5] <= out.x[3] + out.width[3] + 0.2, `${out.x[5]} ${out.x[3]}`);
});

test('of groups in program order one that no edge joins to anything stands beside the other', () => {
  const side = { group: true, pin: Pin.ordered, width: 200 };
  const others = [{ group: true }, { parent: 5 }, { group: true }, { parent: 7 }];
  const input = graph(
    [{ pin: Pin.top }, side, { parent: 1 }, side, { parent: 3 }, ...others],
    [
      [0, 6],
      [4, 8],
      [6, 8]
    ]
  );
  const out = layout(input);
  check(input, out);
  assert.ok(out.x[1] + out.width[1] <= out.x[3], `${out.x[1]} ${out.x[3]}`);
  assert.ok(out.x[5] >= out.x[3] + out.width[3] || out.x[5] + out.width[5] <= out.x[1], `${out.x[5]} ${out.x[3]}`);
});

test('of groups in program order each that is joined to others is high up in its own part', () => {
  const side = { group: true, pin: Pin.ordered, width: 200 };
  // What the first group gives leaves the frame around both; what the second gives is read in there.
  const inside = [{ ...side, parent: 0 }, { parent: 1 }, { ...side, parent: 0 }, { parent: 3 }, { parent: 0 }];
  const input = graph(
    [{ group: true }, ...inside, {}],
    [
      [2, 6],
      [4, 5]
    ]
  );
  const out = layout(input);
  check(input, out);
  assert.equal(out.y[1], out.y[3]);
});
