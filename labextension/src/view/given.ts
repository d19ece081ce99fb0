/** The type of what a closed row gives, where that says something new: what goes on from it, not what a way back keeps. */
import type { Document, Graph } from '../document/graph.ts';
import { typeText } from './label.ts';
import type { Rows } from './outline.ts';
import { getOrMake } from '../maps';

/** The types of more values than this are no words for a box, nor are more letters. */
const MOST_VALUES = 2;
const MOST_LETTERS = 18;

const known = new WeakMap<Graph, Map<number, string>>();
const readers = new WeakMap<Graph, Readers>();

/** The type of the one value, or the types of the two, that a row gives; empty where one of those that it reads is so. */
export function givenType(document: Document, graph: Graph, rows: Rows, row: number): string {
  const types = getOrMake(known, graph, () => new Map<number, string>());
  return getOrMake(types, row, () => findType(document, graph, rows, row));
}

function findType(document: Document, graph: Graph, rows: Rows, row: number): string {
  const { first, end } = rows.outline;
  const [from, to] = [graph.firstValue[first[row]], graph.firstValue[end[row]]];
  const given = new Set<number>();
  const read = new Set<number>();
  const { of, start } = readersOf(graph);
  for (let value = from; value < to; value++) {
    for (let i = start[value]; i < start[value + 1]; i++) {
      const goesOn = (of[i] < first[row] || of[i] >= end[row]) && !isWayBack(rows, row, of[i]);
      if (goesOn && given.add(value).size > MOST_VALUES) {
        return '';
      }
    }
  }
  for (let i = graph.firstOperand[first[row]]; i < graph.firstOperand[end[row]]; i++) {
    const source = graph.operandSource[i];
    if (source >= 0 && (source < from || source >= to)) {
      read.add(graph.valueType[source]);
    }
  }
  const values = [...given];
  const text = values.map(value => typeText(document, graph, value)).join(', ');
  const isNew = values.some(value => !read.has(graph.valueType[value]));
  return isNew && (values.length === 1 || text.length <= MOST_LETTERS) ? text : '';
}

/** True for a node of the phase that mirrors the one that a row stands in. */
function isWayBack({ outline: { twin }, phase, leaf }: Rows, row: number, node: number): boolean {
  return phase[row] >= 0 && twin[phase[row]] > phase[row] && twin[phase[row]] === phase[leaf[node]];
}

/** The nodes that read value v: `of[start[v]]` to `of[start[v + 1]]`. */
interface Readers {
  readonly start: Int32Array;
  readonly of: Int32Array;
}

function readersOf(graph: Graph): Readers {
  return getOrMake(readers, graph, () => {
    const { firstOperand, operandSource, valueNode, nodeCount } = graph;
    const start = new Int32Array(valueNode.length + 1);
    operandSource.forEach(source => source >= 0 && start[source + 1]++);
    start.forEach((count, value) => (start[value] = count + (value ? start[value - 1] : 0)));
    const next = start.slice();
    const of = new Int32Array(start[valueNode.length]);
    for (let node = 0; node < nodeCount; node++) {
      for (let i = firstOperand[node]; i < firstOperand[node + 1]; i++) {
        if (operandSource[i] >= 0) {
          of[next[operandSource[i]]++] = node;
        }
      }
    }
    return { start, of };
  });
}
