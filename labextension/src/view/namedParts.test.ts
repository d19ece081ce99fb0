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

/** A chain of kernels: forward in modules that each have as many of them, and those of an update after that. */
function chain(modules: readonly string[], each: number, update = 0): Document {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  const first = sketch.last + 1;
  const inside = modules.length * each;
  for (let i = 0; i < inside + update; i++) {
    value = sketch.op('multiply', [value, value], 'f32[4]');
  }
  sketch.result('result', value);
  const plain = sketch.plain();
  plain.programs[0].stages[0].kind = 'hlo';
  const names = ['', 'forward', ...modules].map(name => plain.strings.push(name) - 1);
  const count = modules.length;
  const after = update ? [plain.strings.push('update') - 1] : [];
  const nodes = first + inside + update + 1;
  plain.outlines = [
    plainOutline(
      {
        back: [1, 1, ...modules.map((_, i) => i + 1), ...after.map(() => count + 2)],
        kind: [RowKind.program, RowKind.phase, ...modules.map(() => RowKind.module), ...after.map(() => RowKind.phase)],
        name: [...names, ...after],
        gap: [0, first, ...modules.map((_, i) => (i === 0 ? 0 : each)), ...after.map(() => each)],
        size: [nodes, inside, ...modules.map(() => each), ...after.map(() => update)]
      },
      nodes
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

/** Parts as text: what the things are of, by the first and the last of each. */
function told(paths: readonly string[], parts = partsOf(new Float64Array(paths.length + 1), split(paths))): string[] {
  return parts.map(({ from, to, parts: inner }) => {
    const within = told(paths, inner);
    return `${paths[from]} to ${paths[to - 1]}${within.length ? ` (${within.join(', ')})` : ''}`;
  });
}

function split(paths: readonly string[]): string[][] {
  return paths.map(path => path.split('/'));
}

function many(path: string, count: number): string[] {
  return Array.from({ length: count }, () => path);
}

test('parts end where what they are of changes: phases, then modules, whatever crosses', () => {
  const forward = [...many('forward/embed', 3), ...many('forward/block', 20), ...many('forward/head', 4)];
  const paths = [...forward, ...many('backward/head', 2), ...many('backward/block', 9), ...many('update', 40)];
  assert.deepEqual(told(paths).slice(0, 2), [
    'forward/embed to forward/head (forward/embed to forward/embed, ' +
      'forward/block to forward/block (forward/block to forward/block, forward/block to forward/block), ' +
      'forward/head to forward/head)',
    'backward/head to backward/block'
  ]);
});

test('what a part is called is not said again inside of it', () => {
  const modules = Array.from({ length: 16 }, (_, i) => `Block_${i}`);
  const document = chain(modules, 14, 60);
  const all = rowsOf(document, document.graphs[kernelTreeOf(document, 0) as number]).name;
  assert.deepEqual(all.slice(1, 5), ['forward', 'Block_0–1', 'Block_0', 'Block_1']);
  assert.deepEqual(namesIn(document), ['forward', 'update']);
});

test('what is of something else for a moment is no border, and one kernel between parts has no frame', () => {
  const block = [...many('block', 60), 'update', ...many('block', 60)];
  const first = told([...block, ...many('head', 20), 'loss', ...many('update', 30)]);
  assert.deepEqual(
    first.map(part => part.replace(/ \(.*/, '')),
    ['block to block', 'head to head', 'loss to loss', 'update to update']
  );
  const document = chain([...many('Dense_0', 9), 'mean', ...many('Dense_1', 9)], 1);
  assert.deepEqual(namesIn(document), ['forward Dense_0', 'forward Dense_1']);
});

test('a short list of kernels has no parts', () => {
  assert.deepEqual(namesIn(chain(['Dense_0'], MOST_BESIDE)), []);
});

test('parts hold everything once, in its order, and are cut where nothing crosses', () => {
  const leaves = ({ from, to, parts }: Part): (readonly [number, number])[] =>
    parts.length ? parts.flatMap(leaves) : [[from, to]];
  fc.assert(
    fc.property(fc.array(fc.nat(9), { minLength: 1, maxLength: 2000 }), numbers => {
      const parts = partsOf(
        Float64Array.from(numbers),
        numbers.map(() => [])
      );
      const all = parts.flatMap(leaves);
      assert.ok(all.every(([from, to]) => to - from >= 1 && to - from <= MOST_BESIDE));
      assert.ok(all.every(([from], i) => from === (i ? all[i - 1][1] : 0)));
      assert.equal(all.length ? all[all.length - 1][1] : numbers.length, numbers.length);
    })
  );
  const crossing = Float64Array.from({ length: 30 }, (_, i) => (i === 8 || i === 21 ? 0 : 1));
  assert.deepEqual(
    partsOf(
      crossing,
      Array.from(crossing, () => [])
    ).map(({ from }) => from),
    [0, 8, 21]
  );
});
