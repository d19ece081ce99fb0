import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { RowKind } from '../../document/graph.ts';
import type { Document as PlainDocument } from '../../document/schema.generated.ts';
import { plainOutline, Sketch } from '../../document/sketch.ts';
import { rowDetails } from './row.ts';
import { explore, withExplorers } from '../testExplorer.ts';

withExplorers();

/** Two parts of a forward phase and the way back through the second, each of two operations. */
function phases(): PlainDocument {
  const sketch = new Sketch('step');
  let value = sketch.argument('x', 'f32[4]');
  for (const op of ['gather', 'mul', 'exp', 'div', 'neg', 'sub']) {
    value = sketch.op(op, [value, value], 'f32[4]');
  }
  sketch.result('result', value);
  const plain = sketch.plain();
  const name = ['', 'forward', 'embed', 'softmax', 'backward', 'softmax'].map(one => plain.strings.push(one) - 1);
  const { program, phase, expression } = RowKind;
  const kind = [program, phase, expression, expression, phase, expression];
  const rows = { back: [1, 1, 1, 2, 4, 1], kind, name, gap: [0, 1, 0, 2, 2, 0], size: [8, 4, 2, 2, 2, 2] };
  return { ...plain, outlines: [plainOutline(rows, 8)] };
}

test('what a part reads and who reads it are the parts that are seen, with their phase where that is another', () => {
  const document = decodePlain(phases());
  const { reads, readBy, inside } = rowDetails(document, document.graphs[0], 3);
  const told = (links: typeof readBy | typeof reads) => links.map(({ text, node }) => ({ text, node }));
  assert.deepEqual(told(reads), [{ text: 'embed', node: 2 }]);
  assert.deepEqual(told(readBy), [{ text: 'backward softmax', node: 5 }]);
  assert.deepEqual(
    [...readBy, ...inside].map(({ row }) => row),
    [5, 1]
  );
  // What has no part of its own is named itself.
  assert.deepEqual(told(rowDetails(document, document.graphs[0], 2).reads), [{ text: 'x', node: 0 }]);
});

test('a name in the details leads to the part that it is the name of', async () => {
  const { explorer, root, press } = await explore({ plain: phases });
  const title = (): string | null | undefined => root.querySelector('.jv-inspector h4')?.textContent;
  const go = async (text: string): Promise<void> => {
    [...root.querySelectorAll<HTMLElement>('.jv-inspector button')].find(one => one.textContent === text)?.click();
    await new Promise(done => setTimeout(done, 5));
  };
  await press('x');
  explorer.panes[0].select(3);
  await go('forward');
  assert.equal(title(), 'forward');
  explorer.panes[0].select(3);
  await go('embed');
  assert.equal(title(), 'embed');
  assert.equal(explorer.view.selected, 2);
});

test('of a stack that is nothing else it is told how many copies it has', () => {
  const plain = phases();
  const [outline] = plain.outlines ?? [];
  const { program, stack, copy } = RowKind;
  outline.kind = [program, stack, copy, copy, copy, copy];
  outline.count = [1, 2, 1, 1, 1, 1];
  const document = decodePlain(plain);
  assert.equal(rowDetails(document, document.graphs[0], 1).kind, '2 copies');
});
