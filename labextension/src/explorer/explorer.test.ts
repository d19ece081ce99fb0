import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { pair } from '../document/sketchPair.ts';
import { bytesText } from '../view/words.ts';
import { details } from './details/details.ts';
import { rowDetails } from './details/row.ts';
import { Explorer } from './explorer.ts';
import type { SavedView } from './versions/saved.ts';
import { explore, giveSize, layoutsHere, withExplorers } from './testExplorer.ts';

const page = withExplorers();

/** A click as the picture hears it. */
function clickAt(root: HTMLElement, { x, y }: { x: number; y: number }): void {
  const stage = root.querySelector('.jv-stage-area') as HTMLElement;
  stage.setPointerCapture = () => undefined;
  for (const [kind, buttons] of [
    ['pointerdown', 1],
    ['pointerup', 0]
  ] as const) {
    const event = new (page().PointerEvent)(kind, { pointerId: 1, clientX: x, clientY: y, buttons });
    stage.dispatchEvent(event as unknown as Event);
  }
}

const pane = (root: HTMLElement) => root.querySelector('.jv-inspector') as HTMLElement;
const items = (root: HTMLElement) => [...root.querySelectorAll('[role=treeitem]')].map(item => item.textContent);

test('the tree says what the picture shows', async () => {
  const { root } = await explore(affine());
  assert.deepEqual(items(root), [
    'w, f32[4,8]',
    'b, f32[4]',
    'x, f32[8]',
    'dot_general, f32[4], reads w and x',
    'add, reads dot_general and b',
    'tanh, reads add',
    'result, reads tanh'
  ]);
  assert.equal(root.getAttribute('aria-label'), 'affine');
  assert.equal(root.querySelector('.jv-stage.jv-on')?.textContent, 'jaxpr 3');
});

test('arrow keys walk along the edges and tell about what is selected', async () => {
  const { root, press } = await explore(affine());
  assert.ok(pane(root).hidden);
  await press('ArrowDown');
  await press('ArrowDown');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'dot_general');
  assert.equal(root.querySelector('[aria-selected=true]')?.textContent, 'dot_general, f32[4], reads w and x');
  await press('ArrowDown');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'add');
  await press('Escape');
  assert.ok(pane(root).hidden);
  assert.equal(root.querySelector('[aria-selected=true]'), null);
});

test('Enter and Backspace open and close; the tree follows', async () => {
  const { explorer, root, press } = await explore(loop());
  assert.ok(explorer.labels.includes('mul'));
  await press('x');
  assert.ok(!explorer.labels.includes('mul'));
  assert.equal([...root.querySelectorAll('[aria-expanded]')][0].getAttribute('aria-expanded'), 'false');
  await press('ArrowDown');
  await press('ArrowDown');
  await press('Enter');
  assert.ok(explorer.labels.includes('mul'));
  await press('Backspace');
  assert.ok(!explorer.labels.includes('mul'));
});

test('links in the details lead to other nodes, through closed regions too', async () => {
  const { explorer, root, press } = await explore(loop());
  await press('x');
  await press('ArrowDown');
  const link = [...pane(root).querySelectorAll('button')].find(one => one.textContent?.includes('cell'));
  link?.click();
  assert.equal(pane(root).querySelector('h4')?.textContent, 'cell');
  assert.ok(!explorer.labels.includes('mul'));
});

test('names are shown as text, whatever they hold', async () => {
  const sketch = new Sketch('<img src=x onerror=alert(1)>');
  sketch.result(
    'result',
    sketch.op('<b>bold</b>', [sketch.argument('x', 'f32[2]')], 'f32[2]', { '<i>': '<script>1</script>' })
  );
  const { root, press } = await explore(sketch);
  await press('ArrowDown');
  await press('ArrowDown');
  assert.equal(root.querySelectorAll('img, script, b, i').length, 0);
  assert.equal(pane(root).querySelector('h4')?.textContent, '<b>bold</b>');
});

test('an empty program says that it is empty', async () => {
  const { root } = await explore(new Sketch());
  assert.match(root.querySelector('.jv-note')?.textContent ?? '', /empty/);
});

