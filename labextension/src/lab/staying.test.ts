import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withWindow } from '../explorer/testWindow.ts';
import { Staying } from './staying.ts';

const window = withWindow();
const sides = { left: 8, right: 4 };

/** A cell on the page, with its prompt, and a picture that its output left. */
function left(prompt: string): { cell: HTMLElement; says: HTMLElement; picture: HTMLElement } {
  Object.assign(globalThis, { MutationObserver: window().MutationObserver });
  const [cell, says, picture] = ['div', 'div', 'canvas'].map(name => document.createElement(name));
  says.className = 'jp-InputArea-prompt';
  says.textContent = prompt;
  cell.append(says);
  document.body.append(cell);
  return { cell, says, picture };
}

test('a picture stays in a cell that is run, without answering, until it makes room for the next of its function', () => {
  const { cell, picture } = left('[*]:');
  const ended: string[] = [];
  const staying = new Staying();
  const other = document.createElement('canvas');
  assert.ok(staying.keep({ cell, name: 'step' }, [picture], sides, 'from before', () => ended.push('step')));
  assert.ok(staying.keep({ cell, name: 'loss' }, [other], sides, 'from before', () => ended.push('loss')));
  assert.ok(cell.contains(picture) && picture.closest('[inert]'));
  assert.match(cell.querySelector('[role=status]')?.textContent ?? '', /from before/);
  staying.makeRoom(cell, 'loss');
  assert.deepEqual(ended, ['loss']);
  assert.ok(cell.contains(picture) && !cell.contains(other));
  // Nothing of that name is left: the function has another one by now.
  staying.makeRoom(cell, 'loss');
  assert.deepEqual(ended, ['loss', 'step']);
  assert.ok(!staying.has(cell) && !cell.querySelector('.jv-staying'));
});

test('no picture stays in a cell that is not run, as where its outputs were cleared', () => {
  const { cell, picture } = left('[3]:');
  const staying = new Staying();
  assert.ok(!staying.keep({ cell, name: 'step' }, [picture], sides, '', () => undefined));
  assert.ok(!cell.contains(picture));
});

test('a picture that nothing follows goes once its cell has been run', async () => {
  const { cell, says, picture } = left('[*]:');
  const ended = new Promise<void>(done => {
    new Staying().keep({ cell, name: 'step' }, [picture], sides, '', done);
  });
  says.textContent = '[4]:';
  await ended;
  assert.ok(!cell.contains(picture));
});

test('a picture that goes on in another output has not ended', () => {
  const { cell, picture } = left('[*]:');
  const staying = new Staying();
  staying.keep({ cell, name: 'step' }, [picture], sides, '', () => assert.fail('it goes on'));
  staying.release([picture]);
  assert.ok(!cell.querySelector('.jv-staying') && !staying.has(cell));
});
