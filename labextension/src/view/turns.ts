/** How often each operation runs in one run of the program, as far as the loops around it say how often they turn. */
import type { Document, Graph } from '../document/graph.ts';
import { attribute } from './label.ts';
import { getOrMake } from '../maps';
import { numbersIn, product } from './shapes.ts';

export interface Turns {
  /** Of each region, how often it is entered in one run; one turn of a loop that does not say how many it has. */
  readonly times: Float64Array;
  /** Of each region, 1 in a loop that does not say how often it turns. */
  readonly open: Uint8Array;
  /** Of each region, 1 in a branch, of which a run takes one. */
  readonly branch: Uint8Array;
}

const known = new WeakMap<Graph, Turns>();

export function turnsOf(document: Document, graph: Graph): Turns {
  return getOrMake(known, graph, () => count(document, graph));
}

function count(document: Document, graph: Graph): Turns {
  const times = new Float64Array(graph.regionCount).fill(1);
  const open = new Uint8Array(graph.regionCount);
  const branch = new Uint8Array(graph.regionCount);
  for (let region = 1; region < graph.regionCount; region++) {
    const owner = graph.regionOwner[region];
    const around = graph.region[owner];
    const own = turnsIn(document, graph, region, owner);
    times[region] = times[around] * (own ?? 1);
    branch[region] = branch[around] || document.strings[graph.regionKind[region]] === 'branch' ? 1 : 0;
    open[region] = open[around] || own === undefined ? 1 : 0;
  }
  return { times, open, branch };
}

/** How often a region is entered each time that its owner runs; undefined where that is not known. */
function turnsIn(document: Document, graph: Graph, region: number, owner: number): number | undefined {
  const kind = document.strings[graph.regionKind[region]];
  if (GRIDDED.has(kind)) {
    const [, grid] = GRID.exec(attribute(document, graph, owner, 'grid_mapping') ?? '') ?? [];
    return grid === undefined ? undefined : product(numbersIn(grid));
  }
  const key = KEYS[kind];
  if (!key) {
    return 1;
  }
  const length = attribute(document, graph, owner, key) ?? '';
  // The condition is asked once more, at the end.
  return /^\d+$/.test(length) ? Number(length) + (kind === 'while cond' ? 1 : 0) : undefined;
}

/** What a Pallas kernel does for each place of its grid. */
const GRIDDED = new Set(['pallas_call', 'index map']);
/** A grid of which not all sizes are known says nothing. */
const GRID = /^GridMapping\(grid=\(([\d, ]*)\)/;

/** The attribute that says how often a loop turns, by what its regions are. */
const KEYS: Readonly<Record<string, string>> = {
  scan: 'length',
  'while body': 'known_trip_count',
  'while cond': 'known_trip_count'
};
