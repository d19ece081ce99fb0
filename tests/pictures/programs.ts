/**
 * A small program for each thing that a picture can show. What is drawn of it lies beside this file as SVG, by the same
 * name; a test compares the two, and `jlpm pictures` draws all anew.
 */
import { decodePlain } from '../../labextension/src/document/decode.ts';
import type { Fates } from '../../labextension/src/document/schema.generated.ts';
import { affine, condition, loop, Sketch } from '../../labextension/src/document/sketch.ts';
import { makeScene } from '../../labextension/src/draw/scene.ts';
import { toSvg } from '../../labextension/src/draw/svg.ts';
import { measure } from '../../labextension/src/draw/text.ts';
import type { Theme } from '../../labextension/src/draw/theme.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import { toLayout } from '../../labextension/src/view/place.ts';
import { show } from '../../labextension/src/view/view.ts';
import type { VisibleGraph } from '../../labextension/src/view/visible.ts';

export interface Program {
  readonly sketch: () => Sketch;
  /** Rows that are open. */
  readonly open?: readonly number[];
  readonly theme?: Theme | 'auto';
  /** What became of each node: numbers of the schema. */
  readonly fates?: readonly number[];
  /** Changes what is visible, for what only an outline gives. */
  readonly change?: (visible: VisibleGraph) => Partial<VisibleGraph>;
  /** Width through height that long parts are folded to. */
  readonly aspect?: number;
}

export function draw({ sketch, open, theme, fates, change, aspect }: Program): string {
  const plain = sketch().plain();
  if (fates) {
    const none = fates.map(() => 0);
    Object.assign(plain, { fates: [{ graph: 0, kind: [...fates], where: none, by: none } as unknown as Fates] });
  }
  const document = decodePlain(plain);
  const seen = show(document, document.graphs[0], { open: new Set(open) });
  const visible = { ...seen, ...change?.(seen) };
  const scene = makeScene(visible, layout({ ...toLayout(visible, measure), aspect }));
  return toSvg(scene, { theme: theme ?? 'light', title: plain.programs[0].call, description: 'a stored picture' });
}

/** Operations one after the other. */
function chain(ops: readonly string[], type = 'f32[4]'): Sketch {
  const sketch = new Sketch();
  let value = sketch.argument('x', type);
  for (const op of ops) {
    value = sketch.op(op, [value], type);
  }
  sketch.result('result', value);
  return sketch;
}

/** A call, with a body that `fill` writes: it is given the argument inside and gives what is returned. */
function call(sketch: Sketch, op: string, name: string, reads: number, fill: (inner: number) => number): number {
  const out = sketch.op(op, [reads], 'f32[4]');
  sketch.region(sketch.last, op, name, () => {
    const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: reads });
    sketch.result('', fill(inner), { kind: 'leave', to: out });
  });
  return out;
}

function nested(depth: number): Sketch {
  const sketch = new Sketch();
  const go = (value: number, level: number): number =>
    level === 0
      ? sketch.op('tanh', [value], 'f32[4]')
      : call(sketch, 'jit', `level${level}`, value, inner =>
          sketch.op('neg', [go(sketch.op('sin', [inner], 'f32[4]'), level - 1)], 'f32[4]')
        );
  sketch.result('result', go(sketch.argument('x', 'f32[4]'), depth));
  return sketch;
}

/** A choice of one of many branches. */
function manyBranches(count: number): Sketch {
  const sketch = new Sketch();
  const which = sketch.argument('which', 'i32[]');
  const x = sketch.argument('x', 'f32[4]');
  const y = sketch.op('cond', [sketch.op('clamp', [which], 'i32[]'), x], 'f32[4]');
  const owner = sketch.last;
  for (let branch = 0; branch < count; branch++) {
    sketch.region(owner, 'branch', `case ${branch}`, () => {
      const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: x });
      const value = sketch.op('mul', [sketch.op('sin', [inner], 'f32[4]'), inner], 'f32[4]');
      sketch.result('', value, { kind: 'leave', to: y });
    });
  }
  sketch.result('result', y);
  return sketch;
}

function whileLoop(): Sketch {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[]');
  const y = sketch.op('while', [x], 'f32[]');
  const owner = sketch.last;
  sketch.region(owner, 'while cond', 'unsettled', () => {
    const carried = sketch.argument('', 'f32[]', { kind: 'init', from: x });
    sketch.result('', sketch.op('lt', [carried, '1000.0'], 'bool[]'));
  });
  sketch.region(owner, 'while body', 'body', () => {
    const carried = sketch.argument('', 'f32[]', { kind: 'init', from: x });
    const first = sketch.last;
    const next = sketch.result('', sketch.op('mul', [carried, '2.0'], 'f32[]'), { kind: 'leave', to: y });
    sketch.bind('carry', next, first);
  });
  sketch.result('result', y);
  return sketch;
}

