import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import { comparedTable } from './comparedTable.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

const run = (program: number, median: number, compile: number): object => ({
  program,
  device: 'CPU',
  devices: 1,
  runs: 3,
  words: [],
  seconds: { median, compile },
  figures: {}
});

function lines(table: HTMLElement): (string | null)[] {
  return [...table.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent).join('|'));
}

test('two programs are told in figures, and which is better at what', () => {
  const plain = pair();
  const [one, other] = plain.programs;
  one.stages[0].seconds = { trace: 0.21 };
  other.stages[0].seconds = { trace: 0.0031 };
  // As of a stage of its own.
  for (const [program, lower] of [
    [one, 0.014],
    [other, 0.02]
  ] as const) {
    const [stage] = program.stages;
    program.stages = [stage, { ...stage, kind: 'stablehlo', seconds: { lower } }];
  }
  plain.measures = [run(0, 1.4e-6, 0.34), run(1, 3.9e-6, 0.35)] as typeof plain.measures;
  const table = comparedTable(decodePlain(plain));
  assert.deepEqual(lines(table), [
    '|affine|other|',
    'equations|3|3|equal',
    'trace|210 ms|3.1 ms|68x faster, measured once',
    'lower|14 ms|20 ms|about the same',
    'compile|340 ms|350 ms|about the same',
    'run, median|1.4 µs|3.9 µs|2.8x slower'
  ]);
  assert.deepEqual(
    [...table.querySelectorAll('.jv-verdict')].map(({ className }) => className.replace('jv-verdict', '').trim()),
    ['', 'jv-better', '', '', 'jv-worse']
  );
});

test('what is known of one program alone is not compared, and one program has no table', () => {
  const plain = pair();
  plain.measures = [run(0, 1e-6, 0.3)] as typeof plain.measures;
  assert.deepEqual(lines(comparedTable(decodePlain(plain))), ['|affine|other|', 'equations|3|3|equal']);
  assert.ok(comparedTable(decodePlain(affine().plain())).hidden);
});

test('exchanges between devices are counted, and not told of where neither has any', () => {
  const plain = pair();
  const named = (...names: string[]): void => {
    plain.graphs.forEach(({ nodes }, graph) => {
      nodes.op[2] = plain.strings.push(names[graph]) - 1;
    });
  };
  for (const [graph, { stages }] of plain.programs.entries()) {
    stages[0] = { ...stages[0], kind: 'hlo', graph };
  }
  const told = (): string[] =>
    lines(comparedTable(decodePlain(plain))).filter(line => line?.includes('devices')) as string[];
  assert.deepEqual(told(), []);
  named('all-reduce-start', 'all-reduce-done');
  assert.deepEqual(told(), ['exchanges between devices|1|0|fewer']);
});

test('what the kernels of both compute and move is compared by their shapes', () => {
  const plain = pair();
  for (const program of plain.programs) {
    const [stage] = program.stages;
    program.stages = [stage, { ...stage, kind: 'hlo' }];
  }
  assert.deepEqual(lines(comparedTable(decodePlain(plain))).slice(2), [
    'kernels|3|3|equal',
    'FLOPs|72 FLOP|72 FLOP|equal',
    'read and written|256 B|256 B|equal'
  ]);
});
