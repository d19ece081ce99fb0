import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine, Sketch } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import { details } from './details.ts';
import { element } from '../elements.ts';
import { Height } from '../height.ts';
import { showDetails } from './inspector.ts';
import { explore, giveSize, resizing, withExplorers, type Plain } from '../testExplorer.ts';

withExplorers();

test('a long name of a parameter goes on in the next line where a word of it begins', async () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  sketch.result('result', sketch.op('dot_general', [x, x], 'f32[]', { preferred_element_type: 'float32' }));
  const { explorer, root } = await explore(sketch);
  explorer.select([1]);
  const [name] = [...root.querySelectorAll('.jv-details dt')].filter(term => term.textContent?.startsWith('preferred'));
  assert.equal(name.innerHTML, 'preferred_<wbr class="">element_<wbr class="">type');
});

test('so does the name of a kernel', () => {
  const document = decodePlain(affine().plain());
  const measures = [{ term: 'kernel', text: 'conv_general_dilated.5 reads 50 kB', note: '' }];
  const pane = element('aside', '');
  const nothing = (): void => undefined;
  const acts = { select: nothing, follow: nothing, pass: nothing, toggle: nothing, close: nothing };
  showDetails(pane, { ...details(document, document.graphs[0], 3), measures }, false, acts);
  assert.match(pane.innerHTML, /conv_<wbr class="">general_<wbr class="">dilated\.5 reads 50 kB/);
});

test('the name of what an operation reads does not go on the word before it', async () => {
  const sketch = new Sketch();
  const mean = sketch.op('mean', [sketch.argument('x', 'f32[4]')], 'f32[]');
  sketch.result('result', sketch.op('exp', [mean], 'f32[]'));
  const { explorer, root } = await explore(sketch);
  explorer.select([2]);
  const [term] = [...root.querySelectorAll('.jv-details dt')].filter(
    ({ nextSibling }) => nextSibling?.textContent === 'mean'
  );
  assert.equal(term.textContent, 'reads from');
});

test('values of the same type are told in one line', async () => {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  sketch.result('result', sketch.op('split', [x], ['f32[2]', 'i32[]', 'f32[2]']));
  const { explorer, root } = await explore(sketch);
  explorer.select([1]);
  const lines = [...root.querySelectorAll('.jv-inspector dd')].map(line => line.textContent);
  assert.deepEqual(lines.slice(0, 2), ['f32[2]2 x 8 B', 'i32[]4 B']);
});

const isBelow = (root: HTMLElement) => root.querySelector('.jv-below > .jv-inspector') !== null;

test('details for which a picture is too narrow stand below it and cover nothing', async () => {
  for (const [width, below] of [
    [700, true],
    [740, false]
  ] as const) {
    giveSize(width, 400);
    const { explorer, root } = await explore(affine());
    Object.defineProperty(root.querySelector('.jv-inspector'), 'offsetWidth', { value: 250 });
    explorer.select([3]);
    assert.equal(isBelow(root), below);
    const { left, right } = explorer.picture.covered;
    assert.deepEqual({ left, right }, { left: 0, right: below ? 0 : 250 });
  }
});

test('where the details take from the width of the legend, the picture keeps clear of all its rows', async () => {
  giveSize(900, 400);
  const { explorer, root } = await explore(affine());
  const legend = root.querySelector('.jv-legend') as HTMLElement;
  const details = root.querySelector('.jv-inspector') as HTMLElement;
  Object.defineProperty(legend, 'offsetHeight', { get: () => (details.hidden ? 18 : 36) });
  explorer.select([3]);
  assert.match(explorer.picture.canvas.style.height, /44px/);
  explorer.select([]);
  assert.match(explorer.picture.canvas.style.height, /26px/);
});

test("where the height is the host's own, details below take from it: they stand at the side sooner", async () => {
  giveSize(500, 400);
  const { explorer, root, press } = await explore(twoStages(), { fill: true });
  explorer.select([3]);
  assert.ok(!isBelow(root));
  await press('d');
  assert.ok(isBelow(root));
});

test('what has the focus in the details keeps it where they move below the picture, and back', async () => {
  const resize = resizing();
  giveSize(900, 400);
  const { explorer, root } = await explore(affine());
  explorer.select([3]);
  const close = root.querySelector('.jv-inspector .jv-close') as HTMLElement;
  close.focus();
  for (const [width, below] of [
    [430, true],
    [900, false]
  ] as const) {
    resize(width, 400);
    assert.equal(isBelow(root), below);
    assert.ok(document.activeElement === close);
  }
});

test('the picture keeps clear of the line at the top as it is beside the details', async () => {
  giveSize(380, 400);
  const { explorer, root } = await explore(affine());
  const trail = root.querySelector('.jv-trail') as HTMLElement;
  // At the side of the details there is hardly room for words.
  const height = () => (isBelow(root) ? 40 : 280);
  Object.defineProperty(trail, 'offsetHeight', { get: height });
  explorer.select([3]);
  assert.equal(explorer.picture.covered.top, 40);
});

/** One program in two stages, to be put side by side. */
function twoStages(): Plain {
  const plain = pair();
  const [program] = plain.programs;
  const [first] = program.stages;
  const programs = [{ ...program, stages: [first, { ...first, kind: 'hlo' as const, graph: 1 }] }];
  return { plain: () => ({ ...plain, programs }) };
}

test('what is narrow with two pictures side by side has room for details at the side with one', async () => {
  const resize = resizing();
  giveSize(900, 400);
  const { explorer, root, press } = await explore(twoStages());
  explorer.select([3]);
  assert.ok(!isBelow(root));
  await press('d');
  resize(450, 400);
  assert.ok(isBelow(root));
});

test('two pictures one above the other have twice the height, and not more each than both can be read in', async () => {
  giveSize(400, 240);
  const { root, press } = await explore(twoStages());
  const stages = root.querySelector('.jv-stages') as HTMLElement;
  const alone = parseFloat(stages.style.height);
  stages.style.flexDirection = 'column';
  await press('d');
  assert.ok(parseFloat(stages.style.height) >= 2 * alone, stages.style.height);
  const height = new Height(() => stages, undefined, false);
  assert.ok(height.space(stages, false).height < 240);
  height.set(500);
  assert.ok(height.space(stages, false).height < 250 - 30);
});
