import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { FateKind, NodeKind, RowKind } from '../../document/graph.ts';
import { affine, loop, plainOutline, Sketch } from '../../document/sketch.ts';
import { toSvg } from '../../draw/svg.ts';
import { palettes } from '../../draw/theme.ts';
import { Legend, type LegendEntry } from './legend.ts';
import { explore, withExplorers, type Plain } from '../testExplorer.ts';

withExplorers();

/** `loop`, of which each operation takes 1 µs, and computes nothing. */
function measured(): ReturnType<ReturnType<typeof loop>['plain']> {
  const plain = loop().plain();
  const { kind } = decodePlain(plain).graphs[0];
  const node = [...kind.keys()].filter(at => kind[at] === NodeKind.operation);
  const figures = { jaxpr: { node, seconds: node.map(() => 1e-6) } };
  const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words: [], seconds: { median: 1e-5 }, figures };
  return { ...plain, measures: [run] } as never;
}

test('coloured by time, a frame says how long what is in it takes', async () => {
  const { explorer, root } = await explore({ plain: measured }, { colour: 'time' });
  const drawn = (): string => {
    const { scene } = explorer.panes[0];
    assert.ok(scene);
    return toSvg(scene, { theme: 'auto', title: '', description: '' });
  };
  const { visible, notes } = explorer.panes[0].scene ?? assert.fail('nothing is drawn');
  const told = [...notes].map(([box, text]) => `${visible.label[box]} ${text}`);
  assert.deepEqual(told, ['cell 3 µs']);
  assert.match(drawn(), />3 µs</);
  const choice = root.querySelector('select[aria-label^="Colour"]') as HTMLSelectElement;
  choice.value = 'kind';
  choice.dispatchEvent(new (root.ownerDocument.defaultView as unknown as { Event: typeof Event }).Event('change'));
  assert.doesNotMatch(drawn(), /µs/);
});

test('what the compiler does not keep looks so beside the colours of a run too', async () => {
  const plain = (): ReturnType<typeof measured> => {
    const made = measured();
    const { kind } = decodePlain(made).graphs[0];
    const gone = kind.lastIndexOf(NodeKind.operation);
    const kinds = Array.from(kind, (_, at) => (at === gone ? FateKind.dead : 0));
    const fates = { graph: 0, kind: kinds, where: kinds.map(() => 0), by: kinds.map(() => -1) };
    const [run] = made.measures as unknown as { figures: { jaxpr: { seconds: number[] } } }[];
    run.figures.jaxpr.seconds.splice(-1, 1, 0);
    return { ...made, fates: [fates] } as never;
  };
  const { explorer, press } = await explore({ plain }, { colour: 'time' });
  await press('e');
  const { visible, looks } = explorer.panes[0].scene ?? assert.fail('nothing is drawn');
  const ghosts = [...visible.ghost.keys()].filter(box => visible.ghost[box]);
  assert.equal(ghosts.length, 1);
  assert.equal(looks[ghosts[0]], 'ghost');
  const words = [...explorer.root.querySelectorAll('.jv-legend-item')].map(item => item.textContent);
  assert.equal(words.at(-1), 'not kept');
});

test('of boxes that a colour says nothing of, the legend says why in its own words', async () => {
  const plain = (): ReturnType<typeof measured> => {
    const made = measured();
    const [run] = made.measures as unknown as { figures: { jaxpr: { seconds: number[] } } }[];
    run.figures.jaxpr.seconds.splice(-1, 1, 0);
    return made;
  };
  const { root } = await explore({ plain }, { colour: 'time' });
  const words = [...root.querySelectorAll('.jv-legend-item')].map(item => item.textContent);
  assert.equal(words.at(-1), 'not timed apart');
  const legend = root.querySelector('.jv-legend');
  assert.equal(legend?.getAttribute('aria-label'), 'what the colours say: share of the time of a run');
});

test('what only a run can tell is said to be made known by one, where none was made', async () => {
  const title = async (plain: () => unknown, stage: string, colour: string): Promise<string> => {
    const { root } = await explore({ plain } as Plain, { stage, colour });
    return root.querySelector('.jv-legend-title')?.textContent ?? '';
  };
  const byTime = await title(() => loop().plain(), 'jaxpr', 'time');
  assert.equal(byTime, 'share of the time of a run is not known here: run makes it known; kind of operation');
  const byFate = await title(() => loop().plain(), 'jaxpr', 'fate');
  assert.equal(byFate, 'fate is not known here; kind of operation', 'a run would not tell it');
  const whole = (): unknown => {
    const made = measured();
    Object.assign((made.measures as unknown as object[])[0], { figures: {} });
    return made;
  };
  const afterRun = await title(whole, 'jaxpr', 'time');
  assert.equal(afterRun, 'share of the time of a run is not known here; kind of operation', 'there was one');
});

