/** What differs between the copies of a stack: the parameters that they read, what they make, types and constants. */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';
import { attribute, attributeKeys, nodeLabel, typeText } from './label.ts';
import { childrenOf, rowsOf } from './outline.ts';

export interface CopyTable {
  /** What the columns are, and what all their words begin with; only what differs has a column. */
  readonly columns: readonly { readonly is: string; readonly begins: string }[];
  /** A line for each copy: its row of the outline, and the words of each column without that beginning. */
  readonly lines: readonly { readonly row: number; readonly cells: readonly string[] }[];
}

/** What there is to say about one copy, by column. */
type Told = Readonly<Record<'reads' | 'makes' | 'type' | 'constant', readonly string[]>>;

const COLUMNS = ['reads', 'makes', 'type', 'constant'] as const;
/** Where nothing else differs, so many parameters of operations that do are told. */
const MOST_PARAMETERS = 2;
/** Operations that are looked through for a name where a copy reads nothing that has one. */
const FAR = 60;

export function copyTable(document: Document, graph: Graph, stack: number): CopyTable {
  const rows = rowsOf(document, graph);
  const copies = [...childrenOf(rows, stack)];
  const results = resultNames(document, graph);
  const { first, end } = rows.outline;
  const carried = carriedAlong(
    graph,
    copies.map(row => [first[row], end[row]])
  );
  const told = withNames(
    copies.map((row, i) => {
      const without = { reads: i === 0 ? carried.reads : NONE, makes: i === copies.length - 1 ? carried.makes : NONE };
      return tell(document, graph, results, [first[row], end[row]], without);
    }),
    i => nameBehind(document, graph, results, first[copies[i]], end[copies[i]])
  );
  const columns = COLUMNS.flatMap(is => {
    const common = inAll(told.map(one => one[is]));
    const words = told.map(one => one[is].filter(word => !common.has(word)).join(', '));
    const paths = (is === 'reads' || is === 'makes') && words.every(word => !word.includes(', '));
    const begins = paths ? commonPath(words) : '';
    return new Set(words).size > 1 ? [{ is, begins, cells: words.map(word => word.slice(begins.length)) }] : [];
  });
  // What makes the new value of what it reads says the path once.
  const found = columns.length ? columns : parametersApart(document, graph, copies);
  const said = found.filter(({ cells }, i) => found.findIndex(other => `${other.cells}` === `${cells}`) === i);
  return {
    columns: said.map(({ is, begins }) => ({ is, begins })),
    lines: copies.map((row, i) => ({ row, cells: said.map(({ cells }) => cells[i]) }))
  };
}

/** Parameters of operations by which copies differ that are the same otherwise, as where each takes another slice. */
function parametersApart(
  document: Document,
  graph: Graph,
  copies: readonly number[]
): { is: string; begins: string; cells: string[] }[] {
  const { first, end } = rowsOf(document, graph).outline;
  const [size, ...others] = copies.map(row => end[row] - first[row]);
  const found: { is: string; begins: string; cells: string[] }[] = [];
  for (let at = 0; at < size && others.every(other => other === size); at++) {
    for (const key of attributeKeys(document, graph, first[copies[0]] + at)) {
      const cells = copies.map(row => attribute(document, graph, first[row] + at, key) ?? '');
      if (new Set(cells).size > 1) {
        found.push({ is: key, begins: '', cells });
        if (found.length === MOST_PARAMETERS) {
          return found;
        }
      }
    }
  }
  return found;
}

const NONE: ReadonlySet<string> = new Set();

/** Places in a copy, from its own first node: of operands as `node operand`, of values as `node value`. */
type Places = Readonly<Record<'reads' | 'makes', ReadonlySet<string>>>;

/**
 * Where copies hand on to the next: there the first one reads what the program begins with, and the last one makes what it
 * ends with, which is no difference.
 */
function carriedAlong(graph: Graph, copies: readonly (readonly [number, number])[]): Places {
  const [before, copy] = copies;
  const found = { reads: new Set<string>(), makes: new Set<string>() };
  for (let node = copy?.[0] ?? 0; node < (copy?.[1] ?? 0); node++) {
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = throughBorders(graph, graph.operandSource[i]);
      const from = source < 0 ? -1 : graph.valueNode[source];
      if (from >= before[0] && from < before[1]) {
        found.reads.add(`${node - copy[0]} ${i - graph.firstOperand[node]}`);
        found.makes.add(`${from - before[0]} ${source - graph.firstValue[from]}`);
      }
    }
  }
  return found;
}

