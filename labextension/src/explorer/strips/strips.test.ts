import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine } from '../../document/sketch.ts';
import { measuredStrips } from './strips.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

const ACTIONS = { show: () => undefined, follow: () => undefined, colour: () => undefined };
const run = (program: number, figures: object = {}): object => ({
  program,
  device: 'CPU',
  devices: 1,
  runs: 3,
  words: [`median ${program + 1} ms`],
  seconds: { median: 0.001 },
  figures
});

function titles(programs: number, measured: readonly number[]): (string | null)[] {
  const plain = affine().plain();
  const [program] = plain.programs;
  plain.programs = Array.from({ length: programs }, (_, index) => ({
    ...program,
    name: `f${index}`
  })) as typeof plain.programs;
  plain.measures = measured.map(program => run(program)) as typeof plain.measures;
  return measuredStrips(decodePlain(plain), ACTIONS)
    .filter(strip => !strip.hidden)
    .map(strip => strip.querySelector('.jv-finding-title')?.textContent ?? null);
}

test('each program that was run has a line, named where there are several', () => {
  assert.deepEqual(titles(1, [0]), ['run: median 1 ms']);
  assert.deepEqual(titles(2, [0, 1]), ['run of f0: median 1 ms', 'run of f1: median 2 ms']);
  assert.deepEqual(titles(2, [1]), ['run of f1: median 2 ms']);
});

test('of many programs only some have a line, and nothing is shown where nothing was measured', () => {
  assert.equal(titles(9, [0, 1, 2, 3, 4, 5, 6, 7, 8]).length, 4);
  assert.deepEqual(titles(1, []), []);
});

test('a value that is no number is told before how long it took', () => {
  const plain = affine().plain();
  plain.measures = [run(0)] as typeof plain.measures;
  const numbers = { least: [0], most: [0], mean: [0], deviation: [0], histogram: [[]] };
  const counts = { count: [4], nan: [4], infinite: [0], zero: [0], denormal: [0] };
  plain.values = [{ program: 0, bad: 5, bytes: 16, node: [5], ...numbers, ...counts }];
  const said = (): (string | undefined)[] =>
    measuredStrips(decodePlain(plain), ACTIONS)
      .filter(strip => !strip.hidden)
      .map(strip => strip.querySelector('.jv-finding-title')?.textContent?.split(':')[0]);
  assert.deepEqual(said(), ['values', 'run']);
  plain.values = [{ ...plain.values[0], bad: -1, nan: [0], histogram: [[4]] }];
  assert.deepEqual(said(), ['run', 'values']);
});

test('of several devices, each has a bar of what it computes and waits', () => {
  const plain = affine().plain();
  const byDevice = { device: [0, 1], computing: [0.001, 0.003], waiting: [0.002, 0] };
  plain.measures = [{ ...run(0), byDevice }] as typeof plain.measures;
  const [strip] = measuredStrips(decodePlain(plain), ACTIONS);
  const rows = [...strip.querySelectorAll('.jv-process-row[aria-label]')];
  assert.deepEqual(
    rows.map(row => row.getAttribute('aria-label')),
    ['device 0: computes 1 ms, waits for others 2 ms', 'device 1: computes 3 ms, waits for others 0 s']
  );
});

/** `affine` as a profile has it: compiled, from lines of two files of which one has its text. */
function profiled(): ReturnType<typeof decodePlain> {
  const plain = affine().plain();
  const strings = plain.strings as string[];
  const string = (text: string): number => strings.push(text) - 1;
  const [here, away] = [string('here.py'), string('away.py')];
  plain.files = {
    path: [here, away],
    label: [here, away],
    library: [0, 0],
    start: [3, 0],
    text: [string('    return w @ x'), 0]
  };
  const place = { line: [3, 8], column: [0, 0], endLine: [3, 8], endColumn: [1, 1] };
  plain.frames = { file: [0, 1], function: [here, away], ...place };
  plain.stacks = { frame: [0, 1], parent: [-1, -1] };
  plain.graphs[0].nodes.stack = [-1, -1, -1, 0, 1, 1, -1];
  plain.programs[0].stages[0].kind = 'hlo';
  const figures = { hlo: { node: [3, 4, 5], seconds: [0.002, 0.004, 0.001] } };
  plain.measures = [run(0, figures)] as typeof plain.measures;
  return decodePlain(plain);
}

test('of what was compiled alone the slowest lines are listed too, without its text by file and number', () => {
  const shown: [number, readonly number[]][] = [];
  const actions = { ...ACTIONS, show: (graph: number, nodes: readonly number[]) => void shown.push([graph, nodes]) };
  const [strip] = measuredStrips(profiled(), actions);
  const rows = [...strip.querySelectorAll('button.jv-run-line')] as HTMLElement[];
  assert.deepEqual(
    rows.map(row => [...row.querySelectorAll('code, .jv-run-time')].map(one => one.textContent)),
    [
      ['away.py:8', '5 ms'],
      ['3  return w @ x', '2 ms']
    ]
  );
  rows[0].click();
  assert.deepEqual(shown, [[0, [4, 5]]]);
});
