import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked } from './signature.ts';

const told = (call: string, before: readonly string[]): string =>
  marked(call, before)
    .map(({ text, differs }) => (differs ? `<${text}>` : text))
    .join('');

test('what is another than in the nearest call before is marked', () => {
  const first = 'step(params, f32[32,784], i32[32])';
  assert.equal(told(first, []), first);
  assert.equal(told('step(params, f32[17,784], i32[17])', [first]), 'step(params, f32[<17>,784], i32[<17>])');
  assert.equal(
    told('step(params, f32[32,784], i32[32], lr=0.05)', [first, 'step(params, f32[17,784], i32[17])']),
    'step(params, f32[32,784], i32[32]<, lr=0.05>)'
  );
});

test('the nearest is meant, and of those as near the last', () => {
  assert.equal(told('f(f32[4], f32[8])', ['f(f32[4], f32[9])', 'f(i32[1], f32[2])']), 'f(f32[4], f32[<8>])');
  assert.equal(told('f(f32[4])', ['f(f32[5])', 'f(f16[4])']), 'f(<f32>[4])');
});

test('calls that are alike, or have nothing alike, have no marks', () => {
  assert.equal(told('f(x)', ['f(x)']), 'f(x)');
  assert.equal(told('f', ['g']), 'f');
  // One was typed, the other is made of types.
  assert.equal(told('f(w, x)', ['f(f32[5], f32[4])']), 'f(w, x)');
  assert.equal(told('f(w, 3)', ['f(f32[5], f32[4])', 'f(w, 2)']), 'f(w, <3>)');
  // What came before the same call tells more than that call.
  assert.equal(told('f(f32[4])', ['f(f32[5])', 'f(f32[4])']), 'f(f32[<4>])');
});