/** One value that `readers` operations read, whose results are added up. */
function fan(readers: number): Sketch {
  const sketch = new Sketch();
  const x = sketch.op('sin', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  const ops = ['cos', 'tan', 'exp', 'log', 'tanh'];
  const read = Array.from({ length: readers }, (_, i) => sketch.op(ops[i % ops.length], [x], 'f32[4]'));
  sketch.result('result', sketch.op('concatenate', read, `f32[${4 * readers}]`));
  return sketch;
}

/** Two strands that change sides, so that their edges must cross. */
function crossing(): Sketch {
  const sketch = new Sketch();
  const [a, b, c] = ['a', 'b', 'c'].map(name => sketch.op('neg', [sketch.argument(name, 'f32[4]')], 'f32[4]'));
  const d = sketch.op('sub', [a, c], 'f32[4]');
  const e = sketch.op('sub', [b, a], 'f32[4]');
  const f = sketch.op('sub', [c, b], 'f32[4]');
  const g = sketch.op('select_n', [d, e, f], 'f32[4]');
  const h = sketch.op('select_n', [f, d, e], 'f32[4]');
  sketch.result('result[0]', g);
  sketch.result('result[1]', h);
  return sketch;
}

/** A residual: a value that is read far below. */
function skip(length: number): Sketch {
  const sketch = new Sketch();
  const x = sketch.op('sin', [sketch.argument('x', 'f32[4]')], 'f32[4]');
  let value = x;
  for (let i = 0; i < length; i++) {
    value = sketch.op(['mul', 'tanh'][i % 2], i % 2 ? [value] : [value, '0.5'], 'f32[4]');
  }
  sketch.result('result', sketch.op('add', [value, x], 'f32[4]'));
  return sketch;
}

/** A program whose boxes bear the given name. */
function named(name: string, type = 'f32[4]'): Sketch {
  const sketch = new Sketch(name);
  const x = sketch.argument(name, type);
  sketch.result('result', sketch.op('tanh', [sketch.op('add', [x, '1.0'], 'bf16[4]', {}, name)], 'f32[4]'));
  return sketch;
}

function islands(): Sketch {
  const sketch = new Sketch();
  for (const [name, op] of [
    ['a', 'sin'],
    ['b', 'cos'],
    ['c', 'exp']
  ]) {
    sketch.result(`result.${name}`, sketch.op(op, [sketch.argument(name, 'f32[4]')], 'f32[4]'));
  }
  return sketch;
}

/** Two calls that mirror each other, as the phases of a gradient do; what follows them reads what the second gives. */
function phases(update: string[] = []): Sketch {
  const sketch = new Sketch('step');
  const x = sketch.argument('x', 'f32[4]');
  const loss = call(sketch, 'jit', 'forward', x, inner =>
    sketch.op('mul', [sketch.op('sin', [inner], 'f32[4]'), '2.0'], 'f32[4]')
  );
  const slope = call(sketch, 'jit', 'backward', sketch.argument('slope', 'f32[4]'), inner =>
    sketch.op('cos', [sketch.op('neg', [inner], 'f32[4]')], 'f32[4]')
  );
  sketch.result('result[0]', loss);
  sketch.result(
    'result[1]',
    update.reduce((value, op) => sketch.op(op, [value, '0.1'], 'f32[4]'), slope)
  );
  return sketch;
}

/** Two operations beside each other in every row, forward and backward. */
function pairs(): Sketch {
  const sketch = new Sketch('step');
  const rows =
    (...ops: [string, string][]) =>
    (inner: number) =>
      ops.reduce((value, [one, other]) => {
        const both = [sketch.op(one, [value], 'f32[4]'), sketch.op(other, [value], 'f32[4]')];
        return sketch.op('add', both, 'f32[4]');
      }, inner);
  const forward = rows(['sin', 'cos'], ['exp', 'log'], ['abs', 'sign']);
  const backward = rows(['sinh', 'cosh'], ['exp2', 'log1p'], ['floor', 'ceil']);
  sketch.result('result[0]', call(sketch, 'jit', 'forward', sketch.argument('x', 'f32[4]'), forward));
  sketch.result('result[1]', call(sketch, 'jit', 'backward', sketch.argument('slope', 'f32[4]'), backward));
  return sketch;
}

const boxOf = (visible: VisibleGraph, label: string): number => visible.label.indexOf(label);

/** Column `name` with 1, or `value`, at the boxes of these labels. */
function at(column: ArrayLike<number>, visible: VisibleGraph, labels: readonly string[], value = 1): number[] {
  return Array.from(column, (old, box) => (labels.includes(visible.label[box]) ? value : old));
}

/** For each box the one that it mirrors, of pairs of labels. */
function twins(visible: VisibleGraph, pairs: readonly (readonly [string, string])[]): Int32Array {
  const twin = visible.twin.slice();
  for (const [one, other] of pairs) {
    twin[boxOf(visible, one)] = boxOf(visible, other);
    twin[boxOf(visible, other)] = boxOf(visible, one);
  }
  return twin;
}

const families = ['dot_general', 'sin', 'reduce_sum', 'reshape', 'random_bits', 'while', 'psum', 'custom_call'];

export const programs: Readonly<Record<string, Program>> = {
  affine: { sketch: affine },
  'affine-dark': { sketch: affine, theme: 'dark' },
  'affine-auto': { sketch: affine, theme: 'auto' },
  empty: { sketch: () => new Sketch() },
  'only-an-argument': {
    sketch: () => {
      const sketch = new Sketch();
      sketch.result('result', sketch.argument('x', 'f32[4]'));
      return sketch;
    }
  },
  chain: { sketch: () => chain(['sin', 'cos', 'tanh', 'exp']) },
  families: { sketch: () => chain(families) },
  'families-dark': { sketch: () => chain(families), theme: 'dark' },
  'chain-in-columns': { sketch: () => chain(Array.from({ length: 90 }, (_, i) => `op_${i}`)), aspect: 1.4 },
  fan: { sketch: () => fan(3) },
  'wide-fan': { sketch: () => fan(9) },
  'many-readers': { sketch: () => fan(14) },
  crossing: { sketch: crossing },
  skip: { sketch: () => skip(6) },
  'long-skip': { sketch: () => skip(24) },
  islands: { sketch: islands },
  'operands-in-order': {
    sketch: () => {
      const sketch = new Sketch();
      const [a, b, c] = ['on_false', 'which', 'on_true'].map(name => sketch.argument(name, 'f32[4]'));
      sketch.result('result', sketch.op('select_n', [b, a, c], 'f32[4]'));
      return sketch;
    }
  },
  'read-twice': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.op('sin', [sketch.argument('x', 'f32[4]')], 'f32[4]');
      sketch.result('result', sketch.op('mul', [x, x], 'f32[4]'));
      return sketch;
    }
  },
  'results-in-order': {
    sketch: () => {
      const sketch = new Sketch();
      const [q, r] = ['div', 'rem'].map(op => sketch.op(op, [sketch.argument(op, 'i32[8]'), '3'], 'i32[8]'));
      sketch.result("result['remainder']", r);
      sketch.result("result['quotient']", q);
      return sketch;
    }
  },
  'result-is-an-argument': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.argument('x', 'f32[4]');
      sketch.result('result[0]', x);
      sketch.result('result[1]', sketch.op('neg', [x], 'f32[4]'));
      return sketch;
    }
  },
  'chips-of-literals': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.argument('x', 'f32[4]');
      sketch.result('result', sketch.op('clamp', ['-1.0', x, '1.0'], 'f32[4]'));
      return sketch;
    }
  },
  'chips-of-parameters': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.argument('x', 'f32[4]');
      const w = sketch.argument("params[0]['w']", 'f32[4]');
      let y = x;
      for (let i = 0; i < 4; i++) {
        y = sketch.op('add', [y, w], 'f32[4]');
      }
      sketch.result('result', y);
      return sketch;
    }
  },
  'more-chips-than-fit': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.argument('x', 'f32[4]');
      sketch.result('result', sketch.op('concatenate', [x, '1.0', '2.0', '3.0', '4.0', '5.0'], 'f32[9]'));
      return sketch;
    }
  },
  constants: {
    sketch: () => {
      const sketch = new Sketch();
      const table = sketch.constant('table', 'f32[1000]');
      sketch.result('result', sketch.op('gather', [table, sketch.argument('at', 'i32[4]')], 'f32[4]'));
      return sketch;
    }
  },
  'types-where-new': {
    sketch: () => {
      const sketch = new Sketch();
      const x = sketch.op('transpose', [sketch.argument('x', 'f32[32,128]')], 'f32[128,32]');
      sketch.result('result', sketch.op('convert', [sketch.op('neg', [x], 'f32[128,32]')], 'bf16[128,32]'));
      return sketch;
    }
  },
  'name-that-is-cut': { sketch: () => named('a_name_of_a_function_that_is_far_too_long_for_a_box') },
  'name-of-one-letter': { sketch: () => named('i', 'i32[]') },
  'name-in-chinese': { sketch: () => named('层归一化') },
  'name-in-arabic': { sketch: () => named('طبقة_التطبيع') },
  'name-in-hebrew-and-latin': { sketch: () => named('שכבה layer 3') },
  'name-in-devanagari': { sketch: () => named('सामान्यीकरण') },
  'name-of-emoji': { sketch: () => named('👩‍👩‍👧 🚀') },
  'name-of-markup': { sketch: () => named('<b onload="alert(1)">&amp;') },
  'loop-closed': { sketch: loop },
  'loop-open': { sketch: loop, open: [1] },
  'loop-open-dark': { sketch: loop, open: [1], theme: 'dark' },
  'while-closed': { sketch: whileLoop },
  'while-open': { sketch: whileLoop, open: [1, 2, 3] },
  'condition-closed': { sketch: condition },
  'condition-open': { sketch: condition, open: [1] },
  'branches-open': { sketch: condition, open: [1, 2, 3] },
  'branches-many': { sketch: () => manyBranches(12), open: [1, ...Array.from({ length: 12 }, (_, i) => i + 2)] },
  'nested-closed': { sketch: () => nested(3) },
  'nested-half-open': { sketch: () => nested(3), open: [1, 2] },
  'nested-open': { sketch: () => nested(3), open: [1, 2, 3] },
  stack: {
    sketch: () => nested(1),
    change: visible => ({ times: Int32Array.from(at(visible.times, visible, ['level1'], 24)) })
  },
  'stack-open': {
    sketch: () => nested(1),
    open: [1],
    change: visible => ({ times: Int32Array.from(at(visible.times, visible, ['level1'], 24)) })
  },
  ghosts: { sketch: () => chain(['sin', 'cos', 'tanh', 'exp']), fates: [0, 1, 5, 10, 2, 0] },
  'ghosts-dark': { sketch: () => chain(['sin', 'cos', 'tanh', 'exp']), fates: [0, 1, 5, 10, 2, 0], theme: 'dark' },
  'all-dead': { sketch: () => chain(['sin', 'cos']), fates: [0, 5, 5, 0] },
  cables: {
    sketch: () => phases(),
    open: [1, 2],
    change: visible => ({
      beside: [[boxOf(visible, 'forward'), boxOf(visible, 'backward')]],
      cables: [
        { source: boxOf(visible, 'sin'), target: boxOf(visible, 'cos'), values: 1, bytes: 16 },
        { source: boxOf(visible, 'mul'), target: boxOf(visible, 'neg'), values: 12, bytes: 4_200_000 }
      ]
    })
  },
  'cables-around-boxes': {
    sketch: pairs,
    open: [1, 2],
    change: visible => ({
      beside: [[boxOf(visible, 'forward'), boxOf(visible, 'backward')]],
      cables: [
        ['sin', 'cosh', 4_000],
        ['cos', 'cosh', 3_000],
        ['exp', 'exp2', 2_000],
        ['abs', 'sinh', 1_000],
        ['sign', 'floor', 16],
        ['log', 'log1p', 32]
      ].map(([one, other, bytes]) => ({
        source: boxOf(visible, String(one)),
        target: boxOf(visible, String(other)),
        values: 1,
        bytes: Number(bytes),
        type: 'f32[4]'
      }))
    })
  },
  'backward-runs-up': {
    sketch: () => phases(),
    open: [1, 2],
    change: visible => ({
      beside: [[boxOf(visible, 'forward'), boxOf(visible, 'backward')]],
      upward: Uint8Array.from(at(visible.upward, visible, ['neg', 'cos']))
    })
  },
  'twins-at-one-height': {
    sketch: () => phases(),
    open: [1, 2],
    change: visible => ({
      beside: [[boxOf(visible, 'forward'), boxOf(visible, 'backward')]],
      upward: Uint8Array.from(at(visible.upward, visible, ['neg', 'cos'])),
      twin: twins(visible, [
        ['forward', 'backward'],
        ['sin', 'neg']
      ])
    })
  },
  'gradients-in-a-bundle': {
    sketch: () => phases(['mul', 'sub']),
    open: [1, 2],
    change: visible => ({
      beside: [[boxOf(visible, 'forward'), boxOf(visible, 'backward')]],
      bundles: [{ edge: visible.source.indexOf(boxOf(visible, 'cos')), values: 6, gradients: true }]
    })
  }
};
