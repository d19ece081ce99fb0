/** The columns of the table of operations: one entry for each; those are shown that have anything to say. */
import type { Document, Graph } from '../../document/graph.ts';
import { fateWord } from '../../view/colouring.ts';
import { fatesOf } from '../../view/ghosts.ts';
import { typeText } from '../../view/label.ts';
import { hasOneFile, lineOf, type Grouping, type Listing } from '../../view/listing.ts';
import { flopsText, measuredOf, shareText, short, timeText } from '../../view/measures.ts';
import type { Amount } from '../../view/operations.ts';
import { rowLabel, rowsOf, type Rows } from '../../view/outline.ts';
import { bytesText, numberText } from '../../view/words.ts';
import { limitOf } from '../details/measured.ts';
import type { Besides } from './beside.ts';

export interface Column {
  readonly key: string;
  readonly label: string;
  /** What it tells, in words. */
  readonly title: string;
  /** The least width in px, and the most, or the part of what is left that it takes. */
  readonly width: number;
  readonly most?: number;
  readonly grows?: number;
  /** The unit of what is copied. */
  readonly unit?: string;
  /** What it is sorted by, the largest first; without numbers, by its text. */
  readonly numbers?: (row: number) => number;
  text(row: number): string;
  /** The length of a bar behind the text, from 0 to 1. */
  readonly bar?: (row: number) => number;
}

/** What the table is of; in a table of groups, by what they are, what only one operation has is not told. */
export interface Listed {
  readonly document: Document;
  readonly graph: Graph;
  readonly listing: Listing;
  readonly grouping: Grouping | undefined;
  readonly besides?: Besides | undefined;
}

const NUMBER = 84;

/** All columns that have something to say, in the order of the table. */
export function columnsOf(listed: Listed): Column[] {
  const { listing, grouping } = listed;
  const { amounts, first, count } = listing;
  const name: Column = {
    key: 'name',
    label: grouping?.label ?? 'name',
    title: grouping ? 'What the operations have in common' : 'As the program names it',
    width: 150,
    ...(grouping ? { most: 420 } : { grows: 1.6 }),
    text: row => listing.name(row)
  };
  const what = listing.operations.kernels ? 'kernels' : 'operations';
  const many = numeric('count', what, `How many ${what}`, row => first[row + 1] - first[row], numberText);
  const own = grouping ? [many] : [];
  const rest = grouping ? [] : wordsOf(listed);
  const [time, bytes] = [
    amount(listing, 'seconds', 'time', 'In a run, by itself: without what is inside', 's', timeText),
    amount(listing, 'bytes', 'bytes', 'Bytes read and written in a run', 'B', bytesText)
  ];
  const flops = amount(listing, 'flops', 'FLOPs', 'Floating-point operations in a run', 'FLOP', flopsText);
  const leading = leadingOf(listing);
  const columns = [
    ...own,
    { seconds: time, bytes, flops }[leading],
    ...shares(listing),
    ...besideColumns(listed),
    ...(grouping ? [] : whereabouts(listed)),
    ...(leading === 'flops' ? [] : [flops]),
    rate(listing, 'flops', 'FLOP/s', flopsText),
    ...(leading === 'seconds' ? [bytes] : []),
    rate(listing, 'bytes', 'bytes/s', bytesText),
    ...rest
  ];
  const says = ({ numbers, text }: Column): boolean => {
    for (let row = 0; row < count; row++) {
      if (numbers ? numbers(row) !== 0 : text(row) !== '') {
        return true;
      }
    }
    return false;
  };
  const known = amounts.bytes.length > 0;
  return [name, ...columns.filter(one => says(one) && !(one.key === 'makes' && known))];
}

function numeric(
  key: string,
  label: string,
  title: string,
  numbers: (row: number) => number,
  words: (value: number) => string,
  unit?: string
): Column {
  const text = (row: number): string => (numbers(row) > 0 ? words(numbers(row)) : '');
  return { key, label, title, width: NUMBER, numbers, text, ...(unit ? { unit } : {}) };
}

function amount(
  { amounts }: Listing,
  key: Amount,
  label: string,
  title: string,
  unit: string,
  words: (value: number) => string
): Column {
  return numeric(key, label, title, row => amounts[key][row] ?? 0, words, unit);
}

function rate({ amounts }: Listing, key: 'flops' | 'bytes', label: string, words: (value: number) => string): Column {
  const numbers = (row: number): number => {
    const seconds = amounts.seconds[row] ?? 0;
    return seconds > 0 ? (amounts[key][row] ?? 0) / seconds : 0;
  };
  const [unit, what] = key === 'flops' ? ['FLOP/s', 'computes'] : ['B/s', 'reads and writes'];
  const column = numeric(`${key}/s`, label, `What it ${what} in a second`, numbers, value => `${words(value)}/s`, unit);
  return { ...column, width: 100 };
}

/** What a table is of: the time of a run, else the bytes, else what is computed. */
function leadingOf({ amounts }: Listing): 'seconds' | 'bytes' | 'flops' {
  return amounts.seconds.length > 0 ? 'seconds' : amounts.bytes.length > 0 ? 'bytes' : 'flops';
}

