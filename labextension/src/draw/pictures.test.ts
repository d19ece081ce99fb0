import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { draw, programs } from '../../../tests/pictures/programs.ts';

const folder = 'tests/pictures';

for (const [name, program] of Object.entries(programs)) {
  test(`drawn as it was: ${name}`, () => {
    const stored = readFileSync(`${folder}/${name}.svg`, 'utf8');
    assert.equal(`${draw(program)}\n`, stored, 'if this is meant, run `jlpm pictures`, look and commit');
  });
}

test('each stored picture has its program', () => {
  const stored = readdirSync(folder).flatMap(file => (file.endsWith('.svg') ? [file.slice(0, -4)] : []));
  assert.deepEqual(stored.sort(), Object.keys(programs).sort());
});
