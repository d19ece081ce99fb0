/** What tells boxes apart that stand in one place and have one name. */
import { NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import { givenType } from './given.ts';
import { cut } from './label.ts';
import type { Rows } from './outline.ts';
import { numberText } from './words.ts';

/** A box of more operations than this is large: how many it has says something then. */
const MANY = 12;
/** Numbers are told where the largest is so many times the smallest. */
const APART = 1.5;

/** Of rows that look alike, what each is assigned to in the source; none where that does not tell all of them apart. */
export function assignedTo(document: Document, { outline }: Rows, alike: readonly number[]): readonly string[] {
  const variables = alike.map(row => document.strings[outline.variable[row]]);
  const tells = alike.length > 1 && variables.every(Boolean) && new Set(variables).size === alike.length;
  return tells ? variables.map(variable => cut(variable)) : [];
}

/**
 * Of closed rows that look alike, the words that tell each from the others: the types of what they give, or else how
 * many operations they hold. None where all hold the same, or nearly so.
 */
export function toldApart(document: Document, graph: Graph, rows: Rows, alike: readonly number[]): readonly string[] {
  if (alike.length < 2 || new Set(alike.map(row => operationsIn(graph, rows, row))).size === 1) {
    return [];
  }
  const types = alike.map(row => givenType(document, graph, rows, row));
  if (types.every(Boolean) && new Set(types).size > 1) {
    return types;
  }
  const counts = alike.map(row => rows.operations[row]);
  const most = Math.max(...counts);
  return most > MANY && most > APART * Math.min(...counts)
    ? counts.map(count => `${numberText(count)} ${count === 1 ? 'operation' : 'operations'}`)
    : [];
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
