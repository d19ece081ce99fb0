/** The fate of an equation in a sentence, for the details. */
import { FateKind, type Document, type Graph } from '../document/graph.ts';
import { nodeLabel } from '../view/label.ts';
import { fatesOf } from '../view/ghosts.ts';

export interface FateText {
  /** One word for the mark: alive or gone. */
  readonly mark: 'alive' | 'gone';
  readonly text: string;
  /** The node that took its place, or -1. */
  readonly by: number;
  readonly byText: string;
}

const sentences: Readonly<Record<number, string>> = {
  [FateKind.alone]: 'an operation of its own',
  [FateKind.fused]: 'inside a fusion',
  [FateKind.both]: 'inside a fusion, and as an operation of its own',
  [FateKind.context]: 'in what it holds',
  [FateKind.dead]: 'no result needs it',
  [FateKind.unlowered]: 'there is nothing to compute: it has no operation in StableHLO',
  [FateKind.imported]: 'on the way from StableHLO to HLO: it changes nothing',
  [FateKind.simplified]: 'simplified away',
  [FateKind.folded]: 'folded to a constant',
  [FateKind.merged]: 'merged with an equal operation',
  [FateKind.consequence]: 'what needed it was simplified away',
  [FateKind.moved]: 'moved into other operations'
};

export function fateText(document: Document, graph: Graph, node: number): FateText | null {
  const fates = fatesOf(document, graph);
  const kind = fates?.kind[node] ?? FateKind.none;
  if (!fates || kind === FateKind.none) {
    return null;
  }
  const pass = document.strings[fates.where[node]];
  const by = fates.by[node];
  return {
    mark: kind <= FateKind.context ? 'alive' : 'gone',
    text: sentences[kind] + (pass ? `, by the pass ${pass}` : ''),
    by,
    byText: by >= 0 ? nodeLabel(document, graph, by) : ''
  };
}