test('where no kernel can be shown, it is said', async () => {
  const { root, press } = await explore(affine());
  await press('k');
  assert.match(root.querySelector('.jv-note')?.textContent ?? '', /known where there is optimized HLO/);
  const plain = affine().plain();
  const [program] = plain.programs;
  const programs = [{ ...program, stages: [...program.stages, { ...program.stages[0], kind: 'hlo' as const }] }];
  const compiled = await explore({ plain: () => ({ ...plain, programs }) });
  await compiled.press('k');
  assert.match(compiled.root.querySelector('.jv-note')?.textContent ?? '', /no two of these boxes run as one kernel/);
});

test('a disposed explorer leaves nothing behind', async () => {
  const { explorer } = await explore(affine());
  explorer.dispose();
  assert.equal(document.querySelectorAll('.jv-root').length, 0);
});

test('what the function calls a part is the title of its details, which know its path', () => {
  const sketch = new Sketch();
  const x = sketch.argument('carry[0]', 'f32[2]');
  sketch.mark({ variable: 'adv' });
  sketch.result('result[1]', sketch.op('sin', [x], 'f32[2]'));
  const document = decodePlain(sketch.plain());
  const [given, sine] = [0, 1].map(node => details(document, document.graphs[0], node));
  assert.equal(given.title, 'adv');
  assert.deepEqual(given.parameters, [{ key: 'path', value: 'carry[0]' }]);
  assert.deepEqual(
    sine.reads.map(({ text }) => text),
    ['adv']
  );
});

test('the details of an operation: types, size, what it reads, where it is read', () => {
  const document = decodePlain(loop().plain());
  const [graph] = document.graphs;
  const mul = 7;
  const found = details(document, graph, mul);
  assert.equal(found.title, 'mul');
  assert.deepEqual(found.values, [{ type: 'f32[4]', size: '16 B' }]);
  assert.deepEqual(
    found.reads.map(read => read.text),
    ['argument', 'argument']
  );
  assert.deepEqual(found.origins, []);
  assert.deepEqual(
    found.readBy.map(read => read.text),
    ['add', 'result']
  );
  assert.deepEqual(
    found.inside.map(owner => owner.text),
    ['cell']
  );
  assert.equal(rowDetails(document, graph, 1).operations, 2);
});

test('an argument of a loop says what it is and where it comes from, with links', async () => {
  const document = decodePlain(loop().plain());
  const [kept, carried, slice] = [4, 5, 6].map(node => details(document, document.graphs[0], node));
  assert.deepEqual([kept.title, carried.title, slice.title], ['argument', 'carry', 'slice']);
  assert.deepEqual(kept.origins, [{ how: 'same as', from: { node: 0, text: 'w' } }]);
  assert.deepEqual(carried.origins, [
    { how: 'starts with', from: { node: 1, text: 'h' } },
    { how: 'next turn from', from: { node: 8, text: 'add' } }
  ]);
  assert.deepEqual(slice.origins, [{ how: 'slice of', from: { node: 2, text: 'xs' } }]);

  giveSize(700, 400);
  const { explorer, root } = await explore(loop());
  const place = explorer.locate('carry');
  assert.ok(place);
  clickAt(root, place);
  assert.equal(pane(root).querySelector('h4')?.textContent, 'carry');
  const next = [...pane(root).querySelectorAll('button')].find(one => one.textContent === 'add');
  next?.click();
  assert.equal(pane(root).querySelector('h4')?.textContent, 'add');
});

test('a click moves nothing, and a double click opens what stood under its first click', async () => {
  giveSize(700, 400);
  const { explorer, root } = await explore(loop());
  const [before, add] = [explorer.locate('cell'), explorer.locate('add')];
  assert.ok(before && add);
  clickAt(root, before);
  assert.ok(!pane(root).hidden);
  assert.ok(pane(root).classList.contains('jv-through'), 'a second click reaches the picture');
  await new Promise(done => setTimeout(done, 20));
  assert.deepEqual(explorer.locate('cell'), before);
  clickAt(root, add);
  const event = new (page().MouseEvent)('dblclick', { clientX: add.x, clientY: add.y, bubbles: true });
  root.querySelector('.jv-stage-area')?.dispatchEvent(event as unknown as Event);
  await new Promise(done => setTimeout(done, 20));
  assert.ok(!explorer.labels.includes('mul'));
});

