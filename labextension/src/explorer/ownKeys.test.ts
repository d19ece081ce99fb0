import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from './elements.ts';
import { hearKeys } from './hearing.ts';
import { takesKeys } from './ownKeys.ts';
import { withWindow } from './testWindow.ts';

const windowNow = withWindow();

test('an element has the keys that are its own, and the pictures those pressed in them', () => {
  const root = element('div', '');
  const [stage, chart] = [element('div', ''), element('div', '')];
  root.append(stage, chart);
  document.body.append(root);
  const heard: string[] = [];
  takesKeys(chart, key => key === 'ArrowLeft' && heard.push(key) > 0);
  const stop = hearKeys({
    root,
    alone: false,
    stages: () => [stage],
    parts: () => [],
    obey: command => heard.push(command)
  });
  const prevented = (target: HTMLElement, key: string): boolean => {
    const { KeyboardEvent } = windowNow();
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    target.dispatchEvent(event as unknown as Event);
    return event.defaultPrevented;
  };
  assert.ok(prevented(chart, 'ArrowLeft'));
  assert.equal(prevented(chart, 'f'), false);
  assert.ok(prevented(stage, 'ArrowLeft'));
  assert.deepEqual(heard, ['ArrowLeft', 'left']);
  stop();
});

test('after a click on a button the letters and signs are still commands, but not what the button uses itself', () => {
  const root = element('div', '');
  const [stage, button, field] = [element('div', ''), element('button', ''), element('input', '')];
  root.append(stage, button, field);
  document.body.append(root);
  const heard: string[] = [];
  const stop = hearKeys({
    root,
    alone: false,
    stages: () => [stage],
    parts: () => [],
    obey: command => heard.push(command)
  });
  const press = (target: HTMLElement, ...pressed: readonly string[]): void => {
    const { KeyboardEvent } = windowNow();
    for (const key of pressed) {
      target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }) as unknown as Event);
    }
  };
  press(button, '+', 'e', 'Enter', ' ', 'ArrowLeft', 'Backspace');
  press(field, '+', 'e');
  assert.deepEqual(heard, ['zoomIn', 'openAll']);
  stop();
});
