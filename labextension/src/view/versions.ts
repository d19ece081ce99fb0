/**
 * Two versions of a program, as before and after its lines were changed: which row and which operation of one is which of
 * the other. No links join them; they are told by their names and by what they stand in.
 */
import type { Document, Graph } from '../document/graph.ts';
import { itemOfNode } from './folds.ts';
import { boxLabel, childrenOf, rowsOf, type Rows } from './outline.ts';
import type { VisibleGraph } from './visible.ts';

/** Rows of one version by those of the other, and the other way round; -1 for what only one has. */
export interface Version {
  readonly now: Int32Array;
  readonly before: Int32Array;
}

/** A form of a version of a program. */
export interface Edition {
  readonly document: Document;
  readonly graph: Graph;
}

/**
 * Which rows are the same, from the outside in: first by name, then by a name that nothing else has for what is somewhere
 * else now, and then what is left in the same place, which was rewritten.
 */
export function sameRows(before: Edition, now: Edition): Version {
  const [one, other] = [before, now].map(({ document, graph }) => rowsOf(document, graph));
  const found = { now: new Int32Array(one.count).fill(-1), before: new Int32Array(other.count).fill(-1) };
  const pairInside = (row: number, like: number, ways: readonly Way[]): [number, number][] => {
    const single = one.outline.count[row] > 1 !== other.outline.count[like] > 1;
    const inside = insideOf(one, row, single).filter(child => found.now[child] < 0);
    const insideNow = insideOf(other, like, single).filter(child => found.before[child] < 0);
    return pairs(
      inside.map(child => nameOf(before, one, child)),
      insideNow.map(child => nameOf(now, other, child)),
      ways
    ).map(([a, b]) => [inside[a], insideNow[b]]);
  };
  const match = (row: number, like: number, ways: readonly Way[]): void => {
    const todo: [number, number][] = [[row, like]];
    for (const [from, to] of todo) {
      found.now[from] = to;
      found.before[to] = from;
      todo.push(...pairInside(from, to, ways));
    }
  };
  match(0, 0, BY_NAME);
  const lost = alone(found.now, row => nameOf(before, one, row).exact);
  const fresh = alone(found.before, row => nameOf(now, other, row).exact);
  for (const [name, row] of lost) {
    const like = fresh.get(name);
    if (like !== undefined && one.name[row] && found.now[row] < 0 && found.before[like] < 0) {
      match(row, like, BY_NAME);
    }
  }
  for (let row = 0; row < one.count; row++) {
    if (found.now[row] >= 0) {
      pairInside(row, found.now[row], IN_ANY_WAY).forEach(([from, to]) => match(from, to, IN_ANY_WAY));
    }
  }
  return found;
}

function nameOf({ document }: Edition, { outline, name, detail }: Rows, row: number): Name {
  const kind = String(outline.kind[row]);
  const makes = document.strings[outline.variable[row]];
  const named = `${kind} ${name[row]}`;
  return { kind, named, exact: `${named} ${detail[row]}`, kept: makes ? `${kind} = ${makes}` : '' };
}

/** Ways to tell a row among those beside it. */
interface Name {
  readonly kind: string;
  readonly named: string;
  readonly exact: string;
  /** By the variable that it makes, which keeps its name while the expression changes; empty for none. */
  readonly kept: string;
}

/** The rows right inside one; `single`: of a stack, those of its first copy. */
function insideOf(rows: Rows, row: number, single: boolean): number[] {
  const inner = single && rows.outline.count[row] > 1 ? childrenOf(rows, row)[0] : row;
  return [...childrenOf(rows, inner)];
}

/** One thing that rows are told by; `evenly` where that says something only if there are as many as before. */
interface Way {
  readonly key: keyof Name;
  readonly evenly: boolean;
}

const BY_NAME: readonly Way[] = [
  { key: 'exact', evenly: false },
  { key: 'named', evenly: false },
  { key: 'kept', evenly: true }
];
const IN_ANY_WAY: readonly Way[] = [...BY_NAME, { key: 'kind', evenly: true }];

