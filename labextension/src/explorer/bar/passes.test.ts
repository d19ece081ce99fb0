import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine } from '../../document/sketch.ts';
import { mergedAndFused } from '../../document/sketchPasses.ts';
import { explore, withExplorers } from '../testExplorer.ts';

const page = withExplorers();

const pane = (root: HTMLElement) => root.querySelector('.jv-inspector') as HTMLElement;
const items = (root: HTMLElement) => [...root.querySelectorAll('[role=treeitem]')].map(item => item.textContent);

const passLine = (root: HTMLElement) => root.querySelector('.jv-pass-line') as HTMLElement;
const lineWords = (root: HTMLElement) =>
  passLine(root).hidden ? [] : [...passLine(root).children].slice(2).map(one => one.textContent);

test('keys step through the passes that changed something, and each says what it did', async () => {
  const { root, press } = await explore({ plain: mergedAndFused });
  const slider = root.querySelector('.jv-pass-range') as HTMLInputElement;
  assert.deepEqual(lineWords(root), []);
  await press('4');
  assert.deepEqual(lineWords(root), ['cse', '1 of 2 in all', '1 gone', '1 changed', '']);
  assert.equal(slider.value, '1');
  assert.deepEqual(items(root), ['x, f32[4]', 'sine, reads x', 'add, reads sine', 'result, reads add']);
  await press('.');
  assert.deepEqual(lineWords(root), ['fusion', '2 of 2 in all', '1 new', '2 fused', 'with 2 smaller passes before it']);
  await press(',');
  await press(',');
  assert.deepEqual(lineWords(root), ['before the passes', 'as the compiler was given it', '']);
  assert.equal((passLine(root).querySelector('button') as HTMLButtonElement).disabled, true);
  // A stage stands at an end of the slider.
  const stands = (): (string | null)[] => [slider.value, slider.getAttribute('aria-valuetext')];
  await press('2');
  assert.deepEqual(stands(), ['0', 'before the passes']);
  assert.deepEqual(lineWords(root), []);
  slider.value = '2';
  slider.dispatchEvent(new (page().Event)('input') as unknown as Event);
  await press('');
  assert.equal(lineWords(root)[0], 'fusion');
});

test('all passes are listed with what each did, and lead to each of them', async () => {
  const { root, press } = await explore({ plain: mergedAndFused });
  await press('4');
  const list = root.querySelector('.jv-pass-list') as HTMLElement;
  const listed = () =>
    [...list.querySelectorAll('button')].map(item => [...item.childNodes].map(one => one.textContent));
  const on = () => list.querySelector('.jv-on')?.firstChild?.textContent;
  assert.ok(list.hidden);
  (root.querySelector('.jv-pass-all') as HTMLElement).click();
  for (let tries = 0; tries < 100 && listed()[2].length < 3; tries++) {
    await press('');
  }
  assert.deepEqual(listed(), [['before the passes'], ['cse', '−1', '~1'], ['fusion', '+1', '2 fused']]);
  assert.equal(on(), 'cse');
  list.querySelectorAll('button')[2].click();
  await press('');
  assert.equal(lineWords(root)[0], 'fusion');
  assert.equal(on(), 'fusion');
  await press('2');
  assert.ok((root.querySelector('.jv-pass-top') as HTMLElement).hidden);
});

test('the selection stays on its instruction through the passes, and its story leads to each of them', async () => {
  const { root, press } = await explore({ plain: mergedAndFused });
  const title = () => pane(root).querySelector('h4')?.textContent;
  const story = () => [...pane(root).querySelectorAll('.jv-place')].map(line => line.textContent);
  await press('4');
  await press(',');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) {
    await press(key);
  }
  assert.equal(title(), 'add.3');
  assert.deepEqual(story(), ['at first: given to the compiler', 'cse: reads sine.1, before sine.2', 'fusion: fused']);
  await press('.');
  assert.equal(title(), 'add.3');
  const link = [...pane(root).querySelectorAll('button')].find(button => button.textContent === 'fusion');
  link?.click();
  await press('');
  assert.equal(lineWords(root)[0], 'fusion');
  assert.equal(title(), 'add.3');
});

test('what a pass removed is shown where it was; what took its place is selected after it', async () => {
  const { explorer, root, press } = await explore({ plain: mergedAndFused });
  await press('4');
  const gone = [...passLine(root).querySelectorAll('button')].find(button => button.textContent === '1 gone');
  gone?.click();
  await press('');
  assert.deepEqual(lineWords(root), ['before cse', 'what it removes is lit']);
  assert.equal(explorer.labels.filter(label => label === 'sine').length, 2);
  const { marked, scene } = explorer.panes[0];
  assert.deepEqual(
    marked.map(box => scene?.visible.item[box]),
    explorer.panes[0].viewing.linked.map(node => -1 - node)
  );
  assert.equal(marked.length, 1);
  await press('ArrowDown');
  await press('ArrowDown');
  await press('ArrowRight');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'sine.2');
  await press('.');
  assert.equal(pane(root).querySelector('h4')?.textContent, 'sine.1');
});

