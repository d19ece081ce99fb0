import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FateKind } from '../../document/graph.ts';
import { mergedAndFused } from '../../document/sketchPasses.ts';
import { affine, calledTwice, Sketch } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import { explore, giveSize, withExplorers, type Explored } from '../testExplorer.ts';

const page = withExplorers();

const list = ({ root }: Explored): HTMLElement => root.querySelector('.jv-text') as HTMLElement;
const rows = (explored: Explored): HTMLElement[] => [...list(explored).querySelectorAll<HTMLElement>('.jv-text-line')];
const lineWith = (explored: Explored, text: string): HTMLElement =>
  rows(explored).find(row => row.textContent?.includes(text)) as HTMLElement;
const marked = (explored: Explored, what = 'jv-marked'): string[] =>
  rows(explored)
    .filter(row => row.classList.contains(what))
    .map(row => row.querySelector('code')?.textContent?.trim() ?? '');
const title = ({ root }: Explored): string | null | undefined => root.querySelector('.jv-inspector h4')?.textContent;

async function pressIn(explored: Explored, key: string): Promise<void> {
  const event = new (page().KeyboardEvent)('keydown', { key, bubbles: true, cancelable: true });
  list(explored).dispatchEvent(event as unknown as Event);
  await new Promise(done => setTimeout(done, 5));
}

/** Many additions in a row. */
function long(): Sketch {
  const sketch = new Sketch('long');
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 500; i++) {
    value = sketch.op('add', [value, value], 'f32[4]');
  }
  sketch.result('', value);
  return sketch;
}

test('t shows the text of the stage beside the picture, 1 the source in its place, and again neither', async () => {
  const plain = affine().plain();
  const [path, text] = ['one.py', 'x = x + 1'].map(one => (plain.strings as string[]).push(one) - 1);
  const files = { path: [path], label: [path], library: [0], start: [1], text: [text] };
  const explored = await explore({ plain: () => ({ ...plain, files }) });
  const seen = (): string => {
    const pane = explored.root.querySelector('.jv-source-pane') as HTMLElement;
    return pane.hidden ? '' : (pane.querySelector('.jv-on')?.textContent ?? '');
  };
  const [python, stage] = [...explored.root.querySelectorAll<HTMLElement>('.jv-source-tabs button')];
  const told: string[] = [];
  for (const key of ['t', '1', '1', '1', 't', 't']) {
    await explored.press(key);
    told.push(seen());
  }
  assert.deepEqual(told, ['jaxpr', 'Python', '', 'Python', 'jaxpr', '']);
  await explored.press('1');
  stage.click();
  assert.equal(rows(explored).length, 5);
  assert.equal(explored.root.querySelector('.jv-python')?.getAttribute('aria-pressed'), 'false');
  python.click();
  assert.equal(seen(), 'Python');
  assert.equal(explored.root.querySelector('.jv-python')?.getAttribute('aria-pressed'), 'true');
});

test('without source, 1 shows the text of the stage, and the bar says so', async () => {
  const explored = await explore(affine());
  await explored.press('1');
  assert.equal(rows(explored).length, 5);
  assert.equal(explored.root.querySelector('.jv-python')?.textContent, 'text');
});

test('a click on a line selects what it is about, and what is selected in the picture marks its line', async () => {
  const explored = await explore(affine());
  await explored.press('t');
  lineWith(explored, '= add').click();
  assert.equal(title(explored), 'add');
  assert.deepEqual(marked(explored), ['e:f32[4] = add d b']);
  await explored.press('ArrowDown');
  assert.deepEqual(marked(explored), ['f:f32[4] = tanh e']);
  lineWith(explored, 'tanh').click();
  assert.deepEqual(marked(explored), [], 'a second time it is let go');
});

test('what is pointed at in the picture is lit in the text', async () => {
  giveSize(900, 400);
  const explored = await explore(affine());
  await explored.press('t');
  const spot = explored.explorer.locate('tanh');
  assert.ok(spot);
  const stage = explored.root.querySelector('.jv-stage-area') as HTMLElement;
  const event = new (page().PointerEvent)('pointermove', { pointerId: 1, clientX: spot.x, clientY: spot.y });
  stage.dispatchEvent(event as unknown as Event);
  assert.deepEqual(marked(explored, 'jv-hinted'), ['f:f32[4] = tanh e']);
});

