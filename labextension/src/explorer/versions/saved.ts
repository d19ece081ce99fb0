/**
 * A view as data that is saved with the notebook, and as one line of text that can be sent to a colleague and pasted
 * into the search of the same program.
 */
import type { Document } from '../../document/graph.ts';
import { stagesOf } from '../../document/programs.ts';
import type { Camera } from '../../draw/canvas.ts';
import type { Written } from '../source/source.ts';
import type { Sorting } from '../table/sorting.ts';

/** A camera; `settled` where nobody moved it, so that it may stand otherwise where the room is another. */
export interface SavedCamera extends Camera {
  readonly settled?: true;
}

/** The table of operations: what a row is, and what the person sorted by. */
export interface SavedTable {
  readonly by: string;
  readonly sorting?: Sorting;
}

export interface SavedView {
  /** Kind of the stage. */
  readonly stage: string;
  /** Rows of the outline that are open, and stacks whose copies are all shown. */
  readonly open: readonly number[];
  readonly spread: readonly number[];
  /** True where every equation is a box. */
  readonly all?: boolean;
  /** An item of the view: a row, or a node as -1 - node. */
  readonly selected: number | null;
  /** True where kernels are shown: the rows of optimized HLO are others then. */
  readonly kernels: boolean;
  readonly colour: string;
  readonly search: string;
  /** Height that the person gave the picture, in px. */
  readonly height: number | null;
  /** The stage that stands at the right, and the share of the width that the left has; none for one picture. */
  readonly beside?: { readonly stage: string; readonly place: number };
  /** Where the camera stands; none for a picture that fits. */
  readonly camera?: SavedCamera;
  /** What the person has beside the picture to read. */
  readonly reading?: Written;
  /** None where it is closed. */
  readonly table?: SavedTable;
}

export const SCHEME = 'jaxviz://';

/** Where views are kept, if anything is of the shape of one; what others wrote there is not trusted. */
export function readSaved(value: unknown): SavedView | undefined {
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const { stage, open, spread, all, selected, kernels, colour, search, height, ...more } = value as Record<
    string,
    unknown
  >;
  const known =
    typeof stage === 'string' &&
    isRows(open) &&
    isRows(spread) &&
    typeof colour === 'string' &&
    typeof search === 'string';
  return known
    ? {
        stage,
        open,
        spread,
        ...(all === true ? { all } : {}),
        selected: wholeOrNull(selected),
        kernels: kernels === true,
        colour,
        search,
        height: wholeOrNull(height),
        ...besideOf(more.beside),
        ...cameraOf(more.camera),
        ...readingOf(more.reading),
        ...tableOf(more.table)
      }
    : undefined;
}

function besideOf(value: unknown): Pick<SavedView, 'beside'> {
  const { stage, place } = (value ?? {}) as Record<string, unknown>;
  return typeof stage === 'string' && isShare(place) ? { beside: { stage, place } } : {};
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1;
}

function cameraOf(value: unknown): Pick<SavedView, 'camera'> {
  const { x, y, scale, settled } = (value ?? {}) as Record<string, unknown>;
  const known = Number.isFinite(x) && Number.isFinite(y) && typeof scale === 'number' && scale > 0 && scale < 1000;
  const rest: Pick<SavedCamera, 'settled'> = settled === true ? { settled } : {};
  return known ? { camera: { x: x as number, y: y as number, scale, ...rest } } : {};
}

function readingOf(value: unknown): Pick<SavedView, 'reading'> {
  return value === 'python' || value === 'stage' ? { reading: value } : {};
}

function tableOf(value: unknown): Pick<SavedView, 'table'> {
  const { by, sorting } = (value ?? {}) as Record<string, unknown>;
  if (typeof by !== 'string') {
    return {};
  }
  const { by: key, reversed } = (sorting ?? {}) as Record<string, unknown>;
  return { table: { by, ...(typeof key === 'string' ? { sorting: { by: key, reversed: reversed === true } } : {}) } };
}

