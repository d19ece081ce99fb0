import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine, loop, Sketch } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import type { LayoutClient, LayoutJob } from '../../layout/client.ts';
import { layout } from '../../layout/layout.ts';
import type { Layout, LayoutInput } from '../../layout/input.ts';
import type { NoteAction, NoteKind } from './note.ts';
import { Placing, type Placed } from './placing.ts';

interface Said {
  readonly text: string;
  readonly kind?: NoteKind | undefined;
  readonly actions?: readonly NoteAction[] | undefined;
}

/** A loop in two stages. */
function loops(): ReturnType<Sketch['plain']> {
  const plain = loop().plain();
  const [graph] = plain.graphs;
  const nodes = graph.nodes.kind.map((_, node) => node);
  return {
    ...plain,
    graphs: [graph, structuredClone(graph)],
    programs: [{ ...plain.programs[0], stages: [...plain.programs[0].stages, { kind: 'hlo', graph: 1, seconds: {} }] }],
    links: [{ from: 0, to: 1, source: nodes, target: nodes, kind: nodes.map(() => 0), shares: {} }]
  };
}

/** A layout that comes when it is told to, or never. */
function slow(): { layouts: LayoutClient; finish: () => void } {
  let finish = (): void => undefined;
  const start = (input: LayoutInput): LayoutJob => {
    let stop: (error: Error) => void = () => undefined;
    const result = new Promise<Layout>((resolve, reject) => {
      finish = () => resolve(layout(input));
      stop = reject;
    });
    return { result, cancel: () => stop(Object.assign(new Error('cancelled'), { name: 'AbortError' })) };
  };
  return { layouts: { layout: start } as unknown as LayoutClient, finish: () => finish() };
}

/** Places graphs in so much width. */
function placing(
  sketch: Pick<Sketch, 'plain'>,
  layouts: LayoutClient,
  width = 400
): { place: (graph?: number, ...open: number[]) => ReturnType<Placing['place']>; said: Said[] } {
  const document = decodePlain(sketch.plain());
  const said: Said[] = [];
  const made = new Placing({
    document,
    layouts,
    space: () => ({ width, height: 300 }),
    free: () => ({ width, height: 300 }),
    looks: visible => visible.label.map(() => 'box-control' as const),
    notes: () => new Map(),
    say: (text, kind, actions) => said.push({ text, kind, actions }),
    closeAll: () => said.push({ text: 'closed' }),
    again: () => said.push({ text: 'again' })
  });
  const wishes = { kernels: false, afresh: false };
  const place = (graph = 0, ...open: number[]): ReturnType<Placing['place']> =>
    made.place(document.graphs[graph], { open: new Set(open) }, wishes);
  return { place, said };
}

const soon = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

test('what takes long is said to take long, and can be stopped', async () => {
  const { place, said } = placing(affine(), slow().layouts);
  const placed = place();
  await soon(20);
  assert.equal(said.length, 0);
  await soon(400);
  assert.equal(said[0].text, 'placing 7 boxes');
  assert.equal(said[0].kind, 'busy');
  said[0].actions?.find(({ label }) => label === 'stop')?.does();
  assert.equal(await placed, null);
  const last = said[said.length - 1];
  assert.match(last.text, /^stopped: 7 boxes are open/);
  last.actions?.find(({ label }) => label === 'close all')?.does();
  assert.equal(said[said.length - 1].text, 'closed');
});

test('a program without operations says so in the place of a picture', async () => {
  const { layouts, finish } = slow();
  const { place, said } = placing(new Sketch(), layouts);
  const placed = place();
  finish();
  await placed;
  assert.deepEqual([said[0].kind, /empty/.test(said[0].text)], ['empty', true]);
});

test('a picture that cannot be placed says why, and what can be done', async () => {
  const broken = { layout: () => ({ result: Promise.reject(new Error('no room')), cancel: () => undefined }) };
  const { place, said } = placing(affine(), broken as unknown as LayoutClient);
  assert.equal(await place(), null);
  assert.deepEqual([said[0].kind, said[0].text], ['failed', 'This picture could not be placed: no room']);
  assert.deepEqual(
    said[0].actions?.map(({ label }) => label),
    ['close all']
  );
});

test('more boxes than can be read are placed only when that is asked for again', async () => {
  const many = new Sketch();
  const x = many.argument('x', 'f32[2]');
  for (let i = 0; i < 60_001; i++) {
    many.op('sin', [x], 'f32[2]');
  }
  const { layouts } = slow();
  const { place, said } = placing(many, layouts);
  assert.equal(await place(), null);
  assert.match(said[0].text, /^60,001 boxes at once/);
  said[0].actions?.find(({ label }) => label === 'place them')?.does();
  assert.equal(said[1].text, 'again');
  void place().catch(() => undefined);
  await soon(400);
  assert.equal(said[2].text, 'placing 60,001 boxes');
});

test('another graph is placed anew where it is seen much larger so; a picture that fits keeps its places', async () => {
  for (const [width, asks] of [
    [700, ['anew', 'kept']],
    [400, ['anew', 'kept', 'anew']],
    [40, ['anew', 'kept', 'anew']]
  ] as const) {
    const asked: string[] = [];
    const at = (input: LayoutInput): LayoutJob => {
      asked.push(input.before ? 'kept' : 'anew');
      const placed = layout(input);
      // As where boxes in between have pushed others apart.
      const result = Promise.resolve(input.before ? { ...placed, totalWidth: 2 * placed.totalWidth } : placed);
      return { result, cancel: () => undefined };
    };
    const { place } = placing({ plain: pair }, { layout: at } as unknown as LayoutClient, width);
    const { scene } = (await place(0)) as Placed;
    const next = (await place(1)) as Placed;
    assert.deepEqual(asked, asks);
    assert.equal(next.scene.width === scene.width, asks.length === 3);
  }
});

test('a form of the program that was seen before comes back as it was', async () => {
  const at = (input: LayoutInput): LayoutJob => {
    const placed = layout(input);
    const wider = { ...placed, totalWidth: placed.totalWidth + 10 };
    return { result: Promise.resolve(input.before ? wider : placed), cancel: () => undefined };
  };
  const { place } = placing({ plain: pair }, { layout: at } as unknown as LayoutClient);
  const seen: Placed[] = [];
  for (const graph of [0, 1, 0, 1]) {
    seen.push((await place(graph)) as Placed);
  }
  assert.deepEqual(
    [2, 3].map(i => seen[i].scene.layout),
    [0, 1].map(i => seen[i].scene.layout)
  );
  assert.notEqual(seen[0].scene.width, seen[1].scene.width);
});

test('what stood in a form of the program that is seen again stands there as it did, whatever is open by now', async () => {
  const asked: LayoutInput[] = [];
  const at = (input: LayoutInput): LayoutJob => {
    asked.push(input);
    const placed = layout(input);
    // Elsewhere, all of it stands much farther to the right.
    const x = asked.length === 2 ? placed.x.map(left => left + 500) : placed.x;
    return { result: Promise.resolve({ ...placed, x }), cancel: () => undefined };
  };
  const { place } = placing({ plain: loops }, { layout: at } as unknown as LayoutClient);
  const { scene } = (await place(0)) as Placed;
  await place(1, 1);
  const again = ((await place(0, 1)) as Placed).scene;
  const { x, width } = scene.layout;
  const { label } = scene.visible;
  for (const name of ['w', 'h', 'xs', 'neg', 'result']) {
    const [first, next] = [label.indexOf(name), again.visible.label.indexOf(name)];
    assert.equal(asked[2].before?.[next], x[first] + width[first] / 2, name);
  }
});
