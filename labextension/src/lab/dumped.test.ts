import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DUMPED } from './dumped.ts';

const opens = (name: string): boolean => new RegExp(DUMPED).test(name);

test('states of a module open, as each device has them named', () => {
  assert.ok(opens('module_0001.jit_f.cpu_after_optimizations.txt'));
  assert.ok(opens('module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt'));
  assert.ok(opens('module_0000.jit_f.cl_933746096.after_optimizations.txt'));
  assert.ok(opens('1732.module_0001.jit_f.before_optimizations.txt'));
  assert.ok(opens('module_0001.jit_f.0006.simplification.after_algsimp.before_simplify-sorts.txt'));
});

test('what is said about a module is text for the editor, whichever the device', () => {
  for (const device of ['cpu_', 'sm_9.0a_gpu_', 'cl_933746096.']) {
    for (const about of ['buffer-assignment', 'buffer-assignment-values', 'live-range', 'memory-usage-report']) {
      assert.ok(!opens(`module_0001.jit_f.${device}after_optimizations-${about}.txt`));
    }
  }
  assert.ok(!opens('module_0001.jit_f.thunk_sequence.txt'));
});
