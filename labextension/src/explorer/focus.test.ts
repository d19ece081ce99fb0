import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine, loop } from '../document/sketch.ts';
import { explore, withExplorers } from './testExplorer.ts';

withExplorers();

/** Until what is done later has been done. */
const rest = () => new Promise<void>(done => setTimeout(done, 5));

const called = (root: HTMLElement, words: string): HTMLElement =>
  [...root.querySelectorAll('button')].find(({ textContent }) => textContent === words) as HTMLElement;

async function pressed(button: HTMLElement): Promise<Element | null> {
  button.focus();
  button.click();
  await rest();
  return document.activeElement;
}

test('a link that is drawn anew by what it does has the focus still', async () => {
  const { explorer, root, press } = await explore(loop());
  await press('x');
  await press('ArrowDown');
  await press('ArrowDown');
  assert.equal((await pressed(called(root, 'open')))?.textContent, 'close');
  assert.ok(explorer.labels.includes('mul'));
  assert.equal((await pressed(called(root, 'close')))?.textContent, 'open');
  assert.ok(!explorer.labels.includes('mul'));
});

test('where nothing takes the place of a button that goes, the picture has the keys', async () => {
  const { explorer, root, press } = await explore(affine());
  await press('?');
  const help = root.querySelector('.jv-help') as HTMLElement;
  assert.equal(await pressed(help.querySelector('.jv-close') as HTMLElement), explorer.panes[0].stage);
  for (const part of [root.querySelector('.jv-help-opener'), root.querySelector('.jv-legend')] as HTMLElement[]) {
    part.tabIndex = 0;
    part.focus();
    part.remove();
    await rest();
    assert.equal(document.activeElement, explorer.panes[0].stage);
  }
});

test('the focus that a person takes elsewhere is not taken back', async () => {
  const { root } = await explore(affine());
  const [elsewhere, button] = [document.createElement('input'), called(root, 'Python')];
  document.body.append(elsewhere);
  button.focus();
  elsewhere.focus();
  await rest();
  button.remove();
  await rest();
  assert.equal(document.activeElement, elsewhere);
  const next = root.querySelector('.jv-stage.jv-on') as HTMLElement;
  next.focus();
  next.blur();
  await rest();
  next.remove();
  await rest();
  assert.equal(document.activeElement, document.body);
});
