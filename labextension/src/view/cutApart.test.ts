import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutApart } from './cutApart.ts';
import { cut } from './label.ts';

const apart = (names: readonly string[], most: number): string[] =>
  cutApart(
    names,
    names.map(name => cut(name, most))
  );

test('names that are cut to the same letters say what tells them apart', () => {
  assert.deepEqual(apart(['encoderdecoderblock', 'encoderdecoder_norm', 'encoderdecoderblock'], 12), [
    'encode…block',
    'encode…_norm',
    'encode…block'
  ]);
  assert.deepEqual(apart(['attention_query_projection', 'attention_query_rotation', 'attention'], 12), [
    'att…project…',
    'att…rotation',
    'attention'
  ]);
});

test('a name that others begin with keeps its beginning', () => {
  assert.deepEqual(apart(['encoder_layer_norm', 'encoder_layer_norm_out'], 12), ['encoder_lay…', 'encoder…_out']);
});

test('other names, and statements, are cut as ever', () => {
  assert.deepEqual(apart(['encoderdecoderblock', 'encoderdecoderblock'], 12), ['encoderdeco…', 'encoderdeco…']);
  const statements = ['total = first + second', 'total = first + third'];
  assert.deepEqual(
    apart(statements, 12),
    statements.map(name => cut(name, 12))
  );
});