/** Pairs of what stands in the same place, told by one way after the other; each once, in order. */
function pairs(some: readonly Name[], others: readonly Name[], ways: readonly Way[]): [number, number][] {
  const found = new Map<number, number>();
  const taken = new Set<number>();
  for (const { key, evenly } of ways) {
    const left = queues(some, key, index => !found.has(index));
    const right = queues(others, key, index => !taken.has(index));
    for (const [name, mine] of left) {
      const theirs = right.get(name) ?? [];
      if (!evenly || mine.length === theirs.length) {
        mine.slice(0, theirs.length).forEach((index, place) => {
          found.set(index, theirs[place]);
          taken.add(theirs[place]);
        });
      }
    }
  }
  return [...found].sort(([a], [b]) => a - b);
}

function queues(names: readonly Name[], key: keyof Name, isLeft: (index: number) => boolean): Map<string, number[]> {
  const found = new Map<string, number[]>();
  names.forEach((name, index) => {
    const text = name[key];
    if (text && isLeft(index)) {
      const queue = found.get(text);
      if (queue) {
        queue.push(index);
      } else {
        found.set(text, [index]);
      }
    }
  });
  return found;
}

/** The rows without a counterpart, by names that only one of them has. */
function alone(counterpart: Int32Array, nameOf: (row: number) => string): Map<string, number> {
  const found = new Map<string, number>();
  const twice = new Set<string>();
  counterpart.forEach((like, row) => {
    if (like < 0) {
      const name = nameOf(row);
      if (found.has(name)) {
        twice.add(name);
      }
      found.set(name, row);
    }
  });
  twice.forEach(name => found.delete(name));
  return found;
}

/** Finds for an item of one version that of the other; null for what is not there. */
export function itemsIn(from: Edition, to: Edition, rows: Int32Array): (item: number) => number | null {
  const [here, there] = [from, to].map(edition => ({
    names: nodeNames(edition),
    rows: rowsOf(edition.document, edition.graph)
  }));
  return item => {
    if (item >= 0) {
      return rows[item] >= 0 ? rows[item] : null;
    }
    const node = -1 - item;
    const leaf = here.rows.leaf[node];
    const like = leaf === 0 ? 0 : rows[leaf];
    const name = here.names(leaf).of.get(node);
    const found = like < 0 || name === undefined ? undefined : there.names(like).by.get(name);
    return found === undefined ? null : itemOfNode(found);
  };
}

interface NodeNames {
  readonly of: ReadonlyMap<number, string>;
  readonly by: ReadonlyMap<string, number>;
}

/** Names that tell the nodes right inside a row: what they are, and the how manieth of these. */
function nodeNames({ document, graph }: Edition): (row: number) => NodeNames {
  const rows = rowsOf(document, graph);
  const known = new Map<number, NodeNames>();
  const make = (row: number): NodeNames => {
    const counts = new Map<string, number>();
    const of = new Map<number, string>();
    for (let node = rows.outline.first[row]; node < rows.outline.end[row]; node++) {
      if (rows.leaf[node] === row) {
        const name = `${graph.kind[node]} ${boxLabel(document, graph, rows, node)}`;
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        of.set(node, `${count} ${name}`);
      }
    }
    return { of, by: new Map([...of].map(([node, name]) => [name, node])) };
  };
  return row => {
    const names = known.get(row) ?? make(row);
    known.set(row, names);
    return names;
  };
}

/** For each box of `visible` that of the picture of the version before, or -1. */
export function boxesBefore(
  before: VisibleGraph,
  itemBefore: (item: number) => number | null,
  visible: VisibleGraph
): Int32Array {
  const boxOf = new Map(Array.from(before.item, (item, box) => [item, box]));
  return visible.item.map(item => {
    const was = itemBefore(item);
    return was === null ? -1 : (boxOf.get(was) ?? -1);
  });
}
