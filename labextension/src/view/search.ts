/**
 * The places of a graph that a query asks for. Fast enough for every keystroke on 100,000 nodes: what repeats from node
 * to node (names, types, call stacks) is compared once for each different one.
 */
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import { firstCopies } from './copies.ts';
import { itemOfNode } from './folds.ts';
import { fatesOf } from './ghosts.ts';
import { VARIABLE } from './label.ts';
import { figuredOf, measuredOf, withBodies } from './measures.ts';
import { rowsOf, type Rows } from './outline.ts';
import type { Query, Term } from './query.ts';
import { ownSpot } from './spots.ts';
import { ownStacks } from './stacks.ts';
import { getOrMake } from '../maps';

export interface Matches {
  /** Items in the order of the graph: rows that are called so, and nodes. */
  readonly items: readonly number[];
  /** How many there are with all the copies of folded stacks, which are one place each. */
  readonly total: number;
  /** 1 for each node that matches or stands in a row that does, in any copy; empty where nothing is asked for. */
  readonly nodes: Uint8Array;
  /** Why nothing can be found, in words; empty where all is well. */
  readonly fault: string;
}

export const NONE: Matches = { items: [], total: 0, nodes: new Uint8Array(0), fault: '' };

export function findMatches(document: Document, graph: Graph, query: Query): Matches {
  if ('fault' in query) {
    return { ...NONE, fault: query.fault };
  }
  const { terms } = query;
  if (!terms.length) {
    return NONE;
  }
  const fault = missing(document, graph, terms);
  if (fault) {
    return { ...NONE, fault };
  }
  const rows = rowsOf(document, graph);
  const places = placesOf(document, graph, rows);
  const words = terms.filter(term => term.kind === 'text' || term.kind === 'pattern');
  const facts = terms.filter(term => term.kind !== 'text' && term.kind !== 'pattern').map(tester(document, graph));
  const isFact = all(facts);
  const isCalled = all(words.map(term => callTester(document, places, term)));
  const named = words.length ? rowsCalled(rows, places, words, isFact) : null;
  const found = new Uint8Array(graph.nodeCount);
  const nodes = named ? nodesIn(rows, named, graph.nodeCount, isFact) : new Uint8Array(graph.nodeCount);
  let total = named ? named.reduce((sum, called) => sum + called, 0) : 0;
  for (let node = 0; node < graph.nodeCount; node++) {
    if (isCalled(node) && isFact(node) && graph.kind[node] !== NodeKind.constant) {
      nodes[node] = 1;
      if (!named || !saidByRow(rows, named, node)) {
        found[places.node[node]] = 1;
        total++;
      }
    }
  }
  return { items: inOrder(rows, places, named, found), total, nodes, fault: '' };
}

/** Marks the nodes in the rows that are called so, and that are as else is asked for. */
function nodesIn({ outline }: Rows, named: Uint8Array, count: number, isFact: Test): Uint8Array {
  const nodes = new Uint8Array(count);
  named.forEach((called, row) => {
    for (let node = outline.first[row]; called && node < outline.end[row]; node++) {
      nodes[node] = isFact(node) ? 1 : 0;
    }
  });
  return nodes;
}

/** Works out what every query needs, so that the first letter does not wait for it. */
export function prepareSearch(document: Document, graph: Graph): void {
  placesOf(document, graph, rowsOf(document, graph));
}

/** What a query asks for that the document does not know. */
function missing(document: Document, graph: Graph, terms: readonly Term[]): string {
  for (const { kind } of terms) {
    if (kind === 'time' && !measuredOf(document, graph)) {
      return 'no times were measured here: run it with ex.run() or %jaxviz --run';
    }
    if (kind === 'fate' && !fatesOf(document, graph)) {
      return 'fates are known of the jaxpr only, and where the program was compiled';
    }
    if (kind === 'line' && !graph.stack.some(stack => stack >= 0)) {
      return 'nothing here says from which line it comes';
    }
  }
  return '';
}

type Test = (node: number) => boolean;

