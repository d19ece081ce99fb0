import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import { listen } from './gestures.ts';

let window: Window;
let target: HTMLElement;
let captured: number[];
let told: string[];
let stop: () => void;

beforeEach(() => {
  window = new Window();
  target = window.document.createElement('div') as unknown as HTMLElement;
  captured = [];
  told = [];
  target.setPointerCapture = id => captured.push(id);
  const tell =
    (what: string) =>
    (...numbers: (number | boolean)[]) =>
      told.push([what, ...numbers].join(' '));
  stop = listen(
    target,
    {
      pan: tell('pan'),
      zoom: tell('zoom'),
      click: tell('click'),
      doubleClick: tell('double'),
      hover: tell('hover')
    },
    () => true
  );
});
afterEach(async () => {
  stop();
  await window.happyDOM.close();
});

function pointer(kind: string, clientX: number, clientY: number, buttons: number): void {
  const event = new window.PointerEvent(`pointer${kind}`, { pointerId: 1, clientX, clientY, buttons });
  target.dispatchEvent(event as unknown as Event);
}

test('a press that stays is a click, one that moves is a pan', () => {
  pointer('down', 10, 10, 1);
  pointer('move', 12, 10, 1);
  pointer('up', 12, 10, 0);
  pointer('down', 10, 10, 1);
  pointer('move', 30, 15, 1);
  pointer('up', 30, 15, 0);
  assert.deepEqual(told, ['click 12 10 false', 'pan 20 5']);
});

test('a press is followed outside the picture, and one whose release was lost does not pan later', () => {
  pointer('down', 10, 10, 1);
  assert.deepEqual(captured, [1]);
  pointer('move', 80, 80, 0);
  pointer('move', 90, 80, 0);
  assert.deepEqual(told, ['hover 80 80', 'hover 90 80']);
});
