import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { cutApart } from './cutApart.ts';
import { Brevity } from './folds.ts';
import { cut } from './label.ts';
import { show } from './view.ts';

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

test('names that are the same are cut as ever', () => {
  assert.deepEqual(apart(['encoderdecoderblock', 'encoderdecoderblock'], 12), ['encoderdeco…', 'encoderdeco…']);
});

test('statements that are cut to the same letters say how they begin and where they differ', () => {
  assert.deepEqual(apart(['x = params["weights_of_query"] @ x', 'x = params["weights_of_key"] @ x'], 22), [
    'x = params…query"] @ x',
    'x = params["…key"] @ x'
  ]);
  assert.deepEqual(apart(['total = first + second', 'total = first + third'], 12), ['total…second', 'total …third']);
});

test('so the boxes of a picture say it', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (const name of ['encoderdecoderblock', 'encoderdecoder_norm']) {
    const given = value;
    value = sketch.op('jit', [given], 'f32[4]', {}, name);
    const made = value;
    sketch.region(sketch.last, 'jit', name, () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: given });
      sketch.result('', sketch.op('sin', [sketch.op('cos', [inner], 'f32[4]')], 'f32[4]'), { kind: 'leave', to: made });
    });
  }
  const document = decodePlain(sketch.plain());
  const { label } = show(document, document.graphs[0], { open: new Set(), brevity: Brevity.shortest });
  assert.deepEqual(
    label.filter(one => one.startsWith('encode')),
    ['encode…block', 'encode…_norm']
  );
});
