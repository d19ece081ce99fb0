import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { affine, Sketch } from '../../document/sketch.ts';
import { pair } from '../../document/sketchPair.ts';
import type { Document as PlainDocument } from '../../document/schema.generated.ts';
import { colourings } from '../../view/colouring.ts';
import { explore, withExplorers, type Explored } from '../testExplorer.ts';
import { asText } from './asText.ts';
import type { Column } from './columns.ts';
import { sorted } from './sorting.ts';

const window = withExplorers();

/** A file of the compiler's: a product that moves 80 bytes, and in a fusion, or alone, a sum that moves 44. */
function dump(kind = 'hlo'): PlainDocument {
  const hlo = new Sketch();
  const [w, x, b] = [['w', 'f32[4,4]'] as const, ['x', 'f32[1]'] as const, ['b', 'f32[4]'] as const].map(
    ([name, type]) => hlo.argument(name, type)
  );
  const made = hlo.op('fusion', [hlo.op('dot', [w, x], 'f32[3]', {}, 'dot.1'), b], 'f32[4]', {}, 'add_fusion');
  hlo.region(hlo.last, 'fusion', 'fused', () => {
    const p = hlo.argument('', 'f32[3]', { kind: 'enter', from: 3 });
    const q = hlo.argument('', 'f32[4]', { kind: 'enter', from: b });
    hlo.result('', hlo.op('add', [p, q], 'f32[4]'), { kind: 'leave', to: made });
  });
  hlo.result('result', made);
  const plain = hlo.plain();
  Object.assign(plain.programs[0].stages[0], { kind });
  return plain;
}

/** The product of `affine` took 3 ms, the sum 1 ms. */
function timed(): PlainDocument {
  const plain = affine().plain();
  const run = {
    program: 0,
    device: 'CPU',
    devices: 1,
    runs: 3,
    words: [],
    seconds: { median: 0.005, operations: 0.004 }
  };
  plain.measures = [{ ...run, figures: { jaxpr: { node: [3, 4], seconds: [0.003, 0.001], flops: [64, 4] } } }];
  return plain;
}

function tableOf({ root }: Explored): HTMLElement {
  return root.querySelector('.jv-table') as HTMLElement;
}

/** The words of each row, cell by cell. */
function told(explored: Explored): string[] {
  return [...tableOf(explored).querySelectorAll('.jv-grid-body > .jv-grid-row')].map(row =>
    [...row.children].map(({ textContent }) => textContent).join('|')
  );
}

function heads(explored: Explored): HTMLElement[] {
  return [...tableOf(explored).querySelectorAll<HTMLElement>('[role=columnheader]')];
}

function head(explored: Explored, label: string): HTMLElement {
  return heads(explored).find(one => one.textContent?.startsWith(label)) as HTMLElement;
}

async function press(explored: Explored, key: string): Promise<void> {
  const event = new (window().KeyboardEvent)('keydown', { key, bubbles: true, cancelable: true });
  document.activeElement?.dispatchEvent(event as unknown as Event);
  await new Promise(done => setTimeout(done, 5));
}

test('of a dump the table tells what reads and writes most, and nothing that could be run', async () => {
  const explored = await explore({ plain: () => dump() });
  const { root } = explored;
  const title = tableOf(explored).querySelector('button') as HTMLElement;
  assert.equal(title.textContent, 'kernels: which of 2 read and write most');
  assert.deepEqual(told(explored), [], 'closed at first');
  title.click();
  assert.equal(title.getAttribute('aria-expanded'), 'true');
  assert.deepEqual(
    heads(explored).map(({ textContent }) => textContent),
    ['name', 'bytes', 'share▾', 'cumulative', 'FLOPs', 'type', 'operation', '#']
  );
  assert.deepEqual(told(explored), [
    'dot.1|80 B|64.5 %|64.5 %|24 FLOP|f32[3]|dot|1',
    'add_fusion|44 B|35.5 %|100 %|4 FLOP|f32[4]|fusion|2'
  ]);
  assert.equal(
    tableOf(explored).querySelector('.jv-table-foot')?.textContent,
    '2 kernels · 28 FLOP · 124 B read and written · by shapes: nothing was run'
  );
  assert.equal((root.querySelector('.jv-run-stage') as HTMLElement).hidden, true);
  await explored.press('r');
  assert.match(root.querySelector('.jv-working')?.textContent ?? '', /no function that could be run/);
});