/** Usually there is one. */
function all(tests: readonly Test[]): Test {
  return tests.length === 1 ? tests[0] : node => tests.every(holds => holds(node));
}

/** Whether a text is asked for, worked out once for each of the document's strings. */
function textTest(document: Document, holds: (text: string) => boolean): (index: number) => boolean {
  const known = new Uint8Array(document.strings.length);
  return index => {
    if (known[index] === 0) {
      known[index] = holds(document.strings[index]) ? 2 : 1;
    }
    return known[index] === 2;
  };
}

function wordTest(term: Term): (text: string) => boolean {
  if (term.kind === 'pattern') {
    return text => text !== '' && term.pattern.test(text);
  }
  const asked = term.kind === 'text' ? term.text : '';
  return text => text.toLowerCase().includes(asked);
}

/** Whether a node goes by a word: by its operation, its own name, or the type of what it makes. */
function callTester({ strings }: Document, { call, calls }: Places, term: Term): Test {
  const isCalled = wordTest(term);
  const known = Uint8Array.from(calls, names => (names.some(name => isCalled(strings[name])) ? 1 : 0));
  return node => known[call[node]] === 1;
}

const tester =
  (document: Document, graph: Graph) =>
  (term: Term): Test => {
    switch (term.kind) {
      case 'op':
        return opTest(document, graph, term.text);
      case 'type':
        return typeTest(document, graph, term.text);
      case 'line':
        return lineTest(document, graph, term.first, term.last);
      case 'fate': {
        const fates = fatesOf(document, graph);
        return node => fates !== undefined && term.fates.includes(fates.kind[node]);
      }
      case 'bytes':
        return node => {
          const made = madeBytes(document, graph, node);
          return graph.kind[node] === NodeKind.operation && made >= term.least && made <= term.most;
        };
      case 'time':
      case 'flops': {
        const figure = term.kind === 'time' ? 'seconds' : 'flops';
        const figured = figuredOf(document, graph, figure);
        return node => {
          const amount = figured ? withBodies(figured, graph, figure, node) : 0;
          return amount > 0 && amount >= term.least && amount <= term.most;
        };
      }
      default:
        return () => false;
    }
  };

/** Operations of exactly that name; where there is none, of which it is a part, as while it is being typed. */
function opTest({ strings }: Document, graph: Graph, asked: string): Test {
  const isOp = (node: number): boolean => graph.kind[node] === NodeKind.operation;
  const named = new Set<number>();
  graph.op.forEach(op => named.add(op));
  const exact = [...named].filter(op => strings[op].toLowerCase() === asked);
  const meant = new Set(exact.length ? exact : [...named].filter(op => strings[op].toLowerCase().includes(asked)));
  return node => isOp(node) && meant.has(graph.op[node]);
}

function typeTest(document: Document, graph: Graph, asked: string): Test {
  const isText = textTest(document, text => text.toLowerCase().includes(asked));
  return node => {
    for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
      if (isText(document.types.text[graph.valueType[value]])) {
        return true;
      }
    }
    return false;
  };
}

function lineTest(document: Document, graph: Graph, first: number, last: number): Test {
  const known = new Map<number, boolean>();
  const isOf = (stack: number): boolean => {
    return getOrMake(known, stack, () => {
      const line = ownSpot(document, stack)?.line ?? -1;
      return line >= first && line <= last;
    });
  };
  return node => graph.kind[node] === NodeKind.operation && ownStacks(document, graph, node).some(isOf);
}

/** Bytes of all that a node makes. */
export function madeBytes({ types }: Document, graph: Graph, node: number): number {
  let bytes = 0;
  for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
    bytes += Math.max(0, types.bytes[graph.valueType[value]]);
  }
  return bytes;
}

