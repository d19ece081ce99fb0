/** Ghosts: boxes of what the compiler did not keep, with a word for why. */
import { FateKind, type Document, type Fates, type Graph } from '../document/graph.ts';

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
  return fates ? (words[fates.kind[node]] ?? '') : '';
}
