import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import type { Document as PlainDocument } from '../../document/schema.generated.ts';
import { Sketch } from '../../document/sketch.ts';
import { early, whole } from '../../document/sketchPair.ts';
import type { Earlier } from './earlier.ts';
import { Explorer } from '../explorer.ts';
import { takePlace } from './succession.ts';
import { explore, giveSize, layoutsHere, withExplorers, type Explored } from '../testExplorer.ts';

withExplorers();

/** Two functions that are called one after the other, each of two operations; others before them. */
function calls(...before: readonly string[]): () => PlainDocument {
  return () => {
    const sketch = new Sketch('step');
    let value = sketch.argument('x', 'f32[4]');
    for (const name of [...before, 'embed', 'attend']) {
      const out = sketch.op('jit', [value], 'f32[4]');
      sketch.region(sketch.last, 'jit', name, () => {
        const inner = sketch.argument('', 'f32[4]', { kind: 'enter', from: value });
        const sin = sketch.op(`sin of ${name}`, [inner], 'f32[4]');
        sketch.result('', sketch.op(`neg of ${name}`, [sin], 'f32[4]'), { kind: 'leave', to: out });
      });
      value = out;
    }
    sketch.result('result', value);
    return sketch.plain();
  };
}

/** The program with its second function alone open, and what is selected in it. */
async function opened(): Promise<Explored> {
  const found = await explore({ plain: calls() });
  await found.press('x');
  found.explorer.select([calls()().graphs[0].nodes.kind.length - 4]);
  await new Promise(done => setTimeout(done, 5));
  return found;
}

const inPlaceOf = (earlier: Earlier, plain: () => PlainDocument): Promise<Explored> => explore({ plain }, { earlier });
const title = ({ root }: Explored): string | null | undefined => root.querySelector('.jv-inspector h4')?.textContent;

test('what is open and selected goes on in a version that has more before it', async () => {
  giveSize(700, 400);
  const before = await opened();
  assert.deepEqual(before.explorer.labels.slice(1, -1), ['embed', 'attend', 'sin of attend', 'neg of attend']);
  assert.equal(title(before), 'sin of attend');
  before.explorer.picture.zoomBy(2);
  const { earlier } = before.explorer.inheriting;
  assert.ok(earlier.chosen);
  const next = await inPlaceOf(earlier, calls('norm', 'drop'));
  const { labels } = next.explorer;
  assert.ok(!labels.includes('sin of embed') && labels.includes('sin of attend'));
  // What is new is as it would be at first.
  assert.ok(labels.includes('sin of norm'));
  assert.equal(title(next), 'sin of attend');
  // It stands where it stood.
  assert.equal(next.explorer.picture.zoom, before.explorer.picture.zoom);
  const [was, is] = [before, next].map(one => one.explorer.locate('sin of attend'));
  assert.ok(was && is && Math.hypot(was.x - is.x, was.y - is.y) < 1);
});

test('details that stood at the left, beside what was clicked, stand there again', async () => {
  giveSize(900, 400);
  const before = await opened();
  const details = ({ root }: Explored): DOMTokenList => (root.querySelector('.jv-inspector') as HTMLElement).classList;
  details(before).add('jv-left');
  const next = await inPlaceOf(before.explorer.inheriting.earlier, calls('norm'));
  assert.equal(title(next), 'sin of attend');
  assert.ok(details(next).contains('jv-left'));
  next.explorer.select([]);
  assert.ok(!details(next).contains('jv-left'));
  const host = next.root.parentElement as HTMLElement;
  const again = new Explorer(host, { document: decodePlain(calls('norm')()), layouts: layoutsHere() });
  assert.ok(await takePlace(next.explorer, again));
  again.select([5]);
  assert.ok(!details({ ...next, root: again.root }).contains('jv-left'));
});

test('of a program in which nothing was chosen, the version now is seen as at first', async () => {
  giveSize(700, 400);
  const before = await explore({ plain: calls() });
  const { earlier } = before.explorer.inheriting;
  assert.ok(!earlier.chosen);
  const next = await inPlaceOf(earlier, calls('norm'));
  const first = await explore({ plain: calls('norm') });
  assert.deepEqual(next.explorer.labels, first.explorer.labels);
  assert.ok(!next.explorer.inheriting.earlier.chosen);
});

test('what the cell asks for otherwise goes before', async () => {
  giveSize(700, 400);
  const before = await explore({ plain: whole }, { height: 300 });
  const { earlier } = before.explorer.inheriting;
  const next = await explore({ plain: whole }, { earlier, height: 300, stage: 'hlo' });
  assert.equal(next.explorer.view.stage, 'hlo');
});

test('another program in the place of a picture that is still there takes over by name, not by number', async () => {
  giveSize(700, 400);
  const before = await opened();
  const host = before.root.parentElement as HTMLElement;
  const next = new Explorer(host, { document: decodePlain(calls('norm')()), layouts: layoutsHere() });
  assert.ok(await takePlace(before.explorer, next));
  assert.ok(!next.labels.includes('sin of embed') && next.labels.includes('sin of attend'));
  assert.equal(next.root.querySelector('.jv-inspector h4')?.textContent, 'sin of attend');
});

test('what is seen goes on after a version that cannot be traced', async () => {
  giveSize(700, 400);
  const { explorer } = await opened();
  const failing = (): PlainDocument => {
    const plain = calls()();
    const told = { kind: 'TypeError', message: 'no', case: 'choice', title: 'no', reason: 'no', link: '' };
    const error = { ...told, cures: [], nodes: [], stack: -1 };
    Object.assign(plain.programs[0], { error });
    return plain;
  };
  const failed = await inPlaceOf(explorer.inheriting.earlier, failing);
  failed.explorer.select([]);
  const next = await inPlaceOf(failed.explorer.inheriting.earlier, calls('norm'));
  assert.equal(title(next), 'sin of attend');
});

test('a stage that is seen of an earlier version is seen again once it is there', async () => {
  giveSize(700, 400);
  const { explorer, press } = await explore({ plain: whole });
  await press('5');
  assert.equal(explorer.view.stage, 'hlo');
  explorer.select([4]);
  const { selected } = explorer.view;
  const { earlier } = explorer.inheriting;
  const host = document.createElement('div');
  const first = await explore({ plain: early }, { earlier, coming: ['hlo'] }, host);
  assert.equal(first.explorer.view.stage, 'jaxpr');
  const next = new Explorer(host, { document: decodePlain(whole()), layouts: layoutsHere() });
  assert.ok(await takePlace(first.explorer, next));
  assert.equal(next.view.stage, 'hlo');
  assert.equal(next.view.selected, selected);
});