/** Marks the rows whose name or source has all words and that hold what else is asked for, the outermost where names repeat. */
function rowsCalled(rows: Rows, places: Places, words: readonly Term[], isFact: Test): Uint8Array | null {
  const { outline, operations } = rows;
  const tests = words.map(wordTest);
  const isCalled = places.texts.map(text => text !== '' && tests.every(test => test(text)));
  const found = new Uint8Array(rows.count);
  let any = false;
  for (let row = 1; row < rows.count; row++) {
    if (!isCalled[places.name[row]] && !isCalled[places.detail[row]]) {
      continue;
    }
    const around = outline.parent[row];
    const same = found[around] && operations[around] === operations[row];
    const drawn = outline.kind[row] !== RowKind.copy && operations[row] > 0;
    if (drawn && !same && holdsAny(rows, row, isFact)) {
      found[row] = 1;
      any = true;
    }
  }
  return any ? found : null;
}

function holdsAny({ outline }: Rows, row: number, isFact: Test): boolean {
  for (let node = outline.first[row]; node < outline.end[row]; node++) {
    if (isFact(node)) {
      return true;
    }
  }
  return false;
}

/** True where the row that a node is one box with is found already. */
function saidByRow({ outline, leaf }: Rows, named: Uint8Array, node: number): boolean {
  let row = leaf[node];
  let inside = true;
  while (row > 0 && inside) {
    if (named[row]) {
      return true;
    }
    inside = outline.closed[row] === 1 || outline.kind[row] === RowKind.expression;
    row = outline.parent[row];
  }
  return false;
}

/** Items in the order of the graph, those of later copies of a stack as what they are in the first, each once. */
function inOrder({ outline, count }: Rows, places: Places, named: Uint8Array | null, found: Uint8Array): number[] {
  const rows = new Uint8Array(named ? count : 0);
  named?.forEach((called, row) => called && (rows[places.row[row]] = 1));
  const items: number[] = [];
  let row = 0;
  for (let node = 0; node < found.length; node++) {
    for (; row < rows.length && outline.first[row] <= node; row++) {
      if (rows[row]) {
        items.push(row);
      }
    }
    if (found[node]) {
      items.push(itemOfNode(node));
    }
  }
  return items;
}

/** What a search asks again and again, worked out once for a graph. */
interface Places {
  /** Nodes and rows as what they correspond to in the first copy of the stacks that they stand in. */
  readonly node: Int32Array;
  readonly row: Int32Array;
  /** What each node goes by, as an index into `calls`: strings of its operation, its name, its type and its variable. */
  readonly call: Int32Array;
  readonly calls: readonly (readonly number[])[];
  /** Names and sources of rows as indices into `texts`. */
  readonly name: Int32Array;
  readonly detail: Int32Array;
  readonly texts: readonly string[];
}

const known = new WeakMap<Graph, Places>();

function placesOf(document: Document, graph: Graph, rows: Rows): Places {
  return getOrMake(known, graph, () => {
    const texts = new Map<string, number>();
    const intern = (text: string): number => texts.get(text) ?? texts.set(text, texts.size).size - 1;
    const name = Int32Array.from(rows.name, intern);
    const detail = Int32Array.from(rows.detail, intern);
    return { ...firstCopies(graph, rows), ...callsOf(document, graph), name, detail, texts: [...texts.keys()] };
  });
}

/** Most nodes share their operation, name and type with others. */
function callsOf({ types, strings }: Document, graph: Graph): Pick<Places, 'call' | 'calls'> {
  const variables = new Map<number, number>();
  graph.attributeKey.forEach((key, i) => {
    if (strings[key] === VARIABLE) {
      variables.set(graph.attributeNode[i], graph.attributeValue[i]);
    }
  });
  const calls: number[][] = [];
  const indices = new Map<string, number>();
  const call = new Int32Array(graph.nodeCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    const value = graph.firstValue[node];
    const type = value < graph.firstValue[node + 1] ? types.text[graph.valueType[value]] : 0;
    const key = `${graph.op[node]} ${graph.name[node]} ${type} ${variables.get(node) ?? ''}`;
    let index = indices.get(key);
    if (index === undefined) {
      index = calls.push([graph.op[node], graph.name[node], type, variables.get(node) ?? 0].filter(Boolean)) - 1;
      indices.set(key, index);
    }
    call[node] = index;
  }
  return { call, calls };
}
