/**
 * The first view: which regions are open before the person does anything. As many as fit into the space at a readable
 * size, loops and branches before plain calls, large ones before small ones; found by really laying out.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { canOpen, operationsInside } from './inside.ts';
import { toLayout } from './place.ts';
import type { Measure } from './sizes.ts';
import { show, type ViewState } from './view.ts';
import type { VisibleGraph } from './visible.ts';

export interface Space {
  readonly width: number;
  readonly height: number;
}

/** Text is read easily down to this zoom. */
const LEAST_ZOOM = 0.75;
/** A stranger takes in no more boxes than this at once. */
const MOST_BOXES = 40;
/** Calls of fewer operations than this say more closed, by their name. */
const LEAST_OPERATIONS = 4;
/** Regions that are tried; each try lays out once. */
const MOST_TRIES = 16;

const loops = new Set(['scan', 'while', 'cond', 'shard_map', 'pallas_call']);

/** Zoom at which a layout fits into the space, at most 1. */
export function fitZoom(layout: Layout, space: Space): number {
  return Math.min(1, space.width / Math.max(1, layout.totalWidth), space.height / Math.max(1, layout.totalHeight));
}

export function firstView(
  document: Document,
  graph: Graph,
  space: Space,
  measure: Measure,
  layout: (input: LayoutInput) => Layout
): ViewState {
  let open = lonely(graph);
  let visible = show(document, graph, { open });
  const refused = new Set<number>();
  let smallestRefused = Infinity;
  for (let tries = 0; tries < MOST_TRIES && visible.count <= MOST_BOXES; tries++) {
    const next = candidates(document, visible).find(({ node, size }) => !refused.has(node) && size < smallestRefused);
    if (!next) {
      break;
    }
    const tried = new Set(open).add(next.node);
    const shown = show(document, graph, { open: tried });
    if (shown.count <= MOST_BOXES && fitZoom(layout(toLayout(shown, measure)), space) >= LEAST_ZOOM) {
      open = tried;
      visible = shown;
    } else {
      refused.add(next.node);
      if (!next.loop) {
        // A small region opened beside a large one that stays closed draws the eye to the wrong place.
        smallestRefused = Math.min(smallestRefused, next.size / 2);
      }
    }
  }
  return { open };
}

/** A program that is one call of another shows that one; to be opened in any case. */
function lonely(graph: Graph): Set<number> {
  const open = new Set<number>();
  for (let region = 0, found = true; found;) {
    found = false;
    let only = -1;
    let operations = 0;
    for (let node = graph.regionStart[region]; node < graph.regionEnd[region] && operations < 2; node++) {
      if (graph.region[node] === region && graph.kind[node] === NodeKind.operation) {
        only = node;
        operations++;
      }
    }
    if (operations === 1 && canOpen(graph, only)) {
      open.add(only);
      found = graph.firstRegion[only + 1] === graph.firstRegion[only] + 1;
      region = graph.ownedRegions[graph.firstRegion[only]];
    }
  }
  return open;
}

interface Candidate {
  readonly node: number;
  readonly size: number;
  readonly loop: boolean;
}

/** Closed boxes worth opening, the most telling first. */
function candidates(document: Document, visible: VisibleGraph): Candidate[] {
  const { graph } = visible;
  const found: Candidate[] = [];
  for (let box = 0; box < visible.count; box++) {
    if (visible.closed[box]) {
      const node = visible.node[box];
      const loop = loops.has(document.strings[graph.op[node]]);
      const size = operationsInside(graph, node);
      if (loop || size >= LEAST_OPERATIONS) {
        found.push({ node, size, loop });
      }
    }
  }
  return found.sort((a, b) => Number(b.loop) - Number(a.loop) || b.size - a.size || a.node - b.node);
}
