import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import { BarMenu } from './barMenu.ts';
import { element } from '../elements.ts';

const names = ['document', 'ResizeObserver'] as const;
const saved: Record<string, unknown> = {};
let window: Window;
let room = 0;

beforeEach(() => {
  window = new Window();
  for (const name of names) {
    saved[name] = (globalThis as Record<string, unknown>)[name];
    (globalThis as Record<string, unknown>)[name] = (window as unknown as Record<string, unknown>)[name];
  }
});
afterEach(async () => {
  Object.assign(globalThis, saved);
  await window.happyDOM.close();
});

/** A bar in which every part needs 10 px, and a stage 4 px more for its count. */
function made(): { menu: BarMenu; bar: HTMLElement; shown: () => string; folded: () => string; whole: HTMLElement } {
  const bar = element('div', 'jv-bar');
  const parts = ['stage', 'kernels', 'search', 'fit', 'help'].map(text => element('button', '', text));
  bar.append(...parts);
  const [, kernels, search, fit, help] = parts;
  const menu = new BarMenu(
    bar,
    [fit, kernels, search].map(one => ({ element: one, wide: one === kernels })),
    help
  );
  Object.defineProperty(bar, 'clientWidth', { get: () => room });
  Object.defineProperty(bar, 'scrollWidth', {
    get: () =>
      10 * [...bar.children].filter(one => !(one as HTMLElement).hidden).length +
      (bar.classList.contains('jv-tight') ? 0 : 4)
  });
  const whole = element('div', 'jv-whole');
  window.document.body.append(whole as never);
  const text = (of: Iterable<Element>): string =>
    [...of]
      .filter(one => !(one as HTMLElement).hidden)
      .map(one => one.textContent)
      .join(' ');
  const more = menu.root.querySelector('.jv-bar-more') as HTMLElement;
  return { menu, bar, shown: () => text(bar.children), folded: () => text(more.children), whole };
}

test('where there is room nothing is folded; then the least needed goes first, and comes back to its place', () => {
  const { menu, shown, folded, whole } = made();
  whole.append(menu.root);
  room = 100;
  menu.fit();
  assert.equal(shown(), 'stage kernels search fit help');
  assert.equal(folded(), '');
  room = 45;
  menu.fit();
  assert.equal(shown(), 'stage search ⋯ help');
  assert.equal(folded(), 'kernels fit');
  room = 100;
  menu.fit();
  assert.equal(shown(), 'stage kernels search fit help');
});

test('a cell has folded what is for much room, however much there is', () => {
  const { menu, shown, folded } = made();
  room = 100;
  menu.fit();
  assert.equal(shown(), 'stage search fit ⋯ help');
  assert.equal(folded(), 'kernels');
});

test('what is on is seen', () => {
  const { menu, bar, shown } = made();
  room = 100;
  [...bar.children].find(one => one.textContent === 'kernels')?.classList.add('jv-on');
  menu.fit();
  assert.equal(shown(), 'stage kernels search fit help');
});

test('where not even the stages have room, their counts go, and then they take two lines', () => {
  const { menu, bar } = made();
  room = 31;
  menu.fit();
  assert.deepEqual([bar.classList.contains('jv-tight'), bar.classList.contains('jv-wraps')], [true, false]);
  room = 20;
  menu.fit();
  assert.ok(bar.classList.contains('jv-wraps'));
  room = 100;
  menu.fit();
  assert.ok(!bar.classList.contains('jv-tight') && !bar.classList.contains('jv-wraps'));
});

test('the second line opens with its button, and Escape closes it', () => {
  const { menu } = made();
  room = 100;
  menu.fit();
  const opener = menu.root.querySelector('.jv-more') as HTMLElement;
  const more = menu.root.querySelector('.jv-bar-more') as HTMLElement;
  assert.ok(more.hidden);
  opener.click();
  assert.ok(!more.hidden);
  assert.equal(opener.getAttribute('aria-expanded'), 'true');
  const escape = new window.KeyboardEvent('keydown', { key: 'Escape', bubbles: true });
  more.querySelector('button')?.dispatchEvent(escape as unknown as Event);
  assert.ok(more.hidden);
});

test('what is late goes only after the counts of the stages, and comes back behind the button', () => {
  const bar = element('div', 'jv-bar');
  const [stage, search, expand] = ['stage', 'search', 'expand'].map(text => element('button', '', text));
  bar.append(stage, search, expand);
  const folding = [search, expand].map(one => ({ element: one, wide: false, late: one === expand }));
  const menu = new BarMenu(bar, folding, expand);
  Object.defineProperty(bar, 'clientWidth', { get: () => room });
  Object.defineProperty(bar, 'scrollWidth', {
    get: () =>
      10 * [...bar.children].filter(one => !(one as HTMLElement).hidden).length +
      (bar.classList.contains('jv-tight') ? 0 : 4)
  });
  const shown = (): string =>
    [...bar.children]
      .filter(one => !(one as HTMLElement).hidden)
      .map(one => one.textContent)
      .join(' ');
  for (const [width, text, tight] of [
    [34, 'stage search expand', false],
    [33, 'stage ⋯ expand', true],
    [20, 'stage ⋯', true],
    [34, 'stage search expand', false]
  ] as const) {
    room = width;
    menu.fit();
    assert.equal(shown(), text, `${width} px`);
    assert.equal(bar.classList.contains('jv-tight'), tight, `${width} px`);
    assert.ok(!bar.classList.contains('jv-wraps'));
  }
});
