/** The rows of the table of operations: each operation by itself, or those together that have something in common. */
import { RowKind, type Document, type Graph } from '../document/graph.ts';
import { families, family, stronger } from './family.ts';
import { nodeLabel } from './label.ts';
import { AMOUNTS, operationsOf, type Amount, type Operations } from './operations.ts';
import { rowsOf } from './outline.ts';
import { ownSpot } from './spots.ts';

export interface Listing {
  readonly operations: Operations;
  readonly count: number;
  /** The row of each node; -1 for one in none. */
  readonly rowOf: Int32Array;
  /** The operations of row r: `members[first[r]]` to `members[first[r + 1]]`. */
  readonly first: Int32Array;
  readonly members: Int32Array;
  readonly amounts: Readonly<Record<Amount, Float64Array>>;
  name(row: number): string;
}

/** Which operations stand together: a name for each; `rest` is where a name is empty. */
export interface Grouping {
  readonly key: string;
  readonly label: string;
  readonly rest: string;
  nameOf(document: Document, graph: Graph, operations: Operations): (node: number) => string;
}

export const groupings: readonly Grouping[] = [
  { key: 'kind', label: 'kind', rest: 'other', nameOf: byKind },
  { key: 'operation', label: 'operation', rest: 'other', nameOf: byOperation },
  { key: 'line', label: 'source line', rest: 'elsewhere', nameOf: byLine },
  { key: 'module', label: 'module', rest: 'in no module', nameOf: byRows([RowKind.module]) },
  {
    key: 'function',
    label: 'function',
    rest: 'in no function',
    nameOf: byRows([RowKind.call, RowKind.function, RowKind.loop])
  },
  { key: 'phase', label: 'phase', rest: 'outside of these', nameOf: byRows([RowKind.phase]) }
];

/** Each operation is a row. */
export function eachOf(document: Document, graph: Graph): Listing {
  const operations = operationsOf(document, graph);
  const { node, rowOf, amounts } = operations;
  return {
    operations,
    count: node.length,
    rowOf,
    first: Int32Array.from({ length: node.length + 1 }, (_, row) => row),
    members: node,
    amounts,
    name: row => nodeLabel(document, graph, node[row])
  };
}

/** Operations in groups, in the order in which they begin; null for fewer than `least`. */
export function groupsOf(document: Document, graph: Graph, grouping: Grouping, least = 2): Listing | null {
  const operations = operationsOf(document, graph);
  const { node, rowOf } = operations;
  const nameOf = grouping.nameOf(document, graph, operations);
  const names = new Map<string, number>();
  const group = Int32Array.from(node, one => {
    const name = nameOf(one) || grouping.rest;
    return names.get(name) ?? names.set(name, names.size).size - 1;
  });
  if (names.size < least) {
    return null;
  }
  const first = new Int32Array(names.size + 1);
  group.forEach(one => first[one + 1]++);
  for (let row = 0; row < names.size; row++) {
    first[row + 1] += first[row];
  }
  const next = first.slice();
  const members = new Int32Array(node.length);
  group.forEach((one, row) => (members[next[one]++] = node[row]));
  const sums = AMOUNTS.map(amount => {
    const column = operations.amounts[amount];
    const sum = new Float64Array(column.length ? names.size : 0);
    column.forEach((one, row) => (sum[group[row]] += one));
    return [amount, sum] as const;
  });
  const called = [...names.keys()];
  return {
    operations,
    count: names.size,
    rowOf: rowOf.map(row => (row < 0 ? -1 : group[row])),
    first,
    members,
    amounts: Object.fromEntries(sums) as Record<Amount, Float64Array>,
    name: row => called[row]
  };
}

/** A kernel is of the kind of the strongest operation in it, as a closed box is. */
function byKind({ strings }: Document, graph: Graph, { node, rowOf }: Operations): (node: number) => string {
  const kind = Int32Array.from(node, one => family(strings[graph.op[one]]));
  rowOf.forEach((row, one) => {
    if (row >= 0) {
      kind[row] = stronger(kind[row], family(strings[graph.op[one]]));
    }
  });
  return one => families[kind[rowOf[one]]].label;
}

function byOperation({ strings }: Document, graph: Graph): (node: number) => string {
  return node => strings[graph.op[node]];
}

/** By the innermost line of the person's own code, with its text where that is known. */
function byLine(document: Document, graph: Graph): (node: number) => string {
  const names = new Map<number, string>();
  return node => {
    const stack = graph.stack[node];
    const name = names.get(stack) ?? lineOf(document, stack, true);
    names.set(stack, name);
    return name;
  };
}

/** A line of the person's source that a call stack comes from: its number, and which file where that is not clear. */
export function lineOf(document: Document, stack: number, withText = false): string {
  const { files, strings } = document;
  const spot = ownSpot(document, stack);
  if (!spot) {
    return '';
  }
  const where = hasOneFile(document) ? String(spot.line) : `${strings[files.label[spot.file]]}:${spot.line}`;
  const text = withText && strings[files.text[spot.file]].split('\n')[spot.line - files.start[spot.file]]?.trim();
  return text ? `${where}  ${text}` : where;
}

/** True where the number of a line says all. */
export function hasOneFile({ files }: Document): boolean {
  return files.library.reduce((sum, library) => sum + (library ? 0 : 1), 0) < 2;
}

/** By the rows of some kinds around, from the outermost to the innermost, of a person's program. */
function byRows(kinds: readonly number[]): Grouping['nameOf'] {
  return (document, graph) => {
    const { outline, name, leaf, count, ofProgram } = rowsOf(document, graph);
    if (!ofProgram) {
      return () => '';
    }
    const path = new Array<string>(count).fill('');
    for (let row = 1; row < count; row++) {
      const around = path[outline.parent[row]];
      path[row] = kinds.includes(outline.kind[row]) && name[row] ? `${around && `${around} / `}${name[row]}` : around;
    }
    return node => path[leaf[node]];
  };
}
