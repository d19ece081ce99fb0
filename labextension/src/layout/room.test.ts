import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BOX_GAP } from './distances.ts';
import { grownToSides, inRowsThatGrow, makeRoom } from './room.ts';

const taken = (row: number[], half: number[]) => ({
  row: Int32Array.from(row),
  left: Float64Array.from(half),
  right: Float64Array.from(half)
});
const growth = (...grown: number[]) => ({ left: Float64Array.from(grown), right: Float64Array.from(grown) });

test('what stands in other rows makes way with what stands beside a box that has grown', () => {
  // In the first row three boxes, of which the middle one has grown by 100 to both sides; in the second row two.
  const before = Float64Array.of(0, 100, 200, 40, 190);
  const room = makeRoom(before, taken([0, 0, 0, 1, 1], [30, 130, 30, 30, 30]), growth(0, 100, 0, 0, 0));
  assert.ok(room[1] - room[0] >= 160 + BOX_GAP - 0.001 && room[2] - room[1] >= 160 + BOX_GAP - 0.001);
  assert.ok(room[4] > room[1] + 100, `${room[4]} has gone with ${room[2]}`);
});

test('where nothing is in the way nothing moves', () => {
  const before = Float64Array.of(100, -200, 500, 100);
  assert.deepEqual(makeRoom(before, taken([0, 0, 0, 1], [130, 30, 30, 30]), growth(30, 0, 0, 0)), before);
  const alone = makeRoom(before, taken([0, 1, 1, 2], [430, 30, 30, 30]), growth(400, 0, 0, 0));
  assert.deepEqual(alone, before);
});

test('what has grown may do so to one side, which leaves its other border where it was', () => {
  const before = Float64Array.of(0, 100, NaN);
  assert.deepEqual(
    grownToSides(before, growth(0, 40, 0)).map(places => [...places]),
    [
      [0, 60, NaN],
      [0, 140, NaN]
    ]
  );
  assert.deepEqual(grownToSides(before, growth(0, -40, 0)), []);
});

test('rows where nothing has grown may stay while the others have room', () => {
  // Two boxes side by side that have grown, and one below them.
  const before = Float64Array.of(100, 300, 250, NaN);
  const grown = growth(60, 60, 0, 0);
  const row = [0, 0, 1, 1];
  const room = makeRoom(before, taken(row, [120, 120, 200, 20]), grown);
  assert.ok(room[1] > 300 && room[2] > 250);
  assert.deepEqual(
    inRowsThatGrow(before, room, Int32Array.from(row), grown).map(places => [...places]),
    [[room[0], room[1], 250, NaN]]
  );
  // Nothing else than to make room, or not to, where all is in such rows or nothing is.
  assert.deepEqual(inRowsThatGrow(before, room, Int32Array.of(0, 0, 0, 0), grown), []);
  assert.deepEqual(inRowsThatGrow(before, room, Int32Array.from(row), growth(0, 0, 0, 0)), []);
});

test('boxes keep their order, and none moves further than all that has grown', () => {
  const box = fc.record({
    x: fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.constant(NaN)),
    row: fc.integer({ min: 0, max: 4 }),
    half: fc.integer({ min: 10, max: 200 }),
    grown: fc.oneof(fc.constant(0), fc.integer({ min: -300, max: 300 }))
  });
  fc.assert(
    fc.property(fc.array(box, { minLength: 1, maxLength: 30 }), boxes => {
      const before = Float64Array.from(boxes, ({ x }) => x);
      const grown = boxes.map(one => one.grown);
      const after = makeRoom(
        before,
        taken(
          boxes.map(({ row }) => row),
          boxes.map(({ half }) => half)
        ),
        growth(...grown)
      );
      const most = grown.reduce((sum, one) => sum + 2 * Math.max(0, one), 0);
      for (let a = 0; a < boxes.length; a++) {
        assert.equal(Number.isNaN(after[a]), Number.isNaN(before[a]));
        assert.ok(!(after[a] - before[a] > most + 0.001));
        for (let b = 0; b < boxes.length; b++) {
          assert.ok(!(before[a] <= before[b] && after[a] > after[b]));
        }
      }
    })
  );
});

test('ten thousand boxes that all grow are given room in a moment', () => {
  const boxes = Array.from({ length: 10_000 }, (_, i) => i);
  const before = Float64Array.from(boxes, i => (i % 100) * 100);
  const rows = boxes.map(i => Math.floor(i / 100));
  const began = process.cpuUsage();
  const after = makeRoom(
    before,
    taken(
      rows,
      boxes.map(() => 130)
    ),
    growth(...boxes.map(() => 90))
  );
  // µs of work, whatever else the machine does.
  assert.ok(process.cpuUsage(began).user < 1e6);
  assert.ok(after[99] - after[0] > 99 * 200);
});
