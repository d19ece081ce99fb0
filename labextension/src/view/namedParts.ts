/** The parts of long lists of kernels, with names that say what of the program they are. */
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import { kernelsOf } from './kernels.ts';
import { nodeLabel } from './label.ts';
import type { Rows } from './outline.ts';
import { partsOf, type Part } from './parts.ts';

export interface NamedPart {
  readonly name: string;
  /** The node after its last one. */
  readonly end: number;
  /** The part that it is a part of. */
  readonly within?: NamedPart;
}

/** A part has the name of what so many of its kernels are of, at least. */
const MOST_OF_IT = 0.75;
/** What so many of its kernels are of, at least, counts for a range. */
const WORTH_NAMING = 0.1;
/** Rows of the program that name something a person knows. */
const NAMING: ReadonlySet<number> = new Set([
  RowKind.phase,
  RowKind.module,
  RowKind.call,
  RowKind.function,
  RowKind.loop,
  RowKind.stack,
  RowKind.recomputed
]);

/** For each node that parts begin with, these, from the outermost in. */
export function partStarts(document: Document, graph: Graph, program: Rows): Map<number, NamedPart[]> {
  const starts = new Map<number, NamedPart[]>();
  const items: number[][] = Array.from({ length: graph.regionCount }, () => []);
  const kernels = kernelsOf(document, graph);
  for (let node = 0; node < graph.nodeCount; node++) {
    // What is inside of a kernel is one piece.
    const runs = kernels[node] < 0 || kernels[node] === node;
    if (graph.kind[node] === NodeKind.operation && runs) {
      items[graph.region[node]].push(node);
    }
  }
  const paths = new Map<number, readonly string[]>();
  const pathOf = (node: number): readonly string[] => {
    const leaf = program.leaf[node];
    const path = paths.get(leaf) ?? pathTo(program, leaf);
    paths.set(leaf, path);
    return path;
  };
  for (const nodes of items) {
    const add = (parts: readonly Part[], within?: NamedPart): void => {
      // What they are all of is what a part around them is called.
      const choices = parts.map(({ from, to, level }) =>
        namesOf(document, graph, nodes.slice(from, to), node => pathOf(node).slice(within ? level : 0))
      );
      const names = apart(choices);
      parts.forEach(({ from, to, parts: inner }, i) => {
        const part = { name: names[i], end: endOf(graph, nodes[to - 1]), ...(within ? { within } : {}) };
        // One kernel beside parts needs no frame.
        if (to - from > 1) {
          starts.set(nodes[from], [...(starts.get(nodes[from]) ?? []), part]);
        }
        add(inner, part);
      });
    };
    add(partsOf(crossings(graph, nodes), nodes.map(pathOf)));
  }
  return starts;
}

/** The node after a node and all that is in its regions. */
function endOf(graph: Graph, node: number): number {
  const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
  return first < end ? graph.regionEnd[graph.ownedRegions[end - 1]] : node + 1;
}

/** For each border before one of the nodes, how many values are made before it and read after it. */
function crossings(graph: Graph, nodes: readonly number[]): Float64Array {
  const at = new Map(nodes.map((node, i) => [node, i]));
  const last = new Map<number, number>();
  nodes.forEach((node, i) => {
    for (let operand = graph.firstOperand[node]; operand < graph.firstOperand[node + 1]; operand++) {
      const source = graph.operandSource[operand];
      if (source >= 0 && at.has(graph.valueNode[source])) {
        last.set(source, i);
      }
    }
  });
  const change = new Float64Array(nodes.length + 2);
  for (const [value, reader] of last) {
    change[(at.get(graph.valueNode[value]) ?? 0) + 1]++;
    change[reader + 1]--;
  }
  for (let i = 1; i < change.length; i++) {
    change[i] += change[i - 1];
  }
  return change;
}

/** The names around a row of the program, outermost first. */
function pathTo(program: Rows, leaf: number): string[] {
  const path: string[] = [];
  for (let row = leaf; row > 0; row = program.outline.parent[row]) {
    const name = program.name[row];
    if (name && NAMING.has(program.outline.kind[row]) && path[0] !== name) {
      path.unshift(name);
    }
  }
  return path;
}

/** Names for where most of the kernels are, each more exact than the one before; else for what most of them do. */
function namesOf(
  document: Document,
  graph: Graph,
  nodes: readonly number[],
  pathOf: (node: number) => readonly string[]
): readonly string[] {
  const least = nodes.length * MOST_OF_IT;
  const common: string[] = [];
  let there = nodes.map(pathOf);
  let seen = counted(there.flatMap(path => path.slice(0, 1)));
  while (seen.length && seen[0][1] >= least) {
    const [[name]] = seen;
    const depth = common.push(name);
    there = there.filter(path => path[depth - 1] === name);
    seen = counted(there.flatMap(path => path.slice(depth, depth + 1)));
  }
  const range = rangeOf(seen, nodes.length);
  if (common.length) {
    const [outer, ...inner] = common;
    return [outer, ...[...inner, ...range].map(name => (name === outer ? outer : `${outer} ${name}`))];
  }
  if (range.length) {
    return range;
  }
  if (seen.length > 1) {
    const both = [seen[0][0], seen[1][0]].flatMap(name => name.split(', '));
    return [[...new Set(both)].join(', ')];
  }
  const [[what, times]] = counted(nodes.map(node => nodeLabel(document, graph, node).replace(/\.\d+$/, '')));
  return [`${what} x${times}${times < nodes.length ? ` +${nodes.length - times}` : ''}`];
}

/** `Block_2–5` for names with numbers, where most are of that kind. */
function rangeOf(seen: readonly [string, number][], count: number): string[] {
  const numbers = new Map<string, number[]>();
  for (const [name, times] of seen) {
    const [, stem, digits] = /^(.*?)(\d+)$/.exec(name) ?? [];
    if (digits && times >= count * WORTH_NAMING) {
      numbers.set(stem, [...(numbers.get(stem) ?? []), Number(digits)]);
    }
  }
  if (numbers.size !== 1) {
    return [];
  }
  const [[stem, all]] = numbers;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return [low === high ? `${stem}${low}` : `${stem}${low}–${high}`];
}

/** The shortest name of each that the others have not; those that stay alike get numbers. */
function apart(choices: readonly (readonly string[])[]): string[] {
  const level = choices.map(() => 0);
  const names = (): string[] => choices.map((names, i) => names[level[i]]);
  for (let changed = true; changed;) {
    changed = false;
    const times = new Map(counted(names()));
    choices.forEach((choice, i) => {
      if ((times.get(choice[level[i]]) ?? 0) > 1 && level[i] + 1 < choice.length) {
        level[i]++;
        changed = true;
      }
    });
  }
  return numbered(names());
}

/** What there is how often, the most frequent first. */
function counted(all: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  all.forEach(one => counts.set(one, (counts.get(one) ?? 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** Names that stand there several times get numbers. */
function numbered(names: readonly string[]): string[] {
  const all = new Map(counted(names));
  const seen = new Map<string, number>();
  return names.map(name => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const of = all.get(name) ?? 1;
    return of > 1 ? `${name} ${number}/${of}` : name;
  });
}
