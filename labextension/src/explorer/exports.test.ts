import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { affine, loop } from '../document/sketch.ts';
import { explore, withExplorers } from './testExplorer.ts';

const page = withExplorers();

/** What is saved from then on: names and texts. */
function saving(): { name: string; text: Promise<string> }[] {
  const saved: { name: string; text: Promise<string> }[] = [];
  const blobs = new Map<string, Blob>();
  const { createObjectURL } = URL;
  URL.createObjectURL = blob => {
    const address = createObjectURL(blob as Blob);
    blobs.set(address, blob as Blob);
    return address;
  };
  (page().HTMLAnchorElement.prototype as unknown as { click(this: HTMLAnchorElement): void }).click = function () {
    saved.push({ name: this.download, text: blobs.get(this.href)?.text() ?? Promise.resolve('') });
  };
  return saved;
}

function choose(root: HTMLElement, name: string): void {
  const found = [...root.querySelectorAll<HTMLElement>('.jv-exports button')].find(one => one.textContent === name);
  assert.ok(found, `no button ${name}`);
  found.click();
}

test('the picture is saved as it stands', async () => {
  const saved = saving();
  const { explorer, root, press } = await explore(loop());
  await press('s');
  choose(root, 'SVG');
  const { labels } = explorer;
  await press('x');
  choose(root, 'SVG');
  const [open, closed] = await Promise.all(saved.map(({ text }) => text));
  assert.match(saved[0].name, /^\w+-jaxpr\.svg$/);
  const boxes = (svg: string): number => svg.match(/<text/g)?.length ?? 0;
  assert.ok(boxes(open) > boxes(closed));
  for (const label of labels) {
    assert.ok(open.includes(`>${label}<`), `${label} is not in ${open}`);
  }
  assert.match(root.querySelector('.jv-exports [role=status]')?.textContent ?? '', /^saved as/);
});

test('the document is saved as it came, where it is known', async () => {
  const saved = saving();
  const data = affine().plain();
  const { root, press } = await explore(affine(), { data });
  await press('s');
  choose(root, '.jaxviz');
  assert.deepEqual(decodePlain(JSON.parse(await saved[0].text)), decodePlain(data));
  const without = await explore(affine());
  await without.press('s');
  assert.ok(!without.root.querySelector('.jv-exports')?.textContent?.includes('.jaxviz'));
});

test('Escape closes it, and the keys are the picture’s again', async () => {
  const { root, press } = await explore(affine());
  const line = root.querySelector('.jv-exports') as HTMLElement;
  await press('s');
  assert.ok(!line.hidden);
  await press('Escape');
  assert.ok(line.hidden);
});
