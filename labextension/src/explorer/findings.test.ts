import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { affine } from '../document/sketch.ts';
import { FindingStrip } from './findings.ts';
import { withWindow } from './testWindow.ts';

withWindow();

test('many findings are seen three at first, all on request, and three again', () => {
  const document = decodePlain(affine().plain());
  const finding = { kind: 'dead', severity: 'note', graph: 0, first: [], size: [], text: '', remedy: '' } as const;
  const findings = ['a', 'b', 'c', 'd', 'e'].map(title => ({ ...finding, title }));
  const actions = { showFinding: () => undefined, rebuild: () => Promise.resolve(undefined), stop: () => undefined };
  const { root } = new FindingStrip({ ...document, findings } as unknown as typeof document, actions);
  const more = root.querySelector('.jv-finding-more') as HTMLElement;
  const state = () => [root.querySelectorAll('.jv-finding:not([hidden])').length, more.textContent];
  assert.deepEqual(state(), [3, '2 more']);
  more.click();
  assert.deepEqual([...state(), more.getAttribute('aria-expanded')], [5, 'fewer', 'true']);
  more.click();
  assert.deepEqual([...state(), more.getAttribute('aria-expanded')], [3, '2 more', 'false']);
});
