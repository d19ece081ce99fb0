/** What is left of a line on progress goes, and nothing else moves that a kernel may display again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removePassed } from './passedOutputs.ts';

const line = { output_type: 'display_data', data: {}, metadata: { jaxviz: 'passed' } };
const plot = { output_type: 'display_data', data: { 'text/plain': 'a plot' }, metadata: {} };
const printed = { output_type: 'stream', name: 'stdout', text: 'done' };
const result = { output_type: 'execute_result', data: { 'text/plain': '<Run>' }, metadata: {} };

/** What stays of some outputs, and how often they were made anew. */
function left(outputs: { output_type: string }[]): [unknown[], number] {
  let anew = 0;
  removePassed({ toJSON: () => [...outputs], fromJSON: kept => void ((outputs = kept), anew++) });
  return [outputs, anew];
}

test('a line that has passed is removed, and all else stays in order', () => {
  assert.deepEqual(left([printed, line, printed, result, line]), [[printed, printed, result], 1]);
  assert.deepEqual(left([plot, line, result]), [[plot, result], 1]);
});

test('what may be displayed again keeps its place', () => {
  assert.deepEqual(left([line, plot, line]), [[line, plot], 1]);
});

test('outputs without such a line are not made anew', () => {
  assert.deepEqual(left([plot, printed, result]), [[plot, printed, result], 0]);
  assert.deepEqual(left([]), [[], 0]);
});
