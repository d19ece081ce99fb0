/**
 * Draws the stored pictures anew, and a page with all of them: `jlpm pictures`. Pictures of programs that are gone are
 * deleted. Look at the page before you commit them.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { draw, programs } from '../tests/pictures/programs.ts';

const folder = new URL('../tests/pictures/', import.meta.url);
const figures = [];
for (const [name, program] of Object.entries(programs)) {
  const svg = draw(program);
  writeFileSync(new URL(`${name}.svg`, folder), `${svg}\n`);
  figures.push(`<figure>${svg}<figcaption>${name}</figcaption></figure>`);
}
for (const file of readdirSync(folder)) {
  if (file.endsWith('.svg') && !(file.slice(0, -4) in programs)) {
    rmSync(new URL(file, folder));
  }
}
const results = new URL('../test-results/', import.meta.url);
mkdirSync(results, { recursive: true });
const style = 'body{display:flex;flex-wrap:wrap;gap:16px;align-items:flex-end;font:12px sans-serif}figure{margin:0}';
const page = `<!doctype html><meta charset="utf-8"><style>${style}</style>${figures.join('\n')}`;
writeFileSync(new URL('pictures.html', results), page);
console.log(`${figures.length} pictures; all on one page: test-results/pictures.html`);