/** Where no copy reads anything with a name, what it was made from, if that tells the copies apart. */
function withNames(told: readonly Told[], behind: (copy: number) => string): readonly Told[] {
  if (told.some(({ reads }) => reads.length > 0)) {
    return told;
  }
  const names = told.map((_, i) => behind(i));
  return new Set(names).size === told.length ? told.map((one, i) => ({ ...one, reads: [names[i]] })) : told;
}

/** What all paths begin with, up to a whole step of the path. */
function commonPath(paths: readonly string[]): string {
  let length = 0;
  while (paths.every(path => length < path.length && path[length] === paths[0][length])) {
    length++;
  }
  while (length > 0 && !paths.every(path => path[length] === '[' || path[length] === '.')) {
    length--;
  }
  return paths[0]?.slice(0, length) ?? '';
}

function inAll(lists: readonly (readonly string[])[]): Set<string> {
  return new Set(lists[0]?.filter(word => lists.every(list => list.includes(word))));
}

function tell(
  document: Document,
  graph: Graph,
  results: ReadonlyMap<number, string>,
  [first, end]: readonly [number, number],
  without: Places
): Told {
  const reads = new Set<string>();
  const constant = new Set<string>();
  const makes = new Set<string>();
  let type = '';
  for (let node = first; node < end; node++) {
    if (graph.kind[node] !== NodeKind.operation) {
      continue;
    }
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = throughBorders(graph, graph.operandSource[i]);
      if (source < 0) {
        constant.add(document.strings[graph.literalText[-1 - source]]);
      } else if (
        graph.valueNode[source] < first &&
        isNamed(graph, graph.valueNode[source]) &&
        !without.reads.has(`${node - first} ${i - graph.firstOperand[node]}`)
      ) {
        reads.add(nodeLabel(document, graph, graph.valueNode[source]) || 'argument');
      }
    }
    for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
      type = typeText(document, graph, value);
      const result = results.get(value);
      if (result !== undefined && !without.makes.has(`${node - first} ${value - graph.firstValue[node]}`)) {
        makes.add(result);
      }
    }
  }
  return { reads: [...reads], makes: [...makes], type: [type], constant: [...constant] };
}

/** The nearest name that what a copy reads was made from; empty where there is none nearby. */
function nameBehind(
  document: Document,
  graph: Graph,
  results: ReadonlyMap<number, string>,
  first: number,
  end: number
): string {
  const todo = Array.from({ length: end - first }, (_, i) => first + i);
  const seen = new Set(todo);
  for (let at = 0; at < todo.length && at < FAR + end - first; at++) {
    for (let i = graph.firstOperand[todo[at]]; i < graph.firstOperand[todo[at] + 1]; i++) {
      const source = throughBorders(graph, graph.operandSource[i]);
      const node = source < 0 ? -1 : graph.valueNode[source];
      if (node < 0 || seen.has(node)) {
        continue;
      }
      const name = results.get(source) ?? (isNamed(graph, node) ? nodeLabel(document, graph, node) : '');
      if (name) {
        return name;
      }
      seen.add(node);
      todo.push(node);
    }
  }
  return '';
}

/** Arguments of the program and captured arrays have names of their own. */
function isNamed(graph: Graph, node: number): boolean {
  const kind = graph.kind[node];
  return kind === NodeKind.constant || (kind === NodeKind.argument && graph.region[node] === 0);
}

/** The value outside that an argument of a body only passes on. */
function throughBorders(graph: Graph, operand: number): number {
  const borders = bordersOf(graph);
  let source = operand;
  while (source >= 0 && borders.passes(graph.valueNode[source])) {
    source = graph.bindingFrom[borders.into[graph.valueNode[source]]];
  }
  return source;
}

/** The names of the results of the program, by the values that they are; calls only pass these on. */
function resultNames(document: Document, graph: Graph): Map<number, string> {
  const borders = bordersOf(graph);
  const names = new Map<number, string>();
  for (let node = 0; node < graph.nodeCount; node++) {
    if (graph.kind[node] !== NodeKind.result || graph.region[node] !== 0) {
      continue;
    }
    const todo = [graph.operandSource[graph.firstOperand[node]]];
    while (todo.length) {
      const value = todo.pop() as number;
      if (value >= 0 && !names.has(value)) {
        names.set(value, document.strings[graph.name[node]] || 'result');
        for (const binding of borders.outOf.get(value) ?? []) {
          todo.push(graph.operandSource[graph.firstOperand[graph.bindingFrom[binding]]]);
        }
      }
    }
  }
  return names;
}