export function viewText(document: Document, view: SavedView): string {
  const said = new URLSearchParams({ of: mark(document), open: rangesText(view.open) });
  if (view.spread.length) {
    said.set('spread', rangesText(view.spread));
  }
  if (view.all) {
    said.set('all', 'yes');
  }
  if (view.selected !== null) {
    said.set('selected', String(view.selected));
  }
  if (view.kernels) {
    said.set('kernels', 'yes');
  }
  if (view.colour) {
    said.set('colour', view.colour);
  }
  if (view.search) {
    said.set('search', view.search);
  }
  if (view.beside) {
    said.set('beside', `${view.beside.stage},${view.beside.place}`);
  }
  if (view.camera) {
    const { x, y, scale, settled } = view.camera;
    said.set('camera', [x, y, scale, ...(settled ? ['settled'] : [])].join(','));
  }
  if (view.reading) {
    said.set('reading', view.reading);
  }
  if (view.table) {
    const { by, sorting } = view.table;
    said.set('table', [by, ...(sorting ? [sorting.by, ...(sorting.reversed ? ['reversed'] : [])] : [])].join(','));
  }
  return `${SCHEME}${encodeURIComponent(document.programs[0].name)}/${view.stage}?${said.toString().replaceAll('%2C', ',')}`;
}

/** The view that a text stands for, or in words why it cannot be shown here. */
export function parseView(document: Document, text: string): SavedView | { readonly fault: string } {
  const [, name, stage, query] = /^jaxviz:\/\/([^/?]*)\/([^/?]*)\?(.*)$/.exec(text.trim()) ?? [];
  if (query === undefined) {
    return { fault: 'a copied view looks like jaxviz://step/jaxpr?of=…' };
  }
  const said = new URLSearchParams(query);
  if (said.get('of') !== mark(document)) {
    return { fault: `this view was copied from another program: ${plainName(name)}` };
  }
  const selected = said.get('selected');
  const [beside, place] = (said.get('beside') ?? '').split(',');
  const [settled, camera] = [/,settled$/, /^[^,]*,[^,]*,[^,]*/].map(part => part.exec(said.get('camera') ?? '')?.[0]);
  const [by, key, reversed] = said.get('table')?.split(',') ?? [];
  const [x, y, scale] = (camera ?? '').split(',').map(part => (part ? Number(part) : NaN));
  return {
    stage,
    open: rowsOfText(said.get('open') ?? ''),
    spread: rowsOfText(said.get('spread') ?? ''),
    ...(said.has('all') ? { all: true } : {}),
    selected: selected === null ? null : wholeOrNull(Number(selected)),
    kernels: said.has('kernels'),
    colour: said.get('colour') ?? '',
    search: said.get('search') ?? '',
    height: null,
    ...besideOf({ stage: beside, place: Number(place) }),
    ...cameraOf({ x, y, scale, settled: settled !== undefined }),
    ...readingOf(said.get('reading')),
    ...tableOf({ by, sorting: { by: key, reversed: reversed !== undefined } })
  };
}

/** Tells programs apart whose rows have other numbers: by the sizes of their stages. */
function mark(document: Document): string {
  return stagesOf(document)
    .map(({ stage: { graph } }) => document.graphs[graph].nodeCount.toString(36))
    .join('.');
}

function plainName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Numbers in order, those without a gap as a range: `1-4,9`. */
function rangesText(rows: readonly number[]): string {
  const parts: string[] = [];
  const sorted = [...rows].sort((a, b) => a - b);
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === sorted[end] + 1) {
      end++;
    }
    parts.push(end > at ? `${sorted[at]}-${sorted[end]}` : String(sorted[at]));
    at = end + 1;
  }
  return parts.join(',');
}

/** No outline has more rows; a longer range was not written here. */
const MOST_ROWS = 1_000_000;

function rowsOfText(text: string): number[] {
  const rows: number[] = [];
  for (const [, first, last] of text.matchAll(/(\d+)(?:-(\d+))?/g)) {
    const end = Math.min(Number(last ?? first), MOST_ROWS);
    for (let row = Number(first); row <= end; row++) {
      rows.push(row);
    }
  }
  return rows;
}

function isRows(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(one => Number.isInteger(one) && one >= 0);
}

function wholeOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}
