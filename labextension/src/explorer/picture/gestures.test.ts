import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import { listen } from './gestures.ts';

let window: Window;
let target: HTMLElement;
let captured: number[];
let told: string[];
let stop: () => void;
let active: boolean;

beforeEach(() => {
  window = new Window();
  target = window.document.createElement('div') as unknown as HTMLElement;
  captured = [];
  told = [];
  active = true;
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
    () => active
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

function wheel(
  at: number,
  how: { deltaX?: number; deltaY: number; deltaMode?: number; wheelDeltaY?: number }
): boolean {
  const event = new window.WheelEvent('wheel', { cancelable: true });
  for (const [name, value] of Object.entries({
    clientX: 7,
    clientY: 9,
    deltaX: 0,
    deltaMode: 0,
    ctrlKey: false,
    timeStamp: at,
    ...how
  })) {
    Object.defineProperty(event, name, { value });
  }
  return target.dispatchEvent(event as unknown as Event);
}

test('the wheel of a mouse zooms to where it points, two fingers on a touchpad pan', () => {
  wheel(0, { deltaY: 100, wheelDeltaY: -120 });
  wheel(1000, { deltaY: -3, deltaMode: 1 });
  wheel(2000, { deltaY: 3, wheelDeltaY: -9 });
  // What grows to a notch on the way is still two fingers.
  wheel(2100, { deltaY: 40, wheelDeltaY: -120 });
  wheel(3000, { deltaX: 30, deltaY: 0 });
  const zooms = told.slice(0, 2).map(one => one.split(' '));
  assert.deepEqual(
    zooms.map(([what, factor, x, y]) => [what, Number(factor) < 1, x, y]),
    [
      ['zoom', true, '7', '9'],
      ['zoom', false, '7', '9']
    ]
  );
  assert.deepEqual(told.slice(2), ['pan 0 -3', 'pan 0 -40', 'pan -30 0']);
});

test('a wheel that is meant for the page is left to it', () => {
  active = false;
  assert.ok(wheel(0, { deltaY: 120 }));
  assert.deepEqual(told, []);
  active = true;
  assert.ok(!wheel(1000, { deltaY: 120 }));
});
