import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATE_GAP, ROW_GAP, ROW_GAP_MOST, ROW_GAP_SIDEWAYS } from './distances.ts';
import { makeProper } from './proper.ts';
import { keepGaps, rowGaps, rowTops } from './rows.ts';

const heights = [22, 40, 22];

/** Gaps of three boxes, one below the other, of which the last stands `sideways`. */
function gapsOf(sideways: number): Float64Array {
  const proper = makeProper(Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Int32Array.of(1, 2));
  const zero = new Float64Array(3);
  const extents = { left: zero, right: zero, upperOffset: zero, lowerOffset: zero };
  return rowGaps(proper, Float64Array.of(0, 0, sideways), extents, heights);
}

test('rows stand further apart where edges run far sideways, up to a limit', () => {
  assert.deepEqual([...gapsOf(100)], [ROW_GAP, ROW_GAP + 100 * ROW_GAP_SIDEWAYS]);
  assert.deepEqual([...gapsOf(5000)], [ROW_GAP, ROW_GAP_MOST]);
  assert.deepEqual([...rowTops(heights, gapsOf(5000))], [0, 22 + ROW_GAP, 22 + ROW_GAP + 40 + ROW_GAP_MOST]);
});

test('below a border of a group, edges that cross have as much room as between rows', () => {
  // Two gates over two boxes, each joined to both or straight to its own.
  const gap = (from: number[], to: number[]): number => {
    const proper = makeProper(Int32Array.of(0, 0, 1, 1), Int32Array.from(from), Int32Array.from(to));
    const zero = new Float64Array(4);
    const extents = { left: zero, right: zero, upperOffset: zero, lowerOffset: zero };
    return rowGaps(proper, Float64Array.of(0, 100, 0, 100), extents, [0, 22])[0];
  };
  assert.equal(gap([0, 0, 1, 1], [2, 3, 2, 3]), ROW_GAP + 100 * ROW_GAP_SIDEWAYS);
  assert.equal(gap([0, 1], [2, 3]), GATE_GAP);
  assert.equal(gap([0, 0], [2, 3]), GATE_GAP + 100 * ROW_GAP_SIDEWAYS);
});

test('a gap stays as it was, whether more or less would be wanted, unless edges would lie flat', () => {
  const rank = Int32Array.of(0, 1, 2);
  const was = (gap: number): Float64Array =>
    keepGaps(gapsOf(5000), rank, { above: Float64Array.of(NaN, 30, gap), below: Float64Array.of(30, gap, NaN) });
  assert.deepEqual([...was(ROW_GAP)], [30, ROW_GAP]);
  assert.ok(was(2)[1] > 2 && was(2)[1] < ROW_GAP);
});

test('a gap beside a new row has what was next to the other row, and one between new rows what its edges want', () => {
  const known = { above: Float64Array.of(NaN, NaN, NaN), below: Float64Array.of(17, NaN, NaN) };
  assert.deepEqual([...keepGaps(gapsOf(5000), Int32Array.of(0, 1, 2), known)], [17, ROW_GAP_MOST]);
});
