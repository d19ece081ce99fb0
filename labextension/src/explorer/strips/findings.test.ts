import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import { FindingStrip } from './findings.ts';
import { withWindow } from '../testWindow.ts';

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

test('of two programs each finding says whose it is, what both have is told once, and the most severe first', () => {
  const source = decodePlain(pair());
  const of = (graph: number, title: string, severity: 'note' | 'advice' | 'warning') =>
    ({ kind: 'any', severity, graph, title, first: [], size: [], text: '', remedy: '' }) as const;
  const findings = [
    of(0, 'dead', 'note'),
    of(0, 'unrolled', 'warning'),
    of(1, 'unrolled', 'warning'),
    of(1, 'gathered', 'note'),
    of(1, 'captured', 'advice')
  ];
  const actions = { showFinding: () => undefined, rebuild: () => Promise.resolve(undefined), stop: () => undefined };
  const { root } = new FindingStrip({ ...source, findings } as unknown as typeof source, actions);
  const titles = [...root.querySelectorAll('.jv-finding-title')].map(({ textContent }) => textContent);
  assert.deepEqual(titles, ['other: captured', 'affine: dead', 'other: gathered', 'both: unrolled']);
});