test('what is searched for is marked in the text', async () => {
  const explored = await explore(affine());
  await explored.press('t');
  await explored.press('/');
  const field = explored.root.querySelector('.jv-search-input') as HTMLInputElement;
  field.value = 'op:add';
  field.dispatchEvent(new (page().Event)('input') as unknown as Event);
  assert.deepEqual(marked(explored, 'jv-found'), ['e:f32[4] = add d b']);
});

test('of a long text only the lines in view are elements, and what is selected comes into view', async () => {
  giveSize(900, 400);
  const explored = await explore(long());
  await explored.press('t');
  assert.ok(rows(explored).length < 80);
  assert.equal(list(explored).querySelector<HTMLElement>('.jv-text-page')?.style.height, `${502 * 18}px`);
  explored.explorer.select([400]);
  await new Promise(done => setTimeout(done, 20));
  assert.deepEqual(marked(explored).length, 1);
  assert.equal(marked(explored)[0].startsWith('pk:f32[4] = add'), true, marked(explored)[0]);
  assert.ok(rows(explored).length < 80);
});

test('keys go from line to line, and Enter selects; letters are still those of the picture', async () => {
  const explored = await explore(affine());
  await explored.press('t');
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'Enter']) {
    await pressIn(explored, key);
  }
  assert.equal(title(explored), 'add');
  assert.equal(list(explored).getAttribute('aria-activedescendant'), rows(explored)[2].id);
  await pressIn(explored, 't');
  assert.ok((explored.root.querySelector('.jv-source-pane') as HTMLElement).hidden);
});

const nameIn = (explored: Explored, text: string, name: string): HTMLElement =>
  [...lineWith(explored, text).querySelectorAll<HTMLElement>('.jv-text-name')].find(
    one => one.textContent === name
  ) as HTMLElement;
const arrived = (explored: Explored): string[] => marked(explored, 'jv-arrived');

test('a name leads to where it is made, and is lit wherever it stands', async () => {
  const explored = await explore(affine());
  await explored.press('t');
  const name = nameIn(explored, '= add', 'd');
  name.dispatchEvent(new (page().PointerEvent)('pointermove', { bubbles: true }) as unknown as Event);
  const lit = [...list(explored).querySelectorAll('.jv-same')];
  assert.deepEqual(
    lit.map(one => [one.textContent, one.closest('.jv-text-line')?.querySelector('.jv-text-op')?.textContent]),
    [
      ['d', 'dot_general'],
      ['d', 'add']
    ]
  );
  assert.match(name.title, /^d:f32\[4\] = dot_general/);
  name.click();
  assert.equal(title(explored), 'dot_general');
  assert.equal(arrived(explored)[0].slice(0, 9), 'd:f32[4] ');
  nameIn(explored, '= add', 'd').click();
  assert.equal(title(explored), 'dot_general', 'what is selected is not let go');
  nameIn(explored, '= add', 'e').click();
  assert.equal(title(explored), 'add', 'the name that a line makes is part of it');
  assert.deepEqual(arrived(explored), []);
});

test('the name of a function leads to it, from there to all that call it, and back', async () => {
  const plain = calledTwice().plain();
  plain.programs[0].stages[0].kind = 'stablehlo';
  const explored = await explore({ plain: () => plain });
  await explored.press('t');
  nameIn(explored, '%1 = call', '@double').click();
  assert.deepEqual(
    arrived(explored).map(text => text.slice(0, 25)),
    ['func.func private @double']
  );
  const head = nameIn(explored, 'func.func private', 'private @double');
  head.dispatchEvent(new (page().PointerEvent)('pointermove', { bubbles: true }) as unknown as Event);
  assert.equal(head.title, 'to the 2 operations that call it');
  head.click();
  assert.deepEqual(
    marked(explored).map(text => text.slice(0, 9)),
    ['%0 = call', '%1 = call']
  );
  await pressIn(explored, 'Backspace');
  assert.equal(arrived(explored)[0].slice(0, 9), 'func.func');
  await pressIn(explored, 'ArrowLeft');
  assert.equal(arrived(explored)[0].slice(0, 9), '%1 = call');
  await pressIn(explored, 'ArrowRight');
  assert.equal(arrived(explored)[0].slice(0, 9), 'func.func');
  assert.equal(nameIn(explored, 'func.func public', 'public @main'), undefined, 'nothing calls the program');
});