test('f fits the picture that is on its way, and is no wish for the one after it', async () => {
  giveSize(700, 400);
  const { explorer, root, press } = await explore(loop());
  const stage = root.querySelector('.jv-stage-area') as HTMLElement;
  const hit = (key: string) =>
    stage.dispatchEvent(
      new (page().KeyboardEvent)('keydown', { key, bubbles: true, cancelable: true }) as unknown as Event
    );
  const cell = explorer.locate('cell');
  assert.ok(cell);
  clickAt(root, cell);
  explorer.picture.zoomBy(3);
  hit('Enter');
  hit('f');
  await new Promise(done => setTimeout(done, 50));
  const [fitted, zoom] = [explorer.locate('cell'), explorer.picture.zoom];
  assert.ok(fitted);
  await press('f');
  assert.deepEqual([explorer.locate('cell'), explorer.picture.zoom], [fitted, zoom]);
  explorer.picture.zoomBy(3);
  await press('Enter');
  assert.ok(explorer.picture.placed);
});

test('sizes in words', () => {
  assert.deepEqual([0, 999, 1000, 4096, 25_000_000, -1].map(bytesText), [
    '0 B',
    '999 B',
    '1.0 kB',
    '4.1 kB',
    '25 MB',
    ''
  ]);
});

test('c goes through what the colours can say, and the legend says what they do', async () => {
  const { root, press } = await explore(affine());
  const legend = root.querySelector('.jv-legend') as HTMLElement;
  assert.equal(legend.textContent, 'matmulelementwise');
  await press('c');
  assert.match(legend.textContent ?? '', /^type of numberf32/);
  await press('c');
  assert.match(legend.textContent ?? '', /^largest value10 B to 100 B/);
  await press('c');
  assert.match(legend.textContent ?? '', /^share of the FLOPs5 to 15 %40 % and more/);
  await press('c');
  assert.equal(legend.textContent, 'matmulelementwise');
});

const heads = (root: HTMLElement) => [...root.querySelectorAll('.jv-pane-head')];
const told = (root: HTMLElement) => heads(root).map(head => head.querySelector('.jv-pane-counts')?.textContent);
const words = (root: HTMLElement) => [...root.querySelectorAll('.jv-words')].map(one => one.textContent);

test('a comparison opens with both programs, says what differs, and d leads to one picture and back', async () => {
  const { explorer, root, press } = await explore({ plain: pair });
  assert.equal(explorer.panes.length, 2);
  assert.deepEqual(told(root), ['1 only here1 changed1 the same', '1 only here1 changed1 the same']);
  assert.equal(explorer.panes[1].viewing.at, 1);
  assert.equal(explorer.panes[1].marked.length, 2);
  assert.equal(explorer.view.beside?.stage, 'jaxpr@1');
  await press('d');
  assert.deepEqual([explorer.panes.length, heads(root).length], [1, 0]);
  assert.equal(explorer.view.beside, undefined);
  assert.equal(explorer.panes[0].marked.length, 0);
  await press('d');
  assert.equal(explorer.panes.length, 2);
});

test('what is lit is told by what it is: arguments and results are no operations', async () => {
  const { explorer, root } = await explore(affine());
  const { nodes } = affine().plain().graphs[0];
  const last = nodes.kind.length - 1;
  explorer.select([last - 1, last]);
  assert.equal(words(root)[0], '1 operation and 1 value lit');
  explorer.select([0, 1, last]);
  assert.equal(words(root)[0], '3 values lit');
});

