import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affine } from '../document/sketch.ts';
import { commandOf, keys } from './keys.ts';
import { explore, withExplorers } from './testExplorer.ts';

const page = withExplorers();

test('no key means two things, and keys of the host are left to it', () => {
  const all = keys.flatMap(key => key.keys);
  assert.equal(new Set(all).size, all.length);
  assert.equal(commandOf({ key: 'f', ctrlKey: true, altKey: false, metaKey: false }), undefined);
  assert.equal(commandOf({ key: 'f', ctrlKey: false, altKey: false, metaKey: false }), 'fit');
});

test('plain keys stop in the explorer, used or not; those with ctrl, alt or command reach the host', async () => {
  const { root } = await explore(affine());
  const stage = root.querySelector('.jv-stage-area') as HTMLElement;
  const heard: string[] = [];
  const hear = (event: Event): unknown => heard.push((event as KeyboardEvent).key);
  document.addEventListener('keydown', hear, { capture: true });
  document.addEventListener('keydown', hear);
  const press = (target: Element, key: string, modifiers = {}): boolean => {
    const event = new (page().KeyboardEvent)('keydown', { key, bubbles: true, cancelable: true, ...modifiers });
    return target.dispatchEvent(event as unknown as Event);
  };
  const button = root.querySelector('button') as HTMLElement;
  for (const target of [stage, button]) {
    for (const key of ['x', 'd', 'b', 'ArrowDown', 'Delete', 'Enter']) {
      press(target, key);
    }
    assert.ok(press(target, 'Tab'), 'Tab moves the focus');
  }
  assert.ok(press(button, 'Enter'), 'Enter presses the button');
  assert.deepEqual(heard, []);
  press(stage, 's', { ctrlKey: true });
  press(stage, 's', { metaKey: true });
  press(stage, 'x', { altKey: true });
  press(document.body, 'x');
  assert.deepEqual(heard, ['s', 's', 's', 's', 'x', 'x', 'x', 'x']);
});

test('in a page of its own, keys that are pressed nowhere in particular are meant for the picture', async () => {
  const { root } = await explore(affine(), { fill: true, alone: true });
  const help = root.querySelector('.jv-help') as HTMLElement;
  const press = (key: string): void => {
    const event = new (page().KeyboardEvent)('keydown', { key, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event as unknown as Event);
  };
  press('?');
  assert.equal(help.hidden, false);
});

test('in a notebook, keys that are pressed outside of the picture are those of the notebook', async () => {
  const { root } = await explore(affine(), { fill: true });
  const event = new (page().KeyboardEvent)('keydown', { key: '?', bubbles: true, cancelable: true });
  document.body.dispatchEvent(event as unknown as Event);
  assert.equal((root.querySelector('.jv-help') as HTMLElement).hidden, true);
});