test('before a run the table of a traced program tells what computes most', async () => {
  const explored = await explore({ plain: () => affine().plain() });
  await explored.press('o');
  assert.match(tableOf(explored).querySelector('button')?.textContent ?? '', /^operations: which of 3 compute most$/);
  assert.deepEqual(
    heads(explored).map(({ textContent }) => textContent),
    ['name', 'FLOPs', 'share▾', 'cumulative', 'makes', 'type', '#']
  );
  assert.equal(told(explored)[0], 'dot_general|64 FLOP|88.9 %|88.9 %|16 B|f32[4]|1');
  assert.equal(
    tableOf(explored).querySelector('.jv-table-foot')?.textContent,
    '3 operations · 72 FLOP · by shapes: nothing was run'
  );
});

test('after a run what took longest comes first; a head sorts by its column, and again the other way', async () => {
  const explored = await explore({ plain: timed });
  await explored.press('o');
  assert.deepEqual(
    told(explored),
    [
      'dot_general|3 ms|75 %|75 %|64 FLOP|21300 FLOP/s|f32[4]|1',
      'add|1 ms|25 %|100 %|4 FLOP|4000 FLOP/s|f32[4]|2',
      'tanh||||||f32[4]|3'
    ].map(row => row.replace('21300 FLOP/s', '21.3 kFLOP/s').replace('4000 FLOP/s', '4 kFLOP/s'))
  );
  assert.equal(head(explored, 'time').getAttribute('aria-sort'), 'descending');
  const first = (): string => told(explored)[0].split('|')[0];
  for (const [label, row, sort] of [
    ['name', 'add', 'ascending'],
    ['name', 'tanh', 'descending'],
    ['#', 'dot_general', 'ascending'],
    ['#', 'tanh', 'descending'],
    ['time', 'dot_general', 'descending'],
    ['time', 'tanh', 'ascending']
  ]) {
    head(explored, label).querySelector('button')?.click();
    assert.deepEqual([first(), head(explored, label).getAttribute('aria-sort')], [row, sort]);
  }
  assert.equal(
    tableOf(explored).querySelector('.jv-table-foot')?.textContent,
    '3 operations · 4 ms in a run · 68 FLOP'
  );
});

test('the keyboard walks the rows and selects; the selection of the picture marks its row', async () => {
  const explored = await explore(affine());
  const { explorer, root } = explored;
  assert.ok(tableOf(explored).hidden, 'three operations are seen at a look');
  await explored.press('o');
  const grid = root.querySelector('[role=grid]') as HTMLElement;
  assert.equal(document.activeElement, grid);
  await press(explored, 'ArrowDown');
  await press(explored, 'Enter');
  assert.deepEqual(explorer.selection, [4]);
  const marked = (): (string | null)[] =>
    [...grid.querySelectorAll('[aria-selected=true]')].map(row => row.firstElementChild?.textContent ?? null);
  assert.deepEqual(marked(), ['add']);
  assert.equal(
    document.getElementById(grid.getAttribute('aria-activedescendant') ?? '')?.firstElementChild?.textContent,
    'add'
  );
  explorer.select([5]);
  assert.deepEqual(marked(), ['tanh']);
  await press(explored, 'Escape');
  assert.deepEqual(explorer.selection, [5], 'Escape leads back to the picture, and leaves it as it is');
  assert.ok(document.activeElement?.classList.contains('jv-stage-area'));
  await explored.press('o');
  assert.ok((root.querySelector('.jv-table-more') as HTMLElement).hidden);
});

