/** What was measured of the nodes of a graph, by itself and with all that is inside: for nodes, rows and lines. */
import type { Document, Graph, Measures } from '../document/graph.ts';
import { FIGURES, type Figure } from '../document/measured.ts';
import { flopsOf } from './flops.ts';
import { optimizedOf } from './kernels.ts';
import { rowsOf } from './outline.ts';
import { trafficOf } from './traffic.ts';
import { turnsOf } from './turns.ts';
import { bytesText } from './words.ts';
import { getOrMake } from '../maps';

/** Figures of the nodes of a graph. */
export interface Figured {
  /** Of each node by itself, in one run. */
  readonly own: Readonly<Record<Figure, Float64Array>>;
  /** Sums of the nodes before each: those of an interval are a difference. */
  readonly before: Readonly<Record<Figure, Float64Array>>;
}

export interface Measured extends Figured {
  readonly run: Measures;
}

const known = new WeakMap<Graph, Measured | null>();

/** The measures of a graph; null where none were made. The same graph by its kernels has the same nodes. */
export function measuredOf(document: Document, graph: Graph): Measured | null {
  return getOrMake(known, graph, () => make(document, graph));
}

function make(document: Document, graph: Graph): Measured | null {
  for (const run of document.measures) {
    for (const { kind, graph: at } of document.programs[run.program].stages) {
      const figures = run.figures[kind];
      if (figures && document.graphs[at].kind === graph.kind) {
        const own = record(figure => {
          const column = new Float64Array(graph.nodeCount);
          figures[figure]?.forEach((value, row) => (column[figures.node[row]] = value));
          return column;
        });
        return { run, own, before: record(figure => sums(own[figure])) };
      }
    }
  }
  return null;
}

const shaped = { flops: new WeakMap<Graph, Figured | null>(), bytes: new WeakMap<Graph, Figured | null>() };

/** The same, and where nothing was run, what is known by shapes alone. */
export function figuredOf(document: Document, graph: Graph, figure: Figure): Figured | null {
  const measured = measuredOf(document, graph);
  if (measured || (figure !== 'flops' && figure !== 'bytes')) {
    return measured;
  }
  return getOrMake(shaped[figure], graph, () => {
    const once = figure === 'flops' ? flopsOf(document, graph) : movedBy(document, graph);
    if (!once) {
      return null;
    }
    const { times } = turnsOf(document, graph);
    const own = record(() => new Float64Array(graph.nodeCount));
    once.forEach((amount, node) => (own[figure][node] = amount * times[graph.region[node]]));
    return { own, before: record(one => sums(own[one])) };
  });
}

/** The bytes of each kernel of optimized HLO, each time that it runs; null for other graphs. */
function movedBy(document: Document, graph: Graph): Float64Array | null {
  if (document.graphs[optimizedOf(document, graph)]?.kind !== graph.kind) {
    return null;
  }
  const bytes = new Float64Array(graph.nodeCount);
  trafficOf(document, graph).forEach(({ read, written }, kernel) => (bytes[kernel] = read + written));
  return bytes;
}

function record(make: (figure: Figure) => Float64Array): Record<Figure, Float64Array> {
  return Object.fromEntries(FIGURES.map(figure => [figure, make(figure)])) as Record<Figure, Float64Array>;
}

function sums(column: Float64Array): Float64Array {
  const before = new Float64Array(column.length + 1);
  column.forEach((value, index) => (before[index + 1] = before[index] + value));
  return before;
}

/** A figure of all nodes of an interval of program order. */
export function between(measured: Figured, figure: Figure, first: number, end: number): number {
  return Math.max(0, measured.before[figure][end] - measured.before[figure][first]);
}

/** A figure of a node with all that is in its bodies. */
export function withBodies(measured: Figured, graph: Graph, figure: Figure, node: number): number {
  const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
  const inside =
    first < end
      ? between(
          measured,
          figure,
          graph.regionStart[graph.ownedRegions[first]],
          graph.regionEnd[graph.ownedRegions[end - 1]]
        )
      : 0;
  return measured.own[figure][node] + inside;
}

/** A figure of an item of the picture: a node with its bodies, or a row with all that it holds. */
export function ofItem(document: Document, measured: Figured, graph: Graph, figure: Figure, item: number): number {
  if (item < 0) {
    return withBodies(measured, graph, figure, -1 - item);
  }
  const { outline } = rowsOf(document, graph);
  return between(measured, figure, outline.first[item], outline.end[item]);
}

/** A figure of the whole graph, with what no node of it has a part of. */
export function wholeOf(measured: Figured & { readonly run?: Measures }, figure: Figure): number {
  const sum = measured.before[figure][measured.before[figure].length - 1];
  return figure === 'seconds' ? Math.max(sum, measured.run?.seconds.operations ?? 0) : sum;
}

/** Why parts of a run may take longer than it does, where the longest of them does; nothing elsewhere. */
export function whyLonger({ run }: Measured, longest: number): string | undefined {
  const { median, wall } = run.seconds;
  if (median === undefined || longest <= median) {
    return undefined;
  }
  const slowed = wall > median ? ` (a run took ${timeText(wall)} then)` : '';
  return `Lines are timed with the profiler on${slowed}, and what runs at once is added up; the median of ${timeText(median)} is without it.`;
}

/** A time as people read it. */
export function timeText(seconds: number): string {
  if (seconds <= 0) {
    return '0 s';
  }
  const [unit, size] = UNITS.find(([, one]) => seconds >= one) ?? UNITS[UNITS.length - 1];
  return `${short(seconds / size)} ${unit}`;
}

const UNITS = [
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9]
] as const;

/** A count of operations as people read it: 1.2 GFLOP. */
export function flopsText(flops: number): string {
  const [unit, size] = FLOPS.find(([, one]) => flops >= one) ?? FLOPS[FLOPS.length - 1];
  return `${short(flops / size)} ${unit}`;
}

const FLOPS = [
  ['TFLOP', 1e12],
  ['GFLOP', 1e9],
  ['MFLOP', 1e6],
  ['kFLOP', 1e3],
  ['FLOP', 1]
] as const;

/** An amount of a figure as people read it. */
export function figureText(figure: Figure, amount: number): string {
  return figure === 'seconds'
    ? timeText(amount)
    : figure === 'flops'
      ? flopsText(amount)
      : figure === 'bytes'
        ? bytesText(amount)
        : short(amount);
}

/** Three digits, without zeros behind the point. */
export function short(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** A share in percent. */
export function shareText(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  return percent > 0 && percent < 0.1 ? 'under 0.1 %' : `${Number(percent.toPrecision(percent < 10 ? 2 : 3))} %`;
}
