import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../document/graph.ts';
import { loop } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import { explore, giveSize, layoutsHere, withExplorers, type Explored } from '../testExplorer.ts';

withExplorers();

/** A program with two stages. */
function stages(): ReturnType<typeof pair> {
  const plain = pair();
  const [program] = plain.programs;
  const [first] = program.stages;
  return { ...plain, programs: [{ ...program, stages: [first, { ...first, kind: 'hlo', graph: 1 }] }] };
}

/** A loop in each of two stages. */
function layers(): ReturnType<typeof pair> {
  const plain = loop().plain();
  const [program] = plain.programs;
  const [first] = program.stages;
  plain.graphs.push(structuredClone(plain.graphs[0]));
  return { ...plain, programs: [{ ...program, stages: [first, { ...first, kind: 'hlo', graph: 1 }] }] };
}

/** Both pictures, once they are drawn. */
async function compare({ explorer, press }: Explored): Promise<void> {
  await press('d');
  while (!explorer.atRest || explorer.panes.length < 2) {
    await new Promise(done => setTimeout(done, 5));
  }
}

test('beside another picture all of the first is seen, wherever it stood before', async () => {
  giveSize(700, 400);
  const explored = await explore({ plain: stages });
  const { explorer } = explored;
  explorer.picture.zoomBy(3);
  assert.ok(explorer.view.camera);
  await compare(explored);
  assert.deepEqual(
    explorer.panes.map(({ picture }) => picture.placed),
    [null, null]
  );
});

test('a view that was saved beside another is seen as it was', async () => {
  giveSize(700, 400);
  const explored = await explore({ plain: stages });
  const { explorer } = explored;
  await compare(explored);
  explorer.picture.zoomBy(3);
  const { view } = explorer;
  assert.ok(view.camera && view.beside);
  const again = await explore({ plain: stages }, { view });
  while (!again.explorer.atRest) {
    await new Promise(done => setTimeout(done, 5));
  }
  assert.deepEqual(again.explorer.view.camera, view.camera);
});

test('alone again, a picture shows what its room has place for', async () => {
  giveSize(1200, 800);
  const explored = await explore({ plain: layers });
  const { explorer, press } = explored;
  const before = [...explorer.labels];
  giveSize(120, 100);
  await compare(explored);
  assert.ok(explorer.labels.length < before.length, `${explorer.labels.length} boxes beside another`);
  giveSize(1200, 800);
  await press('d');
  for (let tries = 0; tries < 400 && !(explorer.atRest && explorer.labels.length === before.length); tries++) {
    await new Promise(done => setTimeout(done, 5));
  }
  assert.deepEqual(explorer.labels, before);
});

test('beside another picture a first one stands in places that make the most of its room, not where it stood', async () => {
  giveSize(1200, 800);
  const layouts = layoutsHere();
  const explored = await explore({ plain: layers }, { layouts });
  const kept: boolean[] = [];
  const place = layouts.layout.bind(layouts);
  layouts.layout = input => {
    kept.push(input.stood !== undefined);
    return place(input);
  };
  giveSize(240, 300);
  await compare(explored);
  await explored.press('d');
  assert.ok(kept.length > 1);
  assert.ok(!kept.includes(true));
});

test('of two programs at the same stage both go to another, and the keys stay where they were', async () => {
  giveSize(700, 400);
  const both = (): ReturnType<typeof pair> => {
    const plain = pair();
    const [one, other] = plain.programs;
    plain.graphs.push(structuredClone(plain.graphs[0]), structuredClone(plain.graphs[1]));
    const hlo = { kind: 'hlo' as const, seconds: {} };
    return {
      ...plain,
      programs: [
        { ...one, stages: [one.stages[0], { ...hlo, graph: 2 }] },
        { ...other, stages: [other.stages[0], { ...hlo, graph: 3 }] }
      ]
    };
  };
  const explored = await explore({ plain: both });
  const { explorer, press } = explored;
  while (!explorer.atRest || explorer.panes.length < 2) {
    await new Promise(done => setTimeout(done, 5));
  }
  const kinds = (): (string | undefined)[] => explorer.panes.map(({ viewing }) => viewing.stage?.kind);
  assert.deepEqual(kinds(), ['jaxpr', 'jaxpr']);
  await press('5');
  assert.deepEqual(kinds(), ['hlo', 'hlo']);
  assert.equal(document.activeElement, explorer.panes[0].stage);
  // By its own head, each goes alone.
  explorer.panes[1].enter(1);
  assert.deepEqual(kinds(), ['hlo', 'jaxpr']);
});

test('what is opened as a whole in one picture is seen whole in both', async () => {
  giveSize(700, 400);
  const explored = await explore({ plain: layers });
  const { explorer, press } = explored;
  await compare(explored);
  explorer.panes.forEach(({ picture }) => picture.zoomBy(3));
  await press('e');
  while (!explorer.atRest) {
    await new Promise(done => setTimeout(done, 5));
  }
  assert.deepEqual(
    explorer.panes.map(({ picture }) => picture.placed),
    [null, null]
  );
});

test('what a finding of the second program is about is lit in its picture, and the first stays', async () => {
  giveSize(700, 400);
  const { explorer } = await explore({ plain: pair });
  while (!explorer.atRest || explorer.panes.length < 2) {
    await new Promise(done => setTimeout(done, 5));
  }
  for (const [graph, nodes] of [
    [1, [2, 4]],
    [0, [2, 3]]
  ] as const) {
    explorer.showFinding({ graph, first: nodes, size: [1, 1] } as unknown as Finding);
    assert.deepEqual(
      explorer.panes.map(({ viewing }) => viewing.at),
      [0, 1]
    );
    assert.deepEqual(explorer.panes[graph].viewing.linked, nodes);
  }
});