test('a picture of one kind of operation has a legend too', async () => {
  const sketch = new Sketch();
  sketch.result('result', sketch.op('tanh', [sketch.argument('x', 'f32[4]')], 'f32[4]'));
  const { root } = await explore(sketch);
  const legend = root.querySelector('.jv-legend') as HTMLElement;
  assert.ok(!legend.hidden);
  assert.deepEqual(
    [...legend.querySelectorAll('.jv-legend-item')].map(item => item.textContent),
    ['elementwise']
  );
});

test('a long name is cut in the legend, and whole when it is pointed at', () => {
  const legend = new Legend();
  const long = 'dynamic-update-slice_bitcast_fusion.12';
  const few: LegendEntry[] = [
    { look: 'group-0', label: long },
    { look: 'group-1', label: 'dot.3' }
  ];
  legend.fill('kernel', few, palettes.light);
  assert.equal(legend.root.querySelector('.jv-legend-item')?.textContent, long, 'there is room for few');
  legend.fill('kernel', [...few, ...few, ...few], palettes.light);
  const items = [...legend.root.querySelectorAll<HTMLElement>('.jv-legend-item')];
  assert.match(items[0].textContent ?? '', /^dynamic-update-.*…$/);
  assert.deepEqual(
    items.map(item => item.title),
    [long, '', long, '', long, '']
  );
});

test('the legend ends with what it took JAX to make the stage', () => {
  const legend = new Legend();
  const entries = [
    { look: 'group-0', label: 'one' },
    { look: 'group-1', label: 'other' }
  ] as const;
  const told = (kind: string, seconds: Record<string, number>): string | null => {
    legend.fill('', entries, palettes.light, { kind, graph: 0, seconds } as never);
    return legend.root.querySelector('.jv-legend-cost')?.textContent ?? null;
  };
  assert.equal(told('jaxpr', { trace: 0.0123, read: 1 }), 'traced in 12.3 ms');
  assert.equal(told('hlo', { optimize: 2, link: 1 }), 'optimized in 2 s');
  // A file was not made here.
  assert.equal(told('hlo', {}), null);
});

test('while the host changes its style sheets and nothing has a size, the picture keeps the one it had', async () => {
  const { explorer, root } = await explore(loop());
  const stage = root.querySelector('.jv-stage-area') as HTMLElement;
  const size = (width: number, height: number): void => {
    Object.defineProperty(stage, 'clientWidth', { value: width, configurable: true });
    Object.defineProperty(stage, 'clientHeight', { value: height, configurable: true });
  };
  size(600, 400);
  explorer.picture.setFoot(40);
  const before = explorer.picture.locate(0);
  size(0, 0);
  explorer.picture.setFoot(26);
  size(600, 400);
  assert.deepEqual(explorer.picture.locate(0), before);
  assert.match(explorer.picture.canvas.style.height, /40px/);
});

test('in the legend each kind has the colour of its boxes, also where the first of it is an open region', async () => {
  const plain = (): ReturnType<typeof measured> => {
    const made = affine().plain();
    const name = ['', 'layer'].map(text => made.strings.push(text) - 1);
    // The module holds the three operations.
    const rows = { back: [1, 1], kind: [RowKind.program, RowKind.module], name, gap: [0, 3], size: [7, 3] };
    return { ...made, outlines: [plainOutline(rows, 7)] };
  };
  const { explorer, root, press } = await explore({ plain });
  await press('e');
  const { visible, looks } = explorer.panes[0].scene ?? assert.fail('nothing is drawn');
  const box = visible.label.indexOf('add');
  assert.equal(looks[box], 'box-elementwise');
  assert.ok(visible.family.indexOf(visible.family[box]) < box, 'a frame is the first of its kind');
  const [item] = [...root.querySelectorAll('.jv-legend-item')].filter(one => one.textContent === 'elementwise');
  const swatch = item.querySelector('.jv-swatch') as HTMLElement;
  assert.equal(swatch.style.borderColor, palettes.light.plainLine);
});
