/** Ghosts: boxes of what the compiler did not keep, with a word for why. */
import { FateKind, NodeKind, NodeRole, type Document, type Fates, type Graph } from '../document/graph.ts';
import type { Folds } from './folds.ts';

const NOT_KEPT = 'not kept';
/** What a ghost says beside its name. Equations whose work goes on in others by another name are no ghosts. */
const words: Readonly<Record<number, string>> = {
  [FateKind.dead]: 'dead',
  [FateKind.simplified]: 'simplified away',
  [FateKind.folded]: 'folded',
  [FateKind.merged]: 'merged',
  [FateKind.consequence]: 'not needed any more'
};

/** The fates of the equations of a graph, where the document has them. */
export function fatesOf(document: Document, graph: Graph): Fates | undefined {
  return document.fates.find(fates => document.graphs[fates.graph] === graph);
}

/** Why a node is a ghost, in a word or two; empty for one that is none. */
export function ghostWord(fates: Fates | undefined, node: number): string {
  if (!fates) {
    return '';
  }
  const kind = fates.kind[node];
  if (kind === FateKind.imported || kind === FateKind.unlowered) {
    // What it is given stands for it: `x * 1`. Where nothing does, it may be a step of what a library does as a whole.
    return fates.by[node] >= 0 ? 'nothing to compute' : kind === FateKind.imported ? NOT_KEPT : '';
  }
  return words[kind] ?? '';
}

/** What became of all that a box stands for, the copies of a folded stack among it. */
export interface Ghost {
  /** Whether nothing of it is left. */
  readonly gone: boolean;
  /** Why, in a word or two; of copies that fared differently, in how many. Empty where all is kept. */
  readonly word: string;
}

const KEPT: Ghost = { gone: false, word: '' };

/** For each item on the screen what became of the equations that are seen as it. */
export function ghostsOf(graph: Graph, folds: Folds, fates: Fates | undefined): (item: number) => Ghost {
  if (!fates) {
    return () => KEPT;
  }
  const { role } = folds.rows.outline;
  const all = new Map<number, number>();
  const gone = new Map<number, Map<string, number>>();
  for (let node = 0; node < graph.nodeCount; node++) {
    const item = folds.item[node];
    // A copy of another length has operations that the first has not.
    const counts = item < 0 ? graph.op[node] === graph.op[-1 - item] : role[node] === NodeRole.box;
    if (graph.kind[node] !== NodeKind.operation || !counts) {
      continue;
    }
    all.set(item, (all.get(item) ?? 0) + 1);
    const word = ghostWord(fates, node);
    if (word) {
      const words = gone.get(item) ?? new Map<string, number>();
      gone.set(item, words.set(word, (words.get(word) ?? 0) + 1));
    }
  }
  return item => {
    const words = gone.get(item);
    if (!words) {
      return KEPT;
    }
    const total = all.get(item) ?? 0;
    const lost = [...words.values()].reduce((sum, count) => sum + count, 0);
    const [most, times] = [...words].sort((a, b) => b[1] - a[1])[0];
    if (lost === total) {
      const mixed = item < 0 ? `${most} in ${times} of ${total}` : NOT_KEPT;
      return { gone: true, word: times < total ? mixed : most };
    }
    // Of a row that is partly kept, the rest is to be seen inside it.
    return item < 0 ? { gone: false, word: `${most} in ${lost} of ${total}` } : KEPT;
  };
}