test('what a pass did is lit until the next pass, where nothing is selected that nobody chose', async () => {
  const { explorer, root, press } = await explore({ plain: mergedAndFused });
  const click = async (words: string): Promise<void> => {
    [...passLine(root).querySelectorAll('button')].find(button => button.textContent === words)?.click();
    await press('');
  };
  const lit = () => explorer.panes[0].viewing.linked.length;
  await press('4');
  await click('1 changed');
  assert.equal(lit(), 1);
  await press('.');
  assert.equal(lineWords(root)[0], 'fusion');
  assert.deepEqual([explorer.selection, lit()], [[], 0]);
  await click('2 fused');
  assert.equal(lit(), 2);
  await press(',');
  assert.deepEqual([explorer.selection, lit()], [[], 0]);
  // The same of what is gone, which is shown in the state before.
  await click('1 gone');
  assert.equal(lineWords(root)[0], 'before cse');
  assert.equal(lit(), 1);
  await press('.');
  assert.deepEqual([explorer.selection, lit()], [[], 0]);
  await press(',');
  assert.equal(lineWords(root)[0], 'before the passes');
});

test('the slider of one of several programs is there only while that program is shown', async () => {
  const plain = mergedAndFused();
  const program = { ...plain.programs[0], name: 'other', stages: [{ kind: 'hlo' as const, graph: 1, seconds: {} }] };
  const graphs = [...plain.graphs, structuredClone(plain.graphs[0])];
  const { root, press } = await explore({
    plain: () => ({ ...plain, graphs, programs: [...plain.programs, program] })
  });
  const hidden = () => (root.querySelector('.jv-passes') as HTMLElement).hidden;
  const choice = root.querySelector('select.jv-program') as HTMLSelectElement;
  assert.equal(hidden(), false);
  choice.value = '1';
  choice.dispatchEvent(new (page().Event)('change') as unknown as Event);
  await press('');
  assert.equal(hidden(), true);
  await press('4');
  assert.deepEqual(lineWords(root), []);
});

test('each of several programs has a slider through its own passes', async () => {
  const plain = mergedAndFused();
  const [passes] = plain.passes ?? [];
  const program = { ...plain.programs[0], name: 'other', stages: [{ kind: 'hlo' as const, graph: 1, seconds: {} }] };
  const graphs = [...plain.graphs, structuredClone(plain.graphs[0])];
  const [given, cse] = passes.states;
  const shorter: typeof passes = { ...passes, graph: 1, states: [given, cse] };
  const { root, press } = await explore({
    plain: () => ({ ...plain, graphs, programs: [...plain.programs, program], passes: [passes, shorter] })
  });
  const range = root.querySelector('.jv-pass-range') as HTMLInputElement;
  const choose = async (number: string) => {
    const choice = root.querySelector('select.jv-program') as HTMLSelectElement;
    choice.value = number;
    choice.dispatchEvent(new (page().Event)('change') as unknown as Event);
    await press('');
  };
  await press('4');
  await press('.');
  assert.deepEqual([lineWords(root)[0], range.max], ['fusion', '2']);
  await choose('1');
  assert.deepEqual([lineWords(root), range.max, range.value], [[], '1', '1']);
  await press('4');
  assert.deepEqual(lineWords(root).slice(0, 2), ['cse', '1 of 1 in all']);
  await choose('0');
  await press('4');
  assert.deepEqual([lineWords(root)[0], range.max, range.value], ['fusion', '2', '2']);
});

test('after the last pass comes HLO, and nothing after that', async () => {
  const plain = mergedAndFused();
  const [program] = plain.programs;
  const graphs = [...plain.graphs, structuredClone(plain.graphs[0])];
  const stages = [...program.stages, { kind: 'hlo' as const, graph: 1, seconds: {} }];
  const { explorer, root, press } = await explore({
    plain: () => ({ ...plain, graphs, programs: [{ ...program, stages }] })
  });
  for (let times = 0; times < 5; times++) {
    await press('.');
  }
  assert.equal(explorer.view.stage, 'hlo');
  assert.match(root.querySelector('.jv-note')?.textContent ?? '', /last pass/);
  const slider = root.querySelector('.jv-pass-range') as HTMLInputElement;
  assert.deepEqual([slider.value, slider.getAttribute('aria-valuetext')], ['2', 'after all passes']);
  await press(',');
  assert.equal(lineWords(root)[0], 'fusion');
});

test('without passes there is no slider, and the key says how to have them', async () => {
  const { root, press } = await explore(affine());
  assert.ok((root.querySelector('.jv-passes') as HTMLElement).hidden);
  await press('.');
  assert.match(root.querySelector('.jv-note')?.textContent ?? '', /%jaxviz --passes/);
});
