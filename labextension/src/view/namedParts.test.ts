import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePlain } from '../document/decode.ts';
import { RowKind, type Document } from '../document/graph.ts';
import { plainOutline, Sketch } from '../document/sketch.ts';
import { childrenOf, rowsOf } from './outline.ts';
import { kernelTreeOf, withKernelTree } from './kernelTree.ts';
import { MOST_BESIDE, partsOf, type Part } from './parts.ts';
import { show } from './view.ts';

/** A chain of kernels in modules that each have as many of them, all of one phase. */
function chain(modules: readonly string[], each: number): Document {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  const first = sketch.last + 1;
  modules.forEach(() => {
    for (let i = 0; i < each; i++) {
      value = sketch.op('multiply', [value, value], 'f32[4]');
    }
  });
  sketch.result('result', value);
  const plain = sketch.plain();
  plain.programs[0].stages[0].kind = 'hlo';
  const names = ['', 'forward', ...modules].map(name => plain.strings.push(name) - 1);
  const count = modules.length;
  plain.outlines = [
    plainOutline(
      {
        back: [1, 1, ...modules.map((_, i) => i + 1)],
        kind: [RowKind.program, RowKind.phase, ...modules.map(() => RowKind.module)],
        name: names,
        gap: [0, first, ...modules.map((_, i) => (i === 0 ? 0 : each))],
        size: [first + count * each + 1, count * each, ...modules.map(() => each)]
      },
      first + count * each + 1
    )
  ];
  return withKernelTree(decodePlain(plain));
}

/** The names of the rows inside a row. */
function namesIn(document: Document, row = 0): string[] {
  const rows = rowsOf(document, document.graphs[kernelTreeOf(document, 0) as number]);
  return Array.from(childrenOf(rows, row), child => rows.name[child]);
}

test('a long list of kernels is in parts, which have the names of the modules that they are of', () => {
  const modules = Array.from({ length: 8 }, (_, i) => `Block_${i}`);
  const document = chain(modules, 14);
  assert.deepEqual(
    namesIn(document),
    modules.map(name => `forward ${name}`)
  );
  const graph = document.graphs[kernelTreeOf(document, 0) as number];
  assert.equal(show(document, graph, { open: new Set() }).count, 8 + 2);
});

test('a part of several modules has the name of the range, and parts of one module have numbers', () => {
  const modules = Array.from({ length: 16 }, (_, i) => `Block_${i}`);
  assert.deepEqual(namesIn(chain(modules, 14)).slice(0, 2), ['forward Block_0–1', 'forward Block_2–3']);
  assert.deepEqual(namesIn(chain(['Dense_0'], 28)), ['forward Dense_0 1/2', 'forward Dense_0 2/2']);
});

test('a short list of kernels has no parts', () => {
  assert.deepEqual(namesIn(chain(['Dense_0'], MOST_BESIDE)), []);
});

test('parts hold everything once, in its order, and are cut where nothing crosses', () => {
  const leaves = ({ from, to, parts }: Part): (readonly [number, number])[] =>
    parts.length ? parts.flatMap(leaves) : [[from, to]];
  fc.assert(
    fc.property(fc.array(fc.nat(9), { minLength: 1, maxLength: 2000 }), numbers => {
      const parts = partsOf(0, numbers.length, Float64Array.from(numbers));
      const all = parts.flatMap(leaves);
      assert.ok(all.every(([from, to]) => to - from >= 1 && to - from <= MOST_BESIDE));
      assert.ok(all.every(([from], i) => from === (i ? all[i - 1][1] : 0)));
      assert.equal(all.length ? all[all.length - 1][1] : numbers.length, numbers.length);
    })
  );
  const crossing = Float64Array.from({ length: 30 }, (_, i) => (i === 8 || i === 21 ? 0 : 1));
  assert.deepEqual(
    partsOf(0, 30, crossing).map(({ from }) => from),
    [0, 8, 21]
  );
});
