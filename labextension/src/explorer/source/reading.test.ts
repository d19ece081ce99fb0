import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pair } from '../../document/sketchPair.ts';
import { explore, giveSize, resizing, withExplorers, type Explored } from '../testExplorer.ts';

withExplorers();

/** A program with two stages. */
function stages(): ReturnType<typeof pair> {
  const plain = pair();
  const [program] = plain.programs;
  const [first] = program.stages;
  return { ...plain, programs: [{ ...program, stages: [first, { ...first, kind: 'hlo', graph: 1 }] }] };
}

/** The same, with its source. */
function withSource(): ReturnType<typeof pair> {
  const plain = stages();
  const strings = plain.strings as string[];
  const [path, text] = [strings.push('one.py') - 1, strings.push('x = x + 1') - 1];
  return { ...plain, files: { path: [path], label: [path], library: [0], start: [1], text: [text] } };
}

const shown = ({ root }: Explored): boolean => !(root.querySelector('.jv-source-pane') as HTMLElement).hidden;

test('the source that came with the whole window gives its room to a second picture, and comes back after it', async () => {
  giveSize(1280, 800);
  const explored = await explore({ plain: stages });
  const seen: boolean[] = [];
  for (const key of ['w', 'd', 'd', 'd', 'w', 'd']) {
    await explored.press(key);
    seen.push(shown(explored));
  }
  // The last two: it does not come back where the whole window went meanwhile.
  assert.deepEqual(seen, [true, false, true, false, false, false]);
});

test('the source that was asked for stays, and so does any where there is room for all three', async () => {
  giveSize(1280, 800);
  const asked = await explore({ plain: stages });
  for (const key of ['w', '1', '1', 'd']) {
    await asked.press(key);
  }
  assert.ok(shown(asked));
  giveSize(1920, 1080);
  const wide = await explore({ plain: stages });
  await wide.press('w');
  await wide.press('d');
  assert.ok(shown(wide));
});

test('a picture that takes the place of another knows why the source is there', async () => {
  giveSize(1280, 800);
  const before = await explore({ plain: stages });
  await before.press('w');
  const after = await explore({ plain: stages });
  after.explorer.inheriting.stand(before.explorer.inheriting.standing);
  assert.ok(shown(after));
  await after.press('w');
  assert.ok(!shown(after), 'it came with the whole window and goes with it');
});

test('in a narrow window the source does not come by itself', async () => {
  giveSize(640, 400);
  const explored = await explore({ plain: stages });
  await explored.press('w');
  assert.ok(!shown(explored));
  await explored.press('1');
  assert.ok(shown(explored));
});

test('where it is narrow, the source stands over the picture', async () => {
  const resize = resizing();
  giveSize(900, 400);
  const { root, press } = await explore({ plain: withSource });
  await press('1');
  assert.ok(!root.classList.contains('jv-slim'));
  resize(480, 400);
  assert.ok(root.classList.contains('jv-slim'));
  resize(900, 400);
  assert.ok(!root.classList.contains('jv-slim'));
});

test('over two pictures the source stands sooner, and beside one again', async () => {
  giveSize(700, 400);
  const { root, press } = await explore({ plain: withSource });
  await press('1');
  const slim = (): boolean => root.classList.contains('jv-slim');
  assert.ok(!slim());
  await press('d');
  assert.ok(slim());
  await press('d');
  assert.ok(!slim());
});

test('the source that came by itself in a tab goes where that is narrow, and comes back where it is wide', async () => {
  const resize = resizing();
  const seenAt = (explored: Explored, width: number): boolean => {
    resize(width, 400);
    return shown(explored);
  };
  giveSize(0, 0);
  const explored = await explore({ plain: withSource }, { fill: true });
  assert.ok(shown(explored), 'before its width is known');
  // 0: behind another tab.
  assert.deepEqual(
    [640, 0, 700, 0, 640].map(width => seenAt(explored, width)),
    [false, false, true, true, false]
  );
  await explored.press('1');
  await explored.press('1');
  assert.ok(!seenAt(explored, 900), 'the person has closed it');
});

test('a figure in a page that is read gives its width to the picture, up to more than a tab does', async () => {
  giveSize(800, 400);
  Object.defineProperty(document.defaultView, 'parent', { configurable: true, value: {} });
  const resize = resizing();
  const figure = await explore({ plain: withSource }, { fill: true, alone: true });
  assert.ok(!shown(figure));
  resize(960, 400);
  assert.ok(shown(figure));
  resize(800, 400);
  assert.ok(!shown(figure));
  const tab = await explore({ plain: withSource }, { fill: true });
  assert.ok(shown(tab), 'in a JupyterLab that stands in another page');
});

test('the divider gives the source more room, which other pages remember, and none where it is hidden', async () => {
  giveSize(1280, 800);
  const kept = new Map<string, string>();
  const localStorage = {
    getItem: (key: string): string | null => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key)
  };
  Object.assign(globalThis, { localStorage });
  try {
    const share = ({ root }: Explored): string =>
      (root.querySelector('.jv-source-pane') as HTMLElement).style.getPropertyValue('--jv-source-share');
    const explored = await explore({ plain: withSource });
    const divider = explored.root.querySelector('.jv-body > [role="separator"]') as HTMLElement;
    const press = (key: string): void => {
      const { KeyboardEvent } = divider.ownerDocument.defaultView as unknown as typeof globalThis;
      divider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    };
    assert.ok(divider.hidden);
    await explored.press('1');
    assert.ok(!divider.hidden);
    assert.equal(share(explored), '');
    press('ArrowLeft');
    // The source is as wide as the whole in these tests.
    assert.equal(share(explored), '85%');
    press('ArrowLeft');
    assert.equal(share(explored), '82%');
    assert.equal(share(await explore({ plain: withSource })), '82%');
    press('Home');
    assert.equal(share(explored), '');
    assert.equal(share(await explore({ plain: withSource })), '');
  } finally {
    Reflect.deleteProperty(globalThis, 'localStorage');
  }
});
