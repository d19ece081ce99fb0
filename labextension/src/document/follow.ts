/** From a node of one stage to the nodes of another, along the links. */
import { successorOf } from './changes.ts';
import { LinkKind, type Document, type Links } from './graph.ts';
import { placeOf, sameInstruction } from './states.ts';
import { getOrMake } from '../maps';

/** Where a link leads, and how it was found: one of `LinkKind`. */
export interface Followed {
  readonly node: number;
  readonly kind: number;
}

/**
 * The nodes of graph `to` that `node` of graph `from` is linked to, each once. An instruction of a state of the compiler
 * is followed to itself where it is there, else to what took its place. Two stages that have no links with each
 * other are joined by those between them, as by the stage that both were made from; what is found that way is no surer
 * than its weakest link.
 */
export function follow(document: Document, from: number, node: number, to: number): readonly Followed[] {
  if (from === to) {
    return [{ node, kind: 0 }];
  }
  const same = sameInstruction(document, from, node, to);
  if (same !== undefined) {
    return [{ node: same, kind: LinkKind.exact }];
  }
  const [here, there] = [placeOf(document, from), placeOf(document, to)];
  const next =
    here && there && here.number < there.number ? successorOf(there.passes, here.number, node, there.number) : -1;
  if (next >= 0) {
    return [{ node: next, kind: LinkKind.merged }];
  }
  let found = new Map([[node, 0]]);
  const chain = chainTo(document, from, to);
  chain.forEach((graph, i) => {
    const next = new Map<number, number>();
    for (const [at, kind] of found) {
      for (const on of step(document, i ? chain[i - 1] : from, at, graph) ?? []) {
        next.set(on.node, Math.min(next.get(on.node) ?? Infinity, Math.max(kind, on.kind)));
      }
    }
    found = next;
  });
  return chain.length
    ? [...found].map(([target, kind]) => ({ node: target, kind })).sort((a, b) => a.node - b.node)
    : [];
}

interface Chains {
  /** How many links there were when they were found: the states of the compiler bring their own. */
  readonly links: number;
  readonly of: Map<string, readonly number[]>;
}

const chains = new WeakMap<Document, Chains>();

/** The graphs after `from` on the shortest way along links to the graph `to`; none where there is no way. */
function chainTo(document: Document, from: number, to: number): readonly number[] {
  const { length } = document.links;
  let known = chains.get(document);
  if (known?.links !== length) {
    known = { links: length, of: new Map() };
    chains.set(document, known);
  }
  const key = `${from} ${to}`;
  const chain = known.of.get(key) ?? shortest(document, from, to);
  known.of.set(key, chain);
  return chain;
}

function shortest(document: Document, from: number, to: number): readonly number[] {
  const before = new Map([[from, -1]]);
  const todo = [from];
  for (const at of todo) {
    for (const { from: one, to: other } of document.links) {
      const next = one === at ? other : other === at ? one : -1;
      if (next >= 0 && !before.has(next)) {
        before.set(next, at);
        todo.push(next);
      }
    }
  }
  const chain: number[] = [];
  for (let at = to; before.has(at) && at !== from; at = before.get(at) as number) {
    chain.unshift(at);
  }
  return chain;
}

/** Along links between the two graphs themselves; undefined where there are none. */
function step(document: Document, from: number, node: number, to: number): Followed[] | undefined {
  for (const links of document.links) {
    if (links.from === from && links.to === to) {
      return rows(links, index(links).bySource, node, links.target);
    }
    if (links.from === to && links.to === from) {
      return rows(links, index(links).byTarget, node, links.source);
    }
  }
  return undefined;
}

function rows(links: Links, by: Grouped, node: number, ends: Int32Array): Followed[] {
  const found: Followed[] = [];
  for (let i = by.first[node] ?? 0; i < (by.first[node + 1] ?? 0); i++) {
    const row = by.row[i];
    found.push({ node: ends[row], kind: links.kind[row] });
  }
  return found;
}

/** Rows by the node at one of their ends: those of node n are `row[first[n]]` to `row[first[n + 1]]`. */
interface Grouped {
  readonly first: Int32Array;
  readonly row: Int32Array;
}

interface Index {
  readonly bySource: Grouped;
  readonly byTarget: Grouped;
}

const indices = new WeakMap<Links, Index>();

function index(links: Links): Index {
  return getOrMake(indices, links, () => ({ bySource: grouped(links.source), byTarget: grouped(links.target) }));
}

function grouped(ends: Int32Array): Grouped {
  let most = -1;
  for (const node of ends) {
    most = Math.max(most, node);
  }
  const first = new Int32Array(most + 2);
  for (const node of ends) {
    first[node + 1]++;
  }
  for (let node = 0; node <= most; node++) {
    first[node + 1] += first[node];
  }
  const next = first.slice();
  const row = new Int32Array(ends.length);
  ends.forEach((node, i) => (row[next[node]++] = i));
  return { first, row };
}
