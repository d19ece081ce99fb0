import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followPageAround } from './around.ts';
import { withExplorers } from '../explorer/testExplorer.ts';

const window = withExplorers();

function framed(body: string, box: string): { told: boolean[]; frame: Element } {
  const { document } = window();
  document.body.innerHTML = `<section style="${box}"><p><iframe></iframe></p></section>`;
  document.body.setAttribute('style', body);
  const told: boolean[] = [];
  const frame = document.querySelector('iframe') as unknown as Element | null;
  assert.ok(frame);
  followPageAround(frame, light => told.push(light));
  return { told, frame };
}

test('the background that is seen behind a figure says whether it is light', () => {
  assert.deepEqual(framed('background-color: rgb(255, 255, 255)', '').told, [true]);
  assert.deepEqual(framed('background-color: rgb(20, 24, 30)', '').told, [false]);
  assert.deepEqual(framed('background-color: rgb(255, 255, 255)', 'background-color: rgb(20, 24, 30)').told, [false]);
  const glass = framed('background-color: rgb(255, 255, 255)', 'background-color: rgba(20, 24, 30, 0.1)');
  assert.deepEqual(glass.told, [true]);
});

test('of a page without a background nothing is told', () => {
  assert.deepEqual(framed('', '').told, []);
});

test('a page that is made dark takes the figure along', async () => {
  const { told } = framed('background-color: rgb(255, 255, 255)', '');
  window().document.body.setAttribute('style', 'background-color: rgb(20, 24, 30)');
  await new Promise(done => setTimeout(done, 10));
  assert.deepEqual(told.at(-1), false);
});
