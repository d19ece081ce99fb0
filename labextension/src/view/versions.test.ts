import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../document/decode.ts';
import { Sketch, plainOutline } from '../document/sketch.ts';
import { RowKind } from '../document/graph.ts';
import { rowsOf } from './outline.ts';
import { itemsIn, sameRows, type Edition } from './versions.ts';

/** A row of an outline: its name, what it makes, its copies, and what is in it. An operation is its name alone. */
interface Row {
  readonly name: string;
  readonly makes?: string;
  readonly times?: number;
  readonly inside: readonly (Row | string)[];
}

const row = (name: string, ...inside: (Row | string)[]): Row => ({ name, inside });

/** A program of these rows, each operation of which reads the one before. */
function editionOf(...rows: readonly Row[]): Edition {
  const sketch = new Sketch('step');
  const columns = { back: [1], kind: [0], first: [0], size: [0], count: [1] };
  const texts = [{ name: '', makes: '' }];
  let [value, nodes] = [sketch.argument('x', 'f32[4]'), 1];
  const add = ({ name, makes = '', times = 1, inside }: Row, around: number, kind: number): void => {
    const place = columns.back.push(columns.back.length - around) - 1;
    columns.kind.push(kind);
    columns.count.push(times);
    columns.first.push(nodes);
    texts.push({ name, makes });
    for (const one of inside) {
      if (typeof one === 'string') {
        value = sketch.op(one, [value], 'f32[4]');
        nodes++;
      } else {
        add(one, place, times > 1 ? RowKind.copy : RowKind.call);
      }
    }
    columns.size[place] = nodes - columns.first[place];
  };
  rows.forEach(one => add(one, 0, RowKind.call));
  sketch.result('result', value);
  columns.size[0] = nodes + 1;
  const plain = sketch.plain();
  const put = (text: string): number => (text ? plain.strings.push(text) - 1 : 0);
  const { back, kind, first, size, count } = columns;
  const gap = first.map((at, place) => at - (first[place - 1] ?? 0));
  const name = texts.map(text => put(text.name));
  const variable = texts.map(text => put(text.makes));
  plain.outlines = [{ ...plainOutline({ back, kind, name, gap, size }, nodes + 1), variable, count }];
  const document = decodePlain(plain);
  return { document, graph: document.graphs[0] };
}

/** What each row is in the other version, by what it is called with all around it. */
function told(before: Edition, now: Edition): Record<string, string | null> {
  const { now: like } = sameRows(before, now);
  const path = ({ document, graph }: Edition, row: number): string => {
    const { name, outline } = rowsOf(document, graph);
    return row > 0 ? `${path({ document, graph }, outline.parent[row])}/${name[row]}` : '';
  };
  return Object.fromEntries(
    Array.from(like, (to, from): [string, string | null] => [path(before, from), to < 0 ? null : path(now, to)]).slice(
      1
    )
  );
}

test('what stands in the same place by the same name is the same, whatever comes before it', () => {
  const before = editionOf(row('embed', 'gather'), row('block', row('attend', 'dot'), row('grow', 'mul')));
  const now = editionOf(
    row('embed', 'gather'),
    row('norm', 'rsqrt'),
    row('block', row('attend', 'dot', 'exp'), row('drop', 'select'), row('grow', 'mul'))
  );
  assert.deepEqual(told(before, now), {
    '/embed': '/embed',
    '/block': '/block',
    '/block/attend': '/block/attend',
    '/block/grow': '/block/grow'
  });
});

test('an expression that was rewritten is told by the variable that it makes, or by being the only one', () => {
  const before = editionOf(
    { ...row('h = relu(x)', row('x', 'max')), makes: 'h' },
    { ...row('y = h + 1', row('h', 'add')), makes: 'y' }
  );
  const now = editionOf(
    { ...row('y = h + 2', row('h', 'add')), makes: 'y' },
    { ...row('h = gelu(x)', row('x', 'erf')), makes: 'h' },
    row('print(x)', 'debug')
  );
  assert.equal(told(before, now)['/h = relu(x)'], '/h = gelu(x)');
  assert.equal(told(before, now)['/h = relu(x)/x'], '/h = gelu(x)/x');
  assert.equal(told(before, now)['/y = h + 1'], '/y = h + 2');
  assert.equal(told(editionOf(row('relu', 'max')), editionOf(row('gelu', 'erf')))['/relu'], '/gelu');
});

test('what was put into another call is found by its name, and what is gone is not', () => {
  const before = editionOf(row('embed', 'gather'), row('attend', row('scores', 'dot')), row('old', 'neg', 'abs'));
  const now = editionOf(
    row('embed', 'gather'),
    row('block', row('attend', row('scores', 'dot'))),
    row('one', 'exp'),
    row('more', 'exp')
  );
  assert.deepEqual(told(before, now), {
    '/embed': '/embed',
    '/attend': '/block/attend',
    '/attend/scores': '/block/attend/scores',
    '/old': null
  });
});

test('the copies of a stack are the same whether there are more of them or only one', () => {
  const copy = row('', row('attend', 'dot'));
  const three = editionOf({ name: 'block', times: 3, inside: [copy, copy, copy] });
  const two = editionOf({ name: 'block', times: 2, inside: [copy, copy] });
  const one = editionOf(row('block', row('attend', 'dot')));
  assert.deepEqual([...sameRows(three, two).now], [0, 1, 2, 3, 4, 5, -1, -1]);
  assert.deepEqual([...sameRows(three, one).now], [0, 1, -1, 2, -1, -1, -1, -1]);
  assert.deepEqual([...sameRows(one, three).now], [0, 1, 3]);
});

test('operations are told by what they are in their row, arguments by their names', () => {
  const before = editionOf(row('block', 'dot', 'add', 'dot'));
  const now = editionOf(row('norm', 'dot'), row('block', 'exp', 'dot', 'neg', 'dot'));
  const itemNow = itemsIn(before, now, sameRows(before, now).now);
  // Node 0 is the argument.
  assert.deepEqual([-1, -2, -3, -4, 1].map(itemNow), [-1, -4, null, -6, 2]);
});
