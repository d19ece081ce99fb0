/** What is lit around the selection, for the picture, and what that is in words. */
import { NodeKind, type Graph } from '../../document/graph.ts';
import { Fade } from '../../draw/canvas.ts';
import { fadedBoxes } from '../../view/faded.ts';
import { itemOfNode } from '../../view/folds.ts';
import { rowsOf } from '../../view/outline.ts';
import { around, between, type Seen } from '../../view/relations.ts';

export interface Related {
  /** One of `Fade` for each box, one of `Way` for each edge. */
  readonly faded: Uint8Array | null;
  readonly ways: Uint8Array | null;
  readonly words: string;
}

const NOTHING: Related = { faded: null, ways: null, words: '' };

/**
 * What belongs with the item `selected`, or the ways to it from the item `origin` where that is given; without a
 * selection, the nodes `linked`, as those of a line of the source.
 */
export function relate(seen: Seen, selected: number | null, origin: number | null, linked: readonly number[]): Related {
  if (selected === null) {
    return linked.length ? lit(seen, linked) : NOTHING;
  }
  if (origin === selected) {
    return { ...NOTHING, words: 'ways from here to what is selected next' };
  }
  const path = origin !== null;
  const { apart, ways, words } = path ? between(seen, origin, selected) : around(seen, selected);
  return { faded: apart.map(one => (one ? (path ? Fade.far : Fade.near) : Fade.none)), ways, words };
}

function lit({ document, visible }: Seen, nodes: readonly number[]): Related {
  const faded = fadedBoxes(rowsOf(document, visible.graph), visible, nodes.map(itemOfNode));
  return {
    faded: faded && faded.map(one => (one ? Fade.near : Fade.none)),
    ways: null,
    words: `${litText(visible.graph, nodes)} lit`
  };
}

/** What is lit, in words: arguments and results are no operations. */
function litText({ kind }: Graph, nodes: readonly number[]): string {
  const told = (count: number, what: string): string[] => (count ? [`${count} ${what}${count === 1 ? '' : 's'}`] : []);
  const operations = nodes.filter(node => kind[node] === NodeKind.operation).length;
  return [...told(operations, 'operation'), ...told(nodes.length - operations, 'value')].join(' and ');
}