test('the line of what the compiler did not keep says why', async () => {
  const plain = affine().plain();
  plain.fates = [{ graph: 0, kind: [0, 0, 0, 1, FateKind.dead, 1, 0], where: [0, 0, 0, 0, 0, 0, 0], by: [] }];
  plain.fates[0].by = plain.fates[0].where.map(() => -1);
  const explored = await explore({ plain: () => plain });
  await explored.press('t');
  const gone = rows(explored).filter(row => row.classList.contains('jv-gone'));
  assert.deepEqual(
    gone.map(row => row.textContent),
    ['3    e:f32[4] = add d bdead']
  );
});

test('the lines of a state of the compiler say what the pass did to them', async () => {
  const explored = await explore({ plain: mergedAndFused });
  for (const key of ['t', '4', '.']) {
    await explored.press(key);
  }
  const words = [...list(explored).querySelectorAll('.jv-text-word')];
  assert.deepEqual(
    words.map(one => [one.textContent, one.parentElement?.querySelector('code')?.textContent?.trim().split(' = ')[0]]),
    [
      ['fused', '%sine.9'],
      ['fused', 'ROOT %add.3'],
      ['new', 'ROOT %sine_add']
    ]
  );
});

test('an explorer that takes the place of another one reads what that one read', async () => {
  const before = await explore(affine());
  await before.press('t');
  const after = await explore(affine());
  after.explorer.inheriting.stand(before.explorer.inheriting.standing);
  assert.ok(!list(after).hidden);
});

test('beside another program the lines tell what differs, in the look of the side that is read', async () => {
  const explored = await explore({ plain: pair });
  const told = (): string[] =>
    rows(explored).flatMap(row =>
      [...row.querySelectorAll('.jv-text-word')].map(
        word => `${word.textContent}: ${word.className.split('jv-text-')[2]}`
      )
    );
  await explored.press('t');
  assert.deepEqual(told(), ['changed: changed', 'only here: removed']);
  explored.explorer.panes[1].stage.dispatchEvent(new (page().Event)('pointerdown') as unknown as Event);
  assert.deepEqual(told(), ['changed: changed', 'only here: added']);
  await explored.press('d');
  assert.deepEqual(told(), []);
  await explored.press('d');
  assert.deepEqual(told(), ['changed: changed', 'only here: removed']);
});

test('what stands inside a line is folded behind it by its triangle or Space, and shown where it is selected', async () => {
  const plain = calledTwice().plain();
  plain.programs[0].stages[0].kind = 'stablehlo';
  const explored = await explore({ plain: () => plain });
  await explored.press('t');
  const all = rows(explored).length;
  const body = lineWith(explored, 'private @double').dataset.line;
  const head = (): HTMLElement => list(explored).querySelector(`[data-line="${body}"]`) as HTMLElement;
  const inside = Number(
    /Fold the (\d+) lines/.exec(head().querySelector<HTMLElement>('.jv-text-fold')?.title ?? '')?.[1]
  );
  head().querySelector<HTMLElement>('.jv-text-fold')?.click();
  assert.equal(head().querySelector('.jv-text-inside')?.textContent, `… ${inside} lines`);
  assert.equal(rows(explored).length, all - inside);
  assert.equal(list(explored).querySelector<HTMLElement>('.jv-text-page')?.style.height, `${(all - inside) * 18}px`);
  assert.equal(title(explored), undefined, 'and selects nothing');
  await pressIn(explored, ' ');
  assert.equal(rows(explored).length, all);
  const button = [...explored.root.querySelectorAll<HTMLElement>('.jv-source-head button')].find(
    one => one.textContent === 'fold'
  );
  button?.click();
  assert.equal(rows(explored).length, all - inside, 'the program stays open');
  assert.equal(button?.textContent, 'unfold');
  explored.explorer.select([3]);
  await new Promise(done => setTimeout(done, 20));
  assert.equal(rows(explored).length, all);
});
