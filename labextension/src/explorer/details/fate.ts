/** The fate of an equation in a sentence, for the details. */
import { FateKind, type Document, type Graph } from '../../document/graph.ts';
import { nodeLabel } from '../../view/label.ts';
import { fatesOf, ghostWord } from '../../view/ghosts.ts';

export interface FateText {
  /** One word for the mark: alive or gone. */
  readonly mark: 'alive' | 'gone';
  readonly text: string;
  /** The node that took its place, or -1. */
  readonly by: number;
  /** What leads on to the name of that node. */
  readonly byLead: string;
  readonly byText: string;
}

const sentences: Readonly<Record<number, string>> = {
  [FateKind.alone]: 'an operation of its own',
  [FateKind.fused]: 'inside a fusion',
  [FateKind.both]: 'inside a fusion, and as an operation of its own',
  [FateKind.context]: 'in what it holds',
  [FateKind.dead]: 'no result needs it',
  [FateKind.unlowered]: 'there is nothing to compute: it has no operation in StableHLO',
  [FateKind.imported]: 'on the way from StableHLO to HLO: it changes nothing, or nothing needs it any more',
  [FateKind.simplified]: 'simplified away',
  [FateKind.folded]: 'folded to a constant',
  [FateKind.merged]: 'merged with an equal operation',
  [FateKind.consequence]: 'what needed it was simplified away',
  [FateKind.moved]: 'moved into other operations'
};

/** The fates of several equations in one sentence. */
export function fateOfMany(document: Document, graph: Graph, nodes: readonly number[]): FateText | null {
  const fates = fatesOf(document, graph);
  if (!fates || !nodes.length) {
    return null;
  }
  if (nodes.length === 1) {
    return fateText(document, graph, nodes[0]);
  }
  const gone = nodes.filter(node => ghostWord(fates, node));
  const words = new Map<string, number>();
  for (const node of gone) {
    words.set(ghostWord(fates, node), (words.get(ghostWord(fates, node)) ?? 0) + 1);
  }
  const parts = [...words].sort((a, b) => b[1] - a[1]).map(([word, count]) => `${count} ${word}`);
  if (gone.length === nodes.length) {
    return { mark: 'gone', text: parts.join(', '), by: -1, byLead: '', byText: '' };
  }
  return { mark: 'alive', text: parts.length ? `but for ${parts.join(', ')}` : '', by: -1, byLead: '', byText: '' };
}

export function fateText(document: Document, graph: Graph, node: number): FateText | null {
  const fates = fatesOf(document, graph);
  const kind = fates?.kind[node] ?? FateKind.none;
  if (!fates || kind === FateKind.none) {
    return null;
  }
  const pass = document.strings[fates.where[node]];
  const by = fates.by[node];
  // What is merged is merged with the node that is named after that, or with a part of what that does.
  const isPart = by >= 0 && graph.op[by] !== graph.op[node];
  const mergedLead = isPart ? ', which is in: ' : ': ';
  return {
    mark: kind <= FateKind.context ? 'alive' : 'gone',
    text: sentences[kind] + (pass ? `, by the pass ${pass}` : ''),
    by,
    byLead: kind === FateKind.merged ? mergedLead : '; in its place: ',
    byText: by >= 0 ? nodeLabel(document, graph, by) : ''
  };
}