test('what is selected at one side is lit at the other, and n goes from one difference to the next', async () => {
  const { explorer, root, press } = await explore({ plain: pair });
  await press('n');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'add');
  assert.deepEqual(explorer.panes[1].viewing.linked, [4]);
  assert.equal(words(root)[1], '1 operation lit');
  await press('n');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'tanh');
  assert.deepEqual(explorer.panes[1].viewing.linked, []);
  await press('N');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'add');
  const link = [...pane(root).querySelectorAll('dt')].find(term => term.textContent === 'in other');
  assert.equal(link?.nextElementSibling?.textContent, 'addchanged');
});

test('two stages of a program stand side by side; without a second stage it is said how to compare', async () => {
  const { explorer, root, press } = await explore({ plain: () => ({ ...pair(), links: [] }) });
  // Two programs without links are a choice, not a comparison.
  assert.equal(explorer.panes.length, 1);
  const picker = root.querySelector('select.jv-program') as HTMLSelectElement;
  assert.deepEqual(
    [...picker.options].map(option => option.textContent),
    ['affine', 'other']
  );
  picker.value = '1';
  picker.dispatchEvent(new (page().Event)('change') as unknown as Event);
  await press('');
  assert.equal(explorer.panes[0].viewing.at, 1);
  assert.equal((root.querySelector('select.jv-program') as HTMLSelectElement).value, '1');
  await press('d');
  assert.match(root.querySelector('.jv-note')?.textContent ?? '', /nothing to compare.*--vs/);
});

test('a view remembers the picture beside it, and where the camera was', async () => {
  const { explorer } = await explore({ plain: pair });
  const view = {
    ...explorer.view,
    beside: { stage: 'jaxpr@1', place: 0.3 },
    camera: { x: 12, y: -7, scale: 1.5 }
  };
  explorer.restore(view);
  await new Promise(done => setTimeout(done, 20));
  assert.deepEqual(explorer.view.beside, view.beside);
  assert.equal(explorer.picture.zoom, 1.5);
  assert.deepEqual(explorer.view.camera, view.camera);
});

test('the tour is there by itself once, goes step by step, and comes back from the help', async () => {
  const store = new Map<string, string>();
  const localStorage = {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, value: string) => store.set(key, value)
  };
  Object.assign(globalThis, { localStorage });
  const error = { kind: 'TypeError', message: '', case: '', title: '', reason: '', cures: [], link: '', stack: -1 };
  const failing = affine().plain();
  Object.assign(failing.programs[0], { error: { ...error, nodes: [] } });
  try {
    // Over an error that a person has to read, it does not begin; the next program has it.
    const failed = await explore({ plain: () => failing });
    assert.ok((failed.root.querySelector('.jv-tour') as HTMLElement).hidden);
    assert.ok(failed.root.querySelector('.jv-failure'));
    const { root, press } = await explore(affine());
    const tour = root.querySelector('.jv-tour') as HTMLElement;
    const click = (words: string) =>
      [...tour.querySelectorAll('button')].find(one => one.textContent === words)?.click();
    assert.ok(!tour.hidden);
    assert.equal(root.querySelectorAll('.jv-toured').length, 1);
    for (let step = 1; step < 5; step++) {
      assert.equal(tour.querySelector('b')?.textContent, `${step} of 5`);
      click('next');
    }
    assert.equal(tour.querySelector('b')?.textContent, '5 of 5');
    click('back');
    assert.equal(tour.querySelector('b')?.textContent, '4 of 5');
    // No line is shown yet: where they are comes first.
    assert.match(tour.querySelector('.jv-tour-words')?.textContent ?? '', /^Under Python are your lines/);
    await press('Escape');
    assert.ok(tour.hidden);
    assert.equal(root.querySelectorAll('.jv-toured').length, 0);
    const again = await explore(affine());
    assert.ok((again.root.querySelector('.jv-tour') as HTMLElement).hidden);
    await again.press('?');
    (again.root.querySelector('.jv-help-tour') as HTMLElement).click();
    assert.ok(!(again.root.querySelector('.jv-tour') as HTMLElement).hidden);
    assert.ok((again.root.querySelector('.jv-help') as HTMLElement).hidden);
  } finally {
    Reflect.deleteProperty(globalThis, 'localStorage');
  }
});

