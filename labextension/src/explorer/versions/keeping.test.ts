import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { loop } from '../../document/sketch.ts';
import { Keeping } from './keeping.ts';
import type { SavedView } from './saved.ts';

const view: SavedView = {
  stage: 'jaxpr',
  open: [1],
  spread: [],
  selected: null,
  kernels: false,
  colour: '',
  search: '',
  height: null
};

/** What is said and what is offered when a view is copied, with the clipboard that a page has. */
async function copying(clipboard: unknown): Promise<{ said: string[]; offered: string[] }> {
  const [said, offered]: string[][] = [[], []];
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { clipboard } });
  try {
    const keeping = new Keeping({
      document: decodePlain(loop().plain()),
      now: () => view,
      restore: () => undefined,
      say: text => said.push(text),
      offer: text => offered.push(text)
    });
    keeping.copy();
    await new Promise(done => setTimeout(done));
  } finally {
    if (before) {
      Object.defineProperty(globalThis, 'navigator', before);
    }
  }
  return { said, offered };
}

test('a view is copied where there is a clipboard', async () => {
  const texts: string[] = [];
  const { said, offered } = await copying({ writeText: (text: string) => Promise.resolve(void texts.push(text)) });
  assert.match(texts[0], /^jaxviz:\/\/loop\/jaxpr\?/);
  assert.match(said[0], /^copied/);
  assert.deepEqual(offered, []);
});

test('where a page has no clipboard, or may not use it, the text is offered', async () => {
  for (const clipboard of [undefined, { writeText: () => Promise.reject(new Error('not allowed')) }]) {
    const { said, offered } = await copying(clipboard);
    assert.match(offered[0], /^jaxviz:\/\/loop\/jaxpr\?/);
    assert.deepEqual(said, []);
  }
});
