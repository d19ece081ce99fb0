import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { loop } from '../../document/sketch.ts';
import { early, whole } from '../../document/sketchPair.ts';
import { Explorer } from '../explorer.ts';
import { explore, giveSize, layoutsHere, resizing, withExplorers, type Explored } from '../testExplorer.ts';
import type { ExplorerOptions } from '../options.ts';
import { takePlace } from './succession.ts';

withExplorers();

function stages(root: HTMLElement): (string | null)[] {
  return [...root.querySelectorAll('.jv-stage')].map(one => one.getAttribute('aria-label'));
}

/** An early explorer, and how the whole takes its place. */
async function grows(
  stage?: string,
  options: Partial<ExplorerOptions> = {}
): Promise<Explored & { follow: () => Promise<Explorer> }> {
  giveSize(700, 400);
  const host = document.createElement('div');
  const coming = ['hlo'];
  const before = await explore({ plain: early }, { coming, ...options }, host);
  const follow = async () => {
    const next = new Explorer(host, {
      document: decodePlain(whole()),
      layouts: layoutsHere(),
      ...(stage ? { stage } : {})
    });
    assert.ok(await takePlace(before.explorer, next));
    return next;
  };
  return { ...before, follow };
}

test('a stage that is on its way is named, and is there when it has come', async () => {
  const { root, follow } = await grows();
  assert.match(stages(root)[2] ?? '', /^HLO is not there yet/);
  const next = await follow();
  assert.match(stages(next.root)[2] ?? '', /^HLO: 3 kernels/);
});

test('what takes the place of a picture shows the same, and stands as it did', async () => {
  const { explorer, root, press, follow } = await grows();
  explorer.select([1]);
  explorer.picture.zoomBy(2);
  await press('?');
  await press('1');
  await press('s');
  explorer.focus();
  await press('o');
  const { view } = explorer;
  const { standing } = explorer.inheriting;
  assert.ok(view.selected !== null && view.camera);
  const next = await follow();
  assert.deepEqual({ ...next.view, camera: null }, { ...view, camera: null });
  assert.deepEqual(next.inheriting.standing, standing);
  assert.ok(standing.help && standing.source && standing.saving && standing.table.open);
  assert.ok(!root.isConnected && next.root.isConnected);
  assert.ok(!next.root.classList.contains('jv-coming'));
});

test('the picture stays until the next is drawn', async () => {
  const { root, follow } = await grows();
  const coming = follow();
  const next = root.parentElement?.querySelector('.jv-coming');
  assert.ok(next && root.isConnected);
  await coming;
  assert.ok(!root.isConnected);
  assert.ok(next.isConnected);
});

test('a stage that was asked for is shown when it comes, unless the person is at work in another', async () => {
  const untouched = await (await grows('hlo')).follow();
  assert.equal(untouched.view.stage, 'hlo');
  const { explorer, follow } = await grows('hlo');
  explorer.select([1]);
  assert.equal((await follow()).view.stage, 'jaxpr');
});

test('what is thrown away before it has drawn leaves nothing behind', async () => {
  const { explorer, root } = await grows();
  const host = root.parentElement as HTMLElement;
  const next = new Explorer(host, { document: decodePlain(whole()), layouts: layoutsHere() });
  const placed = takePlace(explorer, next);
  next.dispose();
  assert.equal(await placed, false);
  assert.ok(explorer.disposed);
  assert.equal(host.children.length, 0);
});

test('a run that was asked for in a picture is waited for in the one that takes its place', async () => {
  let end: () => void = () => undefined;
  let stops = 0;
  const answer = new Promise<void>(done => (end = done));
  const kernel = {
    missing: () => '',
    run: () => ({ answer, stop: () => stops++ }),
    rebuild: () => assert.fail('nobody asked for it')
  };
  const { press, follow } = await grows(undefined, { kernel });
  await press('r');
  const { root } = await follow();
  const line = root.querySelector('.jv-working') as HTMLElement;
  const run = root.querySelector('.jv-run-stage') as HTMLElement;
  assert.equal(stops, 0);
  assert.ok(!line.hidden);
  assert.match(line.textContent, /^running/);
  assert.equal(run.textContent, 'stop');
  [...line.querySelectorAll('button')].find(one => one.textContent === 'stop')?.click();
  assert.equal(stops, 1);
  end();
  await new Promise(done => setTimeout(done));
  assert.ok(line.hidden);
  assert.equal(run.textContent, 'run');
});

test('whoever types what to search for goes on typing in the picture that comes', async () => {
  const { root, press, follow } = await grows();
  await press('/');
  const typing = root.querySelector('.jv-search-input') as HTMLInputElement;
  assert.equal(document.activeElement, typing);
  typing.value = 'ad';
  typing.dispatchEvent(new (root.ownerDocument.defaultView as unknown as { Event: typeof Event }).Event('input'));
  const next = await follow();
  const input = next.root.querySelector('.jv-search-input') as HTMLInputElement;
  assert.equal(document.activeElement, input);
  assert.equal(input.value, 'ad');
});

test('what gave way in a narrow place is chosen anew with more room, though another picture took its place', async () => {
  const resize = resizing();
  giveSize(1200, 800);
  const host = document.createElement('div');
  const { explorer } = await explore(loop(), {}, host);
  const all = explorer.labels.length;
  const until = async (one: Explorer, met: (boxes: number) => boolean): Promise<void> => {
    for (let tries = 0; tries < 400 && !(one.atRest && met(one.labels.length)); tries++) {
      await new Promise(done => setTimeout(done, 5));
    }
    assert.ok(met(one.labels.length), `${one.labels.length} of ${all} boxes`);
  };
  resize(120, 100);
  await until(explorer, boxes => boxes < all);
  const next = new Explorer(host, { document: decodePlain(loop().plain()), layouts: layoutsHere() });
  assert.ok(await takePlace(explorer, next));
  resize(1200, 800);
  await until(next, boxes => boxes === all);
});
