/** What tells boxes apart that stand in one place and have one name. */
import { NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { hasFamily } from './family.ts';
import { givenType } from './given.ts';
import { cut } from './label.ts';
import { childrenOf, rowLabel, type Rows } from './outline.ts';
import { numberText } from './words.ts';

/** A box of more operations than this is large: how many it has says something then. */
const MANY = 12;
/** Numbers are told where the largest is so many times the smallest. */
const APART = 1.5;
/** So many parts are told of what none of the others has. */
const MOST_PARTS = 2;

/** Of rows that look alike, what each is assigned to in the source; none where that does not tell all of them apart. */
export function assignedTo(document: Document, { outline }: Rows, alike: readonly number[]): readonly string[] {
  const variables = alike.map(row => document.strings[outline.variable[row]]);
  const tells = alike.length > 1 && variables.every(Boolean) && new Set(variables).size === alike.length;
  return tells ? variables.map(variable => cut(variable.replace(/^\((.*)\)$/, '$1'))) : [];
}

/** True for the names of several variables: `(mean, variance)`. */
export function isSeveral(variables: string): boolean {
  return variables.includes(', ');
}

/**
 * Of closed rows that look alike, the words that tell each from the others: the types of what they give, or else the
 * parts that only one of them has, or else how many operations they hold, or at last which. None where all hold the same.
 */
export function toldApart(document: Document, graph: Graph, rows: Rows, alike: readonly number[]): readonly string[] {
  if (alike.length < 2 || new Set(alike.map(row => operationsIn(graph, rows, row))).size === 1) {
    return [];
  }
  const types = alike.map(row => givenType(document, graph, rows, row));
  if (types.every(Boolean) && new Set(types).size > 1) {
    return types;
  }
  const parts = ownParts(alike.map(row => partsOf(document, graph, rows, row)));
  // One that has no part of its own is known by that.
  if (parts.filter(Boolean).length >= alike.length - 1) {
    return parts;
  }
  const counts = alike.map(row => rows.operations[row]);
  const most = Math.max(...counts);
  if (most > MANY && most > APART * Math.min(...counts)) {
    return counts.map(count => `${numberText(count)} ${count === 1 ? 'operation' : 'operations'}`);
  }
  const operations = ownParts(alike.map(row => operationsOf(document, graph, rows, row)));
  return operations.every(Boolean) ? operations : [];
}

/** The operations of a row, one after the other, but for those that only hand a value on. */
function operationsIn(graph: Graph, { outline }: Rows, row: number): string {
  const found: number[] = [];
  for (let node = outline.first[row]; node < outline.end[row]; node++) {
    if (graph.kind[node] === NodeKind.operation && outline.role[node] === NodeRole.box) {
      found.push(graph.op[node]);
    }
  }
  return found.join(' ');
}

/** Names in what each has and no other, those of the most operations first. */
function ownParts(parts: readonly ReadonlyMap<string, number>[]): readonly string[] {
  return parts.map((own, at) => {
    const alone = [...own].filter(([name]) => !parts.some((other, place) => place !== at && other.has(name)));
    const largest = alone.sort(([, a], [, b]) => b - a).slice(0, MOST_PARTS);
    return cut(largest.map(([name]) => name).join(', '));
  });
}

/** The names of the rows in a row that are no operation's, and how many operations each holds. */
function partsOf(document: Document, graph: Graph, rows: Rows, row: number): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  const own = rowLabel(document, graph, rows, row);
  for (const child of childrenOf(rows, row)) {
    const names = namesIn(rowLabel(document, graph, rows, child));
    for (const name of names.filter(one => one !== own && !hasFamily(one))) {
      parts.set(name, (parts.get(name) ?? 0) + rows.boxes[child]);
    }
  }
  return parts;
}

/** The operations in a row and how often each is there; of what has a body, such as a kernel, those that are in it. */
function operationsOf(document: Document, graph: Graph, { outline }: Rows, row: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let node = outline.first[row]; node < outline.end[row]; node++) {
    const isOperation = graph.kind[node] === NodeKind.operation && outline.role[node] === NodeRole.box;
    if (isOperation && graph.firstRegion[node] === graph.firstRegion[node + 1]) {
      const name = document.strings[graph.op[node]];
      found.set(name, (found.get(name) ?? 0) + 1);
    }
  }
  return found;
}

/** A row of several kernels has several names, `Dense_0, gelu`, or one and how many more, `logistic +3`. */
function namesIn(label: string): readonly string[] {
  const names = label.replace(/ \+\d+$/, '').split(', ');
  return names.every(name => NAME.test(name)) ? names : [label];
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.]*$/u;
