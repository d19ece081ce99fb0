import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../document/graph.ts';
import type { Document as PlainDocument } from '../document/schema.generated.ts';
import { Sketch } from '../document/sketch.ts';
import { explore, withExplorers } from './testExplorer.ts';

withExplorers();

/** A long chain of operations, and beside it a stage in which nothing of it is left. */
function chainAndNothing(length: number): PlainDocument {
  const sketch = new Sketch('chain');
  const names = ['sin', 'cos', 'tan', 'exp', 'log'];
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < length; i++) {
    value = sketch.op(names[(i * i) % names.length], [value], 'f32[4]');
  }
  sketch.result('result', value);
  const plain = sketch.plain();
  const empty = new Sketch('empty');
  empty.result('result', empty.argument('x', 'f32[4]'));
  const [left] = empty.plain().graphs;
  const [program] = plain.programs;
  const stages = [
    { kind: 'hlo' as const, graph: 1, seconds: {} },
    { kind: 'jaxpr' as const, graph: 0, seconds: {} }
  ];
  return { ...plain, graphs: [...plain.graphs, left], programs: [{ ...program, stages }] };
}

for (const length of [20, 3_000]) {
  test(`what a finding is about is lit in the stage of ${length} operations that it was found in`, async () => {
    const { explorer } = await explore({ plain: () => chainAndNothing(length) });
    const [pane] = explorer.panes;
    const at = (): number => pane.viewing.at;
    assert.equal(at(), 1);
    explorer.showFinding({ graph: 0, first: [7], size: [2] } as unknown as Finding);
    for (let turns = 0; turns < 500 && !(at() === 0 && pane.atRest); turns++) {
      await new Promise(done => setTimeout(done, 5));
    }
    assert.equal(at(), 0);
    assert.deepEqual(pane.viewing.linked, [7, 8]);
  });
}

test('the first value that is no number is gone to and told of, also where its graph is shown already', async () => {
  const plain = chainAndNothing(20);
  plain.programs[0].stages.reverse();
  const numbers = { least: [0], most: [0], mean: [0], deviation: [0], histogram: [[]] };
  const counts = { count: [4], nan: [4], infinite: [0], zero: [0], denormal: [0] };
  plain.values = [{ program: 0, bad: 7, bytes: 16, node: [7], ...numbers, ...counts }];
  const { explorer, root } = await explore({ plain: () => plain });
  const [pane] = explorer.panes;
  assert.equal(pane.viewing.at, 0);
  root.querySelector<HTMLElement>('.jv-values .jv-link')?.click();
  assert.deepEqual(explorer.selection, [7]);
  assert.match(root.querySelector('.jv-inspector')?.textContent ?? '', /100 % NaN/);
});

test('a box that several results are seen in lights all of them, and lets go of them again', async () => {
  const sketch = new Sketch('step');
  const given = Array.from({ length: 12 }, (_, at) => sketch.argument(`state[${at}]`, 'f32[4]'));
  const results = [sketch.op('mul', [given[0], '0.9'], 'f32[4]'), ...given.slice(1)].map(value =>
    sketch.result('', value)
  );
  const { explorer } = await explore(sketch);
  const [pane] = explorer.panes;
  const [box] = pane.scene?.visible.others.keys() ?? [];
  pane.selectBox(box);
  assert.deepEqual(pane.viewing.told, results.slice(1));
  assert.equal(pane.viewing.selected, null);
  pane.selectBox(box);
  assert.deepEqual(pane.viewing.told, []);
});
