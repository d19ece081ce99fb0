import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine } from '../../document/sketch.ts';
import { MemoryStrip } from './memory.ts';
import { takenBySelf } from '../ownKeys.ts';
import { withWindow } from '../testWindow.ts';

const windowNow = withWindow();

/** The chart of three steps, and what its clicks and keys lead to. */
function chart(): { plot: Element; shown: number[]; pressed: (key: string) => boolean } {
  const plain = affine().plain();
  const [{ stages }] = plain.programs;
  stages.push({ ...stages[0], kind: 'hlo' });
  const steps = { step: [3, 4, 5], live: [64, 96, 32] };
  const values = { node: [3, 4], size: [64, 32], first: [0, 1], last: [1, 2] };
  const needs = { program: 0, arguments: 100, results: 20, aliased: 0, temporary: 96, words: ['needs 216 B'] };
  plain.memory = [{ ...needs, ...steps, ...values }] as typeof plain.memory;
  const shown: number[] = [];
  const strip = new MemoryStrip(decodePlain(plain), { show: (_, nodes) => shown.push(...nodes) });
  const plot = strip.root.querySelector('.jv-memory-chart svg');
  assert.ok(plot);
  const pressed = (key: string): boolean => takenBySelf({ target: plot, key });
  return { plot, shown, pressed };
}

const said = (plot: Element): string | null => plot.querySelector('.jv-memory-pointer text')?.textContent ?? null;

test('the mouse over a step of memory says what runs then and what is needed, and a click leads there', () => {
  const { plot, shown } = chart();
  plot.getBoundingClientRect = () => ({ left: 0, width: 640 }) as DOMRect;
  const moved = (type: string, clientX: number): void => {
    const { MouseEvent } = windowNow();
    plot.dispatchEvent(new MouseEvent(type, { clientX }) as unknown as Event);
  };
  assert.equal(said(plot), null);
  moved('mousemove', 70);
  assert.match(said(plot) ?? '', /^step 1: dot_general.*, 184 B$/);
  moved('mousemove', 639);
  assert.match(said(plot) ?? '', /^step 3: .*, 152 B$/);
  moved('click', 639);
  assert.deepEqual(shown, [5]);
  moved('mouseleave', 700);
  assert.equal(said(plot), null);
});

test('the arrow keys walk over the steps of memory from the peak, and Enter leads to the operation', () => {
  const { plot, shown, pressed } = chart();
  assert.equal(pressed('Enter'), false);
  assert.ok(pressed('ArrowRight'));
  assert.match(said(plot) ?? '', /^step 2: .*, 216 B$/);
  assert.equal(plot.getAttribute('aria-valuetext'), said(plot));
  pressed('ArrowRight');
  pressed('ArrowRight');
  assert.match(said(plot) ?? '', /^step 3: /);
  assert.equal(plot.getAttribute('aria-valuenow'), '3');
  pressed('Enter');
  pressed('Home');
  pressed('Enter');
  assert.deepEqual(shown, [5, 3]);
  assert.equal(pressed('x'), false);
});