const WHOLE = {
  seconds: 'of the time of a run',
  bytes: 'of the bytes that all read and write',
  flops: 'of what all compute'
};

/** What that is of the whole. */
function shares(listing: Listing): Column[] {
  const { amounts, operations, count } = listing;
  const leading = leadingOf(listing);
  const column = amounts[leading];
  const whole = leading === 'seconds' ? operations.seconds : column.reduce((sum, one) => sum + one, 0);
  if (!(whole > 0)) {
    return [];
  }
  const what = WHOLE[leading];
  const most = column.reduce((best, one) => Math.max(best, one), 0);
  const share = numeric(
    'share',
    'share',
    `What it is ${what}`,
    row => column[row] / whole,
    value => shareText(value, 1)
  );
  const order = Int32Array.from({ length: count }, (_, row) => row).sort((a, b) => column[b] - column[a] || a - b);
  const upTo = new Float64Array(count);
  order.reduce((sum, row) => (upTo[row] = sum + column[row]), 0);
  const together = numeric(
    'cumulative',
    'cumulative',
    `What it and all with more than it are ${what}`,
    row => (column[row] > 0 ? upTo[row] / whole : 0),
    value => shareText(value, 1)
  );
  return [
    { ...share, width: 92, bar: row => column[row] / most },
    { ...together, width: 82 }
  ];
}

/** What it is beside, and how much more here. */
function besideColumns({ listing, besides }: Listed): Column[] {
  if (!besides) {
    return [];
  }
  const { amount: there, name, of } = besides;
  const [text, unit] = ({ seconds: [timeText, 's'], bytes: [bytesText, 'B'], flops: [flopsText, 'FLOP'] } as const)[of];
  const here = listing.amounts[of];
  const more = (row: number): number => (Number.isNaN(there[row]) ? 0 : here[row] - there[row]);
  return [
    numeric('beside', 'beside', `The same in ${name}`, row => there[row] || 0, text, unit),
    {
      ...numeric('difference', 'difference', `How much more it is here than in ${name}`, more, text, unit),
      text: row => (more(row) === 0 ? '' : `${more(row) > 0 ? '+' : '−'}${text(Math.abs(more(row)))}`)
    }
  ];
}

/** Where an operation is from, and what limits it. */
function whereabouts(listed: Listed): Column[] {
  const { document, graph, listing } = listed;
  const { node } = listing.operations;
  const rows = rowsOf(document, graph);
  const measured = measuredOf(document, graph);
  return [
    words('line', 'line', 'The line of your source', [hasOneFile(document) ? 52 : 130], row =>
      lineOf(document, graph.stack[node[row]])
    ),
    words('in', 'in', 'What it is a part of', [96, 1], row => partOf(listed, rows, row)),
    words('limit', 'limit', 'What limits it, and how near it comes', [160], row =>
      measured ? (limitOf(document, graph, measured, node[row]) ?? '') : ''
    )
  ];
}

/** What is told of one operation. */
function wordsOf(listed: Listed): Column[] {
  const { document, graph, listing } = listed;
  const { node } = listing.operations;
  const fates = fatesOf(document, graph);
  const { runs } = listing.amounts;
  const again = runs.some(times => times !== 1);
  return [
    ...(again ? [numeric('runs', 'runs', 'How often it runs in a run of the program', row => runs[row], short)] : []),
    amount(listing, 'makes', 'makes', 'Bytes of its value', 'B', bytesText),
    words('type', 'type', 'The type of its value', [96, 1], row => typesText(document, graph, node[row])),
    words('operation', 'operation', 'What it does', [120], row => {
      const op = document.strings[graph.op[node[row]]];
      return op === listing.name(row) ? '' : op;
    }),
    words('fate', 'fate', 'What the compiler made of it', [130], row => fateWord(fates, node[row])),
    numeric('order', '#', 'Its place in the program', row => row + 1, numberText)
  ];
}

/** The innermost row around an operation that has another name than it. */
function partOf({ document, graph, listing }: Listed, rows: Rows, row: number): string {
  const [name, node] = [listing.name(row), listing.operations.node[row]];
  for (let around = rows.leaf[node]; around > 0; around = rows.outline.parent[around]) {
    const label = rowLabel(document, graph, rows, around);
    if (label !== name && label !== document.strings[graph.op[node]]) {
      return label;
    }
  }
  return '';
}

/** The type of the first value, and how many more there are. */
function typesText(document: Document, graph: Graph, node: number): string {
  const [first, end] = [graph.firstValue[node], graph.firstValue[node + 1]];
  return first === end ? '' : `${typeText(document, graph, first)}${end > first + 1 ? ` +${end - first - 1}` : ''}`;
}

function words(
  key: string,
  label: string,
  title: string,
  [width, grows = 0]: readonly [number, number?],
  text: (row: number) => string
): Column {
  return { key, label, title, width, grows, text };
}
