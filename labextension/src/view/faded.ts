/** Which boxes step back, so that the others are seen. */
import type { Graph } from '../document/graph.ts';
import type { Rows } from './outline.ts';
import { boxOfItem, boxOfNode } from './seen.ts';
import type { VisibleGraph } from './visible.ts';

/**
 * 1 for each box that neither holds nor is one of `items`; null where there are none. What is a chip is seen at the
 * boxes that it stands at.
 */
export function fadedBoxes(rows: Rows, visible: VisibleGraph, items: Iterable<number>): Uint8Array | null {
  const faded = new Uint8Array(visible.count).fill(1);
  const light = (seen: number): void => {
    // The frames around stay with what stands in them.
    for (let box = seen; box >= 0 && faded[box]; box = visible.parent[box]) {
      faded[box] = 0;
    }
  };
  const chips = new Set<number>();
  let any = false;
  for (const item of items) {
    any = true;
    const box = boxOfItem(rows, visible, item);
    light(box);
    if (box < 0 && item < 0) {
      chips.add(-1 - item);
    }
  }
  if (chips.size) {
    boxesWithChips(rows, visible, chips).forEach(light);
  }
  return any ? faded : null;
}

/** The boxes at which nodes stand that have none themselves: where they are named, and where they are only counted. */
function boxesWithChips(rows: Rows, visible: VisibleGraph, nodes: ReadonlySet<number>): readonly number[] {
  const { graph, chips } = visible;
  const named = new Set<number>();
  const boxes: number[] = [];
  for (const [box, all] of chips) {
    for (const { value } of all) {
      const node = value < 0 ? -1 : graph.valueNode[value];
      if (nodes.has(node)) {
        named.add(node);
        boxes.push(box);
      }
    }
  }
  const counted = new Set([...nodes].filter(node => !named.has(node)));
  return counted.size ? [...boxes, ...readersOf(graph, counted).map(node => boxOfNode(rows, visible, node))] : boxes;
}

/** The nodes that read what others make. */
function readersOf(graph: Graph, makers: ReadonlySet<number>): readonly number[] {
  const readers: number[] = [];
  for (let node = 0; node < graph.nodeCount; node++) {
    for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
      const source = graph.operandSource[i];
      if (source >= 0 && makers.has(graph.valueNode[source])) {
        readers.push(node);
        break;
      }
    }
  }
  return readers;
}
