import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine, Sketch } from '../../document/sketch.ts';
import type { Document as PlainDocument } from '../../document/schema.generated.ts';
import { colourings } from '../../view/colouring.ts';
import { movingStrips } from './moving.ts';
import { explore, withExplorers } from '../testExplorer.ts';

withExplorers();

/** A file of the compiler's: a product that moves 80 bytes, and in a fusion, or alone, a sum that moves 48. */
function dump(kind = 'hlo'): PlainDocument {
  const hlo = new Sketch();
  const [w, x, b] = [['w', 'f32[4,4]'] as const, ['x', 'f32[1]'] as const, ['b', 'f32[4]'] as const].map(
    ([name, type]) => hlo.argument(name, type)
  );
  const product = hlo.op('dot', [w, x], 'f32[3]', {}, 'dot.1');
  const made = hlo.op('fusion', [product, b], 'f32[4]', {}, 'add_fusion');
  hlo.region(hlo.last, 'fusion', 'fused', () => {
    const p = hlo.argument('', 'f32[3]', { kind: 'enter', from: product });
    const q = hlo.argument('', 'f32[4]', { kind: 'enter', from: b });
    hlo.result('', hlo.op('add', [p, q], 'f32[4]'), { kind: 'leave', to: made });
  });
  hlo.result('result', made);
  const plain = hlo.plain();
  Object.assign(plain.programs[0].stages[0], { kind });
  return plain;
}

test('of a dump the kernels are listed that read and write most, and a click shows where each is', () => {
  const shown: (number | readonly number[])[] = [];
  const source = decodePlain(dump());
  const [strip] = movingStrips(source, { show: (graph, nodes) => shown.push(graph, nodes) });
  const title = strip.querySelector('button') as HTMLElement;
  assert.equal(title.textContent, 'kernels: which of 2 read and write most');
  title.click();
  title.click();
  title.click();
  assert.equal(title.getAttribute('aria-expanded'), 'true');
  const rows = [...strip.querySelectorAll<HTMLElement>('.jv-run-line')];
  const told = rows.map(row => [...row.children].map(({ textContent }) => textContent).join(' '));
  assert.deepEqual(told, ['dot.1  80 B 64.5 %', 'add_fusion  44 B 35.5 %']);
  rows[1].click();
  const names = source.graphs[0].op
    .map((_, node) => node)
    .filter(node => source.strings[source.graphs[0].op[node]] === 'fusion');
  assert.deepEqual(shown, [0, [...names]]);
  assert.deepEqual(movingStrips(decodePlain(affine().plain()), { show: () => undefined }), []);
});

test('of the programs of a folder the first has such a list, of a comparison both', () => {
  const folder = dump();
  const [program] = folder.programs;
  folder.graphs.push(structuredClone(folder.graphs[0]));
  folder.programs.push({ ...program, name: 'other', stages: [{ ...program.stages[0], graph: 1 }] });
  const count = (): number => movingStrips(decodePlain(folder), { show: () => undefined }).length;
  assert.equal(count(), 1);
  folder.links = [{ from: 0, to: 1, source: [], target: [], kind: [], shares: {} }];
  assert.equal(count(), 2);
});

test('the bytes of kernels colour a dump by their shapes, which no run tells', async () => {
  const bytes = colourings.find(({ key }) => key === 'bytes');
  const groups = (plain: PlainDocument) => {
    const source = decodePlain(plain);
    return bytes?.groups(source, source.graphs[0]) ?? null;
  };
  assert.deepEqual(groups(dump('jaxpr')), null);
  const found = groups(dump());
  const source = dump();
  const step = (op: string) => found?.of[source.graphs[0].nodes.op.findIndex(one => source.strings[one] === op)];
  assert.deepEqual(
    [step('dot'), step('fusion')].map(one => found?.names[one ?? -1]),
    ['40 % and more', '15 to 40 %']
  );
  const { root } = await explore({ plain: () => dump() }, { stage: 'hlo', colour: 'time' });
  const title = root.querySelector('.jv-legend-title')?.textContent;
  assert.equal(title, 'share of the time of a run is not known here; kind of operation', 'a file does not run');
});
