/** From a node of one stage to the nodes of another, along the links. */
import { successorOf } from './changes.ts';
import { LinkKind, type Document, type Links } from './graph.ts';
import { placeOf, sameInstruction } from './states.ts';

/** Where a link leads, and how it was found: one of `LinkKind`. */
export interface Followed {
  readonly node: number;
  readonly kind: number;
}

/**
 * The nodes of graph `to` that `node` of graph `from` is linked to, each once. An instruction of a state of the compiler
 * is followed to itself where it is there, else to what took its place. Two stages that have no links with each
 * other meet in the stage that both were made from; what is found that way is no surer than its weakest link.
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
  const direct = step(document, from, node, to);
  if (direct) {
    return direct;
  }
  for (const { from: origin, to: made } of document.links) {
    if (made === from && hasLinks(document, origin, to)) {
      const found = new Map<number, number>();
      for (const back of step(document, from, node, origin) ?? []) {
        for (const on of step(document, origin, back.node, to) ?? []) {
          found.set(on.node, Math.min(found.get(on.node) ?? Infinity, Math.max(back.kind, on.kind)));
        }
      }
      return [...found].map(([target, kind]) => ({ node: target, kind })).sort((a, b) => a.node - b.node);
    }
  }
  return [];
}

function hasLinks(document: Document, from: number, to: number): boolean {
  return document.links.some(links => links.from === from && links.to === to);
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
  let found = indices.get(links);
  if (!found) {
    found = { bySource: grouped(links.source), byTarget: grouped(links.target) };
    indices.set(links, found);
  }
  return found;
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
