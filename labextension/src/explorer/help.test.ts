import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeHelp } from './help.ts';
import { withWindow } from './testWindow.ts';

withWindow();

test('the help tells every kind of line that is drawn, each with a sample that has a look of its own', () => {
  const help = makeHelp(
    () => undefined,
    () => undefined
  );
  const kinds = [...help.querySelectorAll('.jv-sample')].map(sample => sample.classList[1].replace('jv-sample-', ''));
  for (const line of ['carry', 'bundle', 'stub', 'cable', 'to', 'from']) {
    assert.ok(kinds.includes(line), line);
  }
  const style = readFileSync('labextension/style/marks.css', 'utf8');
  // A box looks as all samples do.
  assert.deepEqual(
    kinds.filter(kind => !style.includes(`.jv-sample-${kind} {`) && !style.includes(`.jv-sample-${kind},`)),
    ['box']
  );
});