test('what is searched for is all that the table lists', async () => {
  const explored = await explore({ plain: () => dump() });
  await explored.press('o');
  await explored.press('/');
  const input = explored.root.querySelector('.jv-search-input') as HTMLInputElement;
  const ask = (query: string): void => {
    input.value = query;
    input.dispatchEvent(new (window().Event)('input') as unknown as Event);
  };
  ask('op:add');
  assert.deepEqual(
    told(explored).map(row => row.split('|')[0]),
    ['add_fusion'],
    'by what is inside of it'
  );
  assert.match(
    tableOf(explored).querySelector('.jv-table-foot')?.textContent ?? '',
    /^1 of 2 kernels that are searched for · 4 FLOP · 44 B/
  );
  ask('');
  assert.equal(told(explored).length, 2);
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

test('of each program of a folder the table tells the kernels', async () => {
  const folder = dump();
  const [program] = folder.programs;
  folder.graphs.push({ ...structuredClone(folder.graphs[0]) });
  folder.graphs[1].nodes.name = folder.graphs[1].nodes.name.map(() => 0);
  folder.programs.push({ ...program, name: 'other', stages: [{ ...program.stages[0], graph: 1 }] });
  const explored = await explore({ plain: () => folder });
  await explored.press('o');
  const first = (): string[] => told(explored).map(row => row.split('|')[0]);
  assert.deepEqual(first(), ['dot.1', 'add_fusion']);
  const picker = explored.root.querySelector('select.jv-program') as HTMLSelectElement;
  picker.value = '1';
  picker.dispatchEvent(new (window().Event)('change') as unknown as Event);
  await new Promise(done => setTimeout(done, 5));
  assert.deepEqual(first(), ['dot', 'fused']);
});

test('what is in one group by what was chosen stands each by itself, and that is said', async () => {
  const explored = await explore({ plain: () => dump() });
  await explored.press('o');
  const by = tableOf(explored).querySelector('select') as HTMLSelectElement;
  by.dispatchEvent(new (window().Event)('focus') as unknown as Event);
  const offered = [...by.options].filter(({ disabled }) => !disabled).map(({ value }) => value);
  assert.deepEqual(offered, ['each', 'kind', 'operation'], 'only what makes groups can be chosen');
  by.value = 'module';
  by.dispatchEvent(new (window().Event)('change') as unknown as Event);
  assert.equal(told(explored).length, 2);
  assert.match(
    tableOf(explored).querySelector('.jv-table-foot')?.textContent ?? '',
    /^by module all are one group: each by itself · 2 kernels/
  );
});

test('of two programs side by side the table tells what both take, and the difference', async () => {
  const plain = pair();
  const run = { device: 'CPU', devices: 1, runs: 3, words: [], seconds: {} };
  const figures = (seconds: readonly number[]) => ({ jaxpr: { node: [3, 4, 5], seconds: [...seconds] } });
  plain.measures = [
    { ...run, program: 0, figures: figures([0.003, 0.001, 0.002]) },
    { ...run, program: 1, figures: figures([0.001, 0.002, 0.004]) }
  ];
  const explored = await explore({ plain: () => plain });
  await explored.press('o');
  assert.deepEqual(
    heads(explored).map(one => one.textContent),
    ['name', 'time▾', 'share', 'cumulative', 'beside', 'difference', 'type', '#']
  );
  const compared = (): string[] =>
    told(explored).map(row =>
      row
        .split('|')
        .filter((_, at) => [0, 1, 4, 5].includes(at))
        .join(' ')
    );
  // What has no counterpart there is told alone.
  assert.deepEqual(compared(), ['dot_general 3 ms 1 ms +2 ms', 'tanh 2 ms  ', 'add 1 ms 2 ms −1 ms']);
  const by = tableOf(explored).querySelector('select') as HTMLSelectElement;
  by.value = 'operation';
  by.dispatchEvent(new (window().Event)('change') as unknown as Event);
  assert.deepEqual(
    told(explored).map(row => row.split('|').slice(0, 7).join(' ')),
    [
      'dot_general 1 3 ms 50 % 50 % 1 ms +2 ms',
      'tanh 1 2 ms 33.3 % 83.3 % 4 ms −2 ms',
      'add 1 1 ms 16.7 % 100 % 2 ms −1 ms'
    ]
  );
});

test('of a hundred thousand rows those in sight are on the page, and they are sorted at once', () => {
  const count = 100_000;
  const names = Array.from({ length: count }, (_, row) => `fusion.${(row * 7919) % count}`);
  const column: Column = { key: 'name', label: 'name', title: '', width: 1, text: row => names[row] };
  const order = sorted([column], count, { by: 'name', reversed: false });
  assert.deepEqual(
    Array.from(order.subarray(0, 3), row => names[row]),
    ['fusion.0', 'fusion.1', 'fusion.2']
  );
  const numbers = { ...column, numbers: (row: number) => (row * 7919) % count };
  const start = performance.now();
  assert.equal(numbers.numbers(sorted([numbers], count, { by: 'name', reversed: false })[0]), count - 1);
  assert.ok(performance.now() - start < 500);
});

test('a copy has numbers as they are and units in the head, and nothing that a spreadsheet would compute', () => {
  const columns: Column[] = [
    { key: 'name', label: 'name', title: '', width: 1, text: row => ['=1+1', 'a\tb'][row] },
    {
      key: 'seconds',
      label: 'time',
      title: '',
      width: 1,
      unit: 's',
      text: () => '3 ms',
      numbers: row => [0.003, 0][row]
    }
  ];
  assert.equal(asText(columns, Int32Array.of(1, 0)), "name\ttime (s)\na b\t\n'=1+1\t0.003\n");
});
