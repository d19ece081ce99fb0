import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain, spelled } from './spelled.ts';
import { withExplorers } from './testExplorer.ts';

withExplorers();

const parts = (text: string): string[] =>
  spelled(text).map(part => (typeof part === 'string' ? part : `<${part.tagName.toLowerCase()}>${part.textContent}`));

test('what stands between backticks is code, and a backtick alone is a letter', () => {
  assert.deepEqual(parts('`params` and `state` could be donated'), [
    '',
    '<code>params',
    ' and ',
    '<code>state',
    ' could be donated'
  ]);
  assert.deepEqual(parts('no code'), ['no code']);
  assert.deepEqual(parts('`a` and ` alone'), ['', '<code>a', ' and ` alone']);
  assert.deepEqual(parts('`<b>`'), ['', '<code><b>', '']);
  assert.equal(plain('`x` is dead'), 'x is dead');
});
