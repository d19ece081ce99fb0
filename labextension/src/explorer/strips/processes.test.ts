import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain, DocumentError } from '../../document/decode.ts';
import type { Document, Process } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { processesStrip } from './processes.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

function process(index: number, computing: number, waiting: number, change: Partial<Process> = {}): Process {
  return {
    index,
    count: 40,
    host: 'host',
    device: 'CPU',
    devices: 2,
    began: 1,
    seconds: 1,
    versions: {},
    compiled: { name: ['step'], call: ['step()'], print: ['a'], trace: [0.1], lower: [0.1], compile: [0.3] },
    runs: {
      program: ['step', 'step'],
      device: [0, 1],
      runs: [9, 9],
      computing: [computing, computing],
      waiting: [waiting, waiting],
      between: [0, 0]
    },
    notes: [],
    ...change
  };
}

function withProcesses(...processes: Process[]): Document {
  const plain = affine().plain();
  plain.processes = processes as typeof plain.processes;
  return decodePlain(plain);
}

test('each process has a bar of what it computes and what it waits for others', () => {
  const root = processesStrip(withProcesses(process(0, 0.001, 0.003), process(1, 0.004, 0)));
  assert.match(root.textContent ?? '', /processes: 2 processes on 1 host/);
  const rows = [...root.querySelectorAll('.jv-process-row[aria-label]')];
  assert.deepEqual(
    rows.map(row => row.getAttribute('aria-label')),
    [
      'process 0: computes 1 ms, waits for others 3 ms, between two runs 0 s',
      'process 1: computes 4 ms, waits for others 0 s, between two runs 0 s'
    ]
  );
  const widths = [...rows[0].querySelectorAll<HTMLElement>('.jv-process-part')].map(part => part.style.width);
  assert.deepEqual(widths, ['25%', '75%', '0%']);
  assert.match(root.textContent ?? '', /process 1 on host, 2 x CPU: compiled 1 program in 500 ms/);
});

test('of a process that did not finish it is said when it was last seen', () => {
  const root = processesStrip(withProcesses(process(0, 1, 0), process(1, 1, 0, { began: 100, seen: 134 })));
  const said = [...root.querySelectorAll('.jv-run-words li')].map(item => item.textContent);
  assert.doesNotMatch(said[0] ?? '', /did not finish/);
  assert.match(said[1] ?? '', /compiled 1 program in 500 ms; did not finish: last seen 34 s after it began$/);
});

test('of many processes, those that wait least and most have a bar', () => {
  const many = Array.from({ length: 40 }, (_, index) => process(index, 0.001, 0.001 * index));
  const root = processesStrip(withProcesses(...many));
  const shown = [...root.querySelectorAll('.jv-process-row code')].map(code => code.textContent);
  assert.equal(shown.length, 16);
  assert.deepEqual([shown[0], shown[7], shown[8], shown[15]], ['process 0', 'process 7', 'process 32', 'process 39']);
});

test('without processes there is nothing, and what does not fit is no document', () => {
  assert.equal(processesStrip(decodePlain(affine().plain())).hidden, true);
  assert.throws(() => withProcesses(process(41, 1, 1)), DocumentError);
  const { runs } = process(0, 1, 1);
  assert.throws(() => withProcesses(process(0, 1, 1, { runs: { ...runs, waiting: [1] } })), DocumentError);
});
