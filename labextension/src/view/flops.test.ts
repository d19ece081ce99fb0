import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch } from '../document/sketch.ts';
import { figuredOf, wholeOf } from './measures.ts';
import { flopsOf } from './flops.ts';

/** What one operation computes by its operands, its result and what else is said of it. */
function flops(op: string, read: readonly string[], made: string, said: Readonly<Record<string, string>> = {}): number {
  const sketch = new Sketch();
  const operands = read.map((type, i) => sketch.argument(`x${i}`, type));
  sketch.op(op, operands, made, said);
  const document = decodePlain(sketch.plain());
  return flopsOf(document, document.graphs[0])[read.length];
}

const SIDES = ['f32[4,8,16]', 'f32[4,16,32]'] as const;

test('a product is the same in each form of the program', () => {
  const forms = [
    ['dot_general', { dimension_numbers: '(((2,), (1,)), ((0,), (0,)))' }],
    ['dot_general', { dot_dimension_numbers: 'lhs_batching_dimensions = [0], lhs_contracting_dimensions = [2]' }],
    ['dot', { lhs_batch_dims: '{0}', lhs_contracting_dims: '{2}' }],
    ['custom-call', { custom_call_target: '__onednn$matmul' }]
  ] as const;
  for (const [op, said] of forms) {
    assert.equal(flops(op, SIDES, 'f32[4,8,32]', said), 2 * 4 * 8 * 32 * 16, op);
  }
  assert.equal(flops('custom-call', SIDES, 'f32[4,8,32]', { custom_call_target: 'mine' }), 0);
});

test('a convolution counts the pairs that meet, and none in the padding', () => {
  const spec = '(0, 1, 2, 3)';
  const forms = [
    [
      'conv_general_dilated',
      {
        dimension_numbers: `ConvDimensionNumbers(lhs_spec=${spec}, rhs_spec=${spec}, out_spec=${spec})`,
        window_strides: '(1, 1)',
        padding: '((1, 1), (1, 1))',
        lhs_dilation: '(1, 1)',
        rhs_dilation: '(1, 1)'
      }
    ],
    [
      'convolution',
      {
        dimension_numbers: '[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]',
        window_strides: '1, 1',
        padding: '[[1, 1], [1, 1]]'
      }
    ],
    ['convolution', { dim_labels: 'bf01_oi01->bf01', window: '{size=3x3 pad=1_1x1_1}' }]
  ] as const;
  // Of five places, the window of three meets two at each border and three elsewhere, in each direction.
  const pairs = 2 + 3 + 3 + 3 + 2;
  for (const [op, said] of forms) {
    assert.equal(flops(op, ['f32[2,3,5,5]', 'f32[8,3,3,3]'], 'f32[2,8,5,5]', said), 2 * pairs * pairs * 3 * 8 * 2);
  }
});

test('between the numbers of an image that is drawn apart a convolution meets nothing', () => {
  const of = (window: string, result: number): number =>
    flops('convolution', ['f32[1,1,4]', 'f32[1,1,3]'], `f32[1,1,${result}]`, { dim_labels: 'bf0_oi0->bf0', window });
  // The four numbers lie at 0, 2, 4 and 6.
  assert.equal(of('{size=3 lhs_dilate=2}', 5), 2 * (2 + 1 + 2 + 1 + 2));
  assert.equal(of('{size=3 stride=2 lhs_dilate=2}', 3), 2 * (2 + 2 + 2));
  assert.equal(of('{size=3 stride=3 lhs_dilate=2}', 2), 2 * (2 + 1));
  assert.equal(of('{size=2 rhs_dilate=3 pad=0_0}', 1), 2 * 2);
});

test('what only moves or names values computes nothing, and any function of a number is one operation', () => {
  for (const op of ['reshape', 'transpose', 'broadcast_in_dim', 'copy', 'convert_element_type', 'jit', 'unheard_of']) {
    assert.equal(flops(op, ['f32[4,8]'], 'f32[4,8]'), 0, op);
  }
  for (const op of ['add', 'tanh', 'exponential-minus-one', 'select_n']) {
    assert.equal(flops(op, ['f32[4,8]'], 'f32[4,8]'), 32, op);
  }
});

test('a reduction adds what it reads to what it makes, whether its body is told by a name or not', () => {
  assert.equal(flops('reduce_sum', ['f32[4,8]'], 'f32[4]'), 28);
  assert.equal(flops('reduce', ['f32[4,8]', 'f32[]'], 'f32[4]', { to_apply: 'add' }), 28);
  assert.equal(flops('reduce_window_max', ['f32[4,8]'], 'f32[2,4]', { window_dimensions: '(2, 2)' }), 8 * 3);
  assert.equal(flops('reduce-window', ['f32[4,8]', 'f32[]'], 'f32[2,4]', { window: '{size=2x2}' }), 8 * 3);
  assert.equal(flops('scatter-add', ['f32[9]', 's32[3,1]', 'f32[3]'], 'f32[9]'), 3);
  assert.equal(flops('scatter', ['f32[9]', 's32[3,1]', 'f32[3]'], 'f32[9]'), 0, 'which only writes');
});

test('a body that is applied counts at what applies it, as often', () => {
  const sketch = new Sketch();
  const [x, zero] = [sketch.argument('x', 'f32[4,8]'), sketch.argument('zero', 'f32[]')];
  const made = sketch.op('reduce', [x, zero], 'f32[4]');
  sketch.region(sketch.last, 'reducer', 'both', () => {
    const [a, b] = [sketch.argument('a', 'f32[]'), sketch.argument('b', 'f32[]')];
    sketch.result('', sketch.op('multiply', [sketch.op('add', [a, b], 'f32[]'), b], 'f32[]'));
  });
  sketch.result('result', made);
  const document = decodePlain(sketch.plain());
  const counted = flopsOf(document, document.graphs[0]);
  assert.equal(counted[2], 2 * 28);
  assert.equal(
    counted.reduce((sum, one) => sum + one, 0),
    2 * 28
  );
});

test('what is in a loop, and in a kernel for each place of its grid, counts with all its turns', () => {
  for (const [op, kind, said] of [
    ['scan', 'scan', { length: '7' }],
    ['pallas_call', 'pallas_call', { grid_mapping: 'GridMapping(grid=(7, 1), block_mappings=())' }],
    ['while', 'while body', { known_trip_count: '7' }]
  ] as const) {
    const sketch = new Sketch();
    sketch.op(op, [sketch.argument('x', 'f32[4]')], 'f32[4]', said);
    sketch.region(sketch.last, kind, 'body', () => {
      sketch.result('', sketch.op('sin', [sketch.argument('y', 'f32[4]')], 'f32[4]'));
    });
    const document = decodePlain(sketch.plain());
    const figured = figuredOf(document, document.graphs[0], 'flops');
    assert.equal(figured && wholeOf(figured, 'flops'), 28, op);
  }
});

test('a convolution as long as a signal is counted without looking at every pair', () => {
  const said = { dim_labels: 'bf0_oi0->bf0', window: `{size=${1 << 20} pad=${(1 << 20) - 1}_0}` };
  const size = 1 << 20;
  assert.equal(
    flops('convolution', [`f32[1,1,${size}]`, `f32[1,1,${size}]`], `f32[1,1,${size}]`, said),
    size * (size + 1)
  );
});