test('the tour goes on with one key, and each step outlines what it tells of, wherever that is', async () => {
  const { root, press } = await explore(affine());
  await press('1');
  await press('?');
  (root.querySelector('.jv-help-tour') as HTMLElement).click();
  const outlined: string[] = [];
  const next = (): HTMLElement => root.querySelector('.jv-tour-next') as HTMLElement;
  next().focus();
  for (let step = 1; step < 5; step++) {
    (document.activeElement as HTMLElement).click();
    outlined.push(root.querySelector('.jv-toured')?.textContent ?? '');
  }
  // The source is shown, and its button pressed as that of the stage is.
  assert.deepEqual(outlined.slice(1), ['jaxpr 3', 'text', '?']);
  assert.equal(document.activeElement?.textContent, 'done');
  (document.querySelector('.jv-tour button') as HTMLElement).click();
  const opener = root.querySelector('.jv-more') as HTMLElement;
  root.querySelector('.jv-bar-more')?.append(root.querySelector('.jv-help-opener') as HTMLElement);
  opener.hidden = false;
  next().click();
  assert.equal(root.querySelector('.jv-toured'), opener, 'what is folded is found behind its button');
});

test('where the camera was moved is kept once it rests; a view that is shown again changes nothing', async () => {
  giveSize(700, 400);
  const host = document.createElement('div');
  document.body.append(host);
  const saved: SavedView[] = [];
  const layouts = layoutsHere();
  const options = { document: decodePlain(loop().plain()), layouts, save: (view: SavedView) => saved.push(view) };
  const explorer = new Explorer(host, options);
  await new Promise(done => setTimeout(done, 20));
  assert.equal(explorer.view.camera, undefined);
  explorer.picture.zoomBy(2);
  assert.equal(saved.length, 0);
  await new Promise(done => setTimeout(done, 400));
  assert.equal(saved.length, 1);
  assert.ok(saved[0].camera);
  explorer.dispose();
  const again = new Explorer(host, { ...options, view: saved[0] });
  await new Promise(done => setTimeout(done, 400));
  assert.deepEqual(again.view.camera, saved[0].camera);
  assert.equal(saved.length, 1);
});

test('the source comes with the whole window and goes with it, unless it was asked for', async () => {
  giveSize(1280, 800);
  const { root, press } = await explore(affine());
  const source = root.querySelector('.jv-source-pane') as HTMLElement;
  await press('w');
  assert.ok(!source.hidden);
  await press('w');
  assert.ok(source.hidden);
  await press('1');
  await press('w');
  await press('w');
  assert.ok(!source.hidden);
  await press('1');
  await press('w');
  await press('1');
  await press('1');
  await press('w');
  assert.ok(!source.hidden, 'it was asked for meanwhile');
});

test('the whole window shows at first what has room beside the details', async () => {
  const abreast = new Sketch('abreast');
  const x = abreast.argument('x', 'f32[4]');
  const sums = abreast.op('jit', [x], 'f32[4]', {}, 'sums');
  abreast.region(abreast.last, 'jit', 'sums', () => {
    const inner = abreast.argument('', 'f32[4]', { kind: 'enter', from: x });
    const parts = Array.from({ length: 9 }, (_, i) => abreast.op(`part_${i}_of_the_sum`, [inner], 'f32[4]'));
    abreast.result('', abreast.op('add_n', parts, 'f32[4]'), { kind: 'leave', to: sums });
  });
  abreast.result('', abreast.op('sin', [sums], 'f32[4]'));
  giveSize(1600, 800);
  Object.defineProperty(page().HTMLElement.prototype, 'offsetWidth', {
    configurable: true,
    get(this: HTMLElement) {
      return this.classList.contains('jv-inspector') && !this.hidden ? 900 : 0;
    }
  });
  const { explorer, press } = await explore(abreast);

  const isOpen = (): boolean => explorer.panes[0].viewing.openings.open.size > 0;
  await press('w');
  assert.ok(isOpen());
  await press('w');
  explorer.select([1]);
  await press('w');
  assert.ok(!isOpen());
});
