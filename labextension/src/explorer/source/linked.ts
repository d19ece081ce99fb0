/** What is read beside a picture is linked with it: what is chosen or pointed at in the one is seen in the other. */
import type { Document } from '../../document/graph.ts';
import { itemOfNode } from '../../view/folds.ts';
import { goTo } from '../acts.ts';
import type { Search } from '../bar/search.ts';
import { itemFor, nodesOf } from '../details/row.ts';
import type { Beside } from '../compare/beside.ts';
import type { Colours } from '../picture/colours.ts';
import type { Pane } from '../picture/pane.ts';
import { Reading, type ReadingParts } from './reading.ts';

export type { Reading };

export interface LinkedParts extends Pick<ReadingParts, 'root' | 'figure' | 'told' | 'changed' | 'goToLine'> {
  /** What it is linked with, as it is then: the picture with the focus, what is beside it, what is searched for. */
  at(): { readonly pane: Pane; readonly beside: Beside; readonly search: Search; readonly colours: Colours };
}

export function linkedReading(document: Document, { at, ...parts }: LinkedParts): Reading {
  const pane = (): Pane => at().pane;
  return new Reading(document, {
    ...parts,
    seen: () => pane().viewing,
    matches: () => [...at().search.nodes].flatMap((found, node) => (found ? [node] : [])),
    pick: nodes => pane().pick(nodes),
    choose: nodes => chooseNodes(pane(), nodes),
    hint: nodes => pointAt(pane(), nodes),
    tint: (graph, node) => at().colours.roleOf(graph, node),
    differing: () => at().beside.differing(pane())
  });
}

/** The nodes that are seen in a box of a picture. */
export function nodesIn({ scene, viewing: { graph, rows } }: Pane, box: number): readonly number[] {
  const visible = scene?.visible;
  return visible && box >= 0 && visible.graph === graph
    ? [...nodesOf(graph, rows, visible.item[box]), ...(visible.others.get(box) ?? [])]
    : [];
}

/** Outlines the boxes that nodes are seen in. */
function pointAt(pane: Pane, nodes: readonly number[]): void {
  const boxes = new Set(nodes.map(node => pane.boxOfItem(itemOfNode(node))));
  pane.picture.point([...boxes].filter(box => box >= 0));
}

/**
 * Selects what a line of a text is about, and leaves open what is: where it is hidden, it is seen in what hides it. A
 * second time that is opened, or what is seen already is let go.
 */
function chooseNodes(pane: Pane, nodes: readonly number[]): void {
  const { graph, rows, selected } = pane.viewing;
  if (nodes.length !== 1) {
    pane.pick(nodes);
    return;
  }
  const item = itemFor(graph, rows, nodes[0]);
  const box = pane.boxOfItem(item);
  if (item !== selected) {
    pane.select(item);
    pane.comeToSelection();
  } else if (box >= 0 && pane.scene?.visible.item[box] !== item) {
    goTo(pane, item);
  } else {
    pane.select(null);
  }
}
