/** What was measured of an operation or of a part of the program, in words for the inspector. */
import type { Document, Graph } from '../../document/graph.ts';
import type { Figure } from '../../document/measured.ts';
import { families, family } from '../../view/family.ts';
import {
  figuredOf,
  flopsText,
  measuredOf,
  ofItem,
  shareText,
  short,
  timeText,
  wholeOf,
  type Measured
} from '../../view/measures.ts';
import { rowsOf } from '../../view/outline.ts';
import { turnsOf } from '../../view/turns.ts';
import { bytesText } from '../../view/words.ts';

export interface MeasureLine {
  readonly term: string;
  readonly text: string;
  /** What there is to know of the figure; may be empty. */
  readonly note: string;
}

/** The most that is seen of caches before memory stops to be what limits. */
const CACHED = 1.1;

/** Below this share of both ceilings, something else limits: a start, a wait, a library of which nothing is known. */
const FAR_BELOW = 0.02;

/** What limits an item by the ceilings of its device, where it ran long enough each time to say. */
function boundText({ run }: Measured, of: (figure: Figure) => number, times = 1): MeasureLine | null {
  const { flops: mostFlops, bytes: mostBytes } = run.ceilings ?? {};
  const [seconds, flops, bytes] = [of('seconds'), of('flops'), of('bytes')];
  if (!mostFlops || !mostBytes || seconds / times < TOO_SHORT || (!flops && !bytes)) {
    return null;
  }
  const [computing, moving] = [flops / mostFlops, bytes / mostBytes];
  const share = Math.max(computing, moving) / seconds;
  if (share < FAR_BELOW) {
    return {
      term: 'limit',
      text: 'neither computing nor memory',
      note: ` below ${100 * FAR_BELOW} % of what the device can do`
    };
  }
  const percent = Math.min(100, Math.round(100 * share));
  if (computing >= moving) {
    return {
      term: 'limit',
      text: `compute-bound at ${percent} %`,
      note: ` of ${flopsText(mostFlops)}/s`
    };
  }
  return share > CACHED
    ? { term: 'limit', text: 'faster than memory', note: ' its data come from caches' }
    : { term: 'limit', text: `memory-bound at ${percent} %`, note: ` of ${bytesText(mostBytes)}/s` };
}

/** What limits a node by itself, in a few words; nothing where that is not known. */
export function limitOf(document: Document, graph: Graph, measured: Measured, node: number): string | null {
  return boundOfNode(document, graph, measured, node, figure => measured.own[figure][node])?.text ?? null;
}

/**
 * The same of a node. What waits for other devices is limited by none of its own, nor is a library of which nothing is
 * known.
 */
function boundOfNode(
  document: Document,
  graph: Graph,
  measured: Measured,
  node: number,
  of: (figure: Figure) => number
): MeasureLine | null {
  const op = document.strings[graph.op[node]];
  const unknown = families[family(op)].key === 'communication' || (op === 'custom-call' && of('flops') === 0);
  const times = measured.own.count[node] || turnsOf(document, graph).times[graph.region[node]];
  return unknown ? null : boundText(measured, of, times);
}

/** Seconds below which a time is mostly that of a start. */
const TOO_SHORT = 2e-6;

/** Shares below this of a figure are not worth a word. */
const WORTH_SAYING = 0.02;

/** The lines of an item of the picture: a node, or a row of the outline. */
export function measureLines(document: Document, graph: Graph, item: number): MeasureLine[] {
  const measured = measuredOf(document, graph);
  if (!measured) {
    return shapedLines(document, graph, item);
  }
  const of = (figure: Figure): number => ofItem(document, measured, graph, figure, item);
  const lines: MeasureLine[] = [];
  const seconds = of('seconds');
  if (seconds > 0) {
    const notes = [`${shareText(seconds, wholeOf(measured, 'seconds'))} of a run`];
    const own = item < 0 ? measured.own.seconds[-1 - item] : seconds;
    if (seconds - own > WORTH_SAYING * seconds) {
      notes.push(`${timeText(own)} by itself`);
    }
    const count = item < 0 ? measured.own.count[-1 - item] : 0;
    if (count > 1) {
      notes.push(`in ${short(count)} executions`);
    }
    const shared = of('shared') / seconds;
    if (shared > WORTH_SAYING) {
      notes.push(`${shared > 1 - WORTH_SAYING ? 'estimated: a share' : 'in part estimated, as a share'} of its kernel`);
    }
    lines.push({ term: 'time', text: timeText(seconds), note: ` ${notes.join(', ')}` });
  }
  const node = item < 0 ? -1 - item : rowsOf(document, graph).outline.first[item];
  // Of a row that was measured as one, as a kernel is, it is that of the kernel.
  const asOne = item < 0 || seconds - measured.own.seconds[node] <= 1e-9 * seconds;
  const bound = asOne ? boundOfNode(document, graph, measured, node, of) : boundText(measured, of);
  if (bound) {
    lines.push(bound);
  }
  const [flops, bytes] = [of('flops'), of('bytes')];
  if (flops > 0) {
    const rate = seconds > 0 ? ` ${flopsText(flops / seconds)}/s` : '';
    lines.push({ term: 'computes', text: flopsText(flops), note: rate });
  }
  if (bytes > 0) {
    const rate = seconds > 0 ? ` ${bytesText(bytes / seconds)}/s` : '';
    lines.push({ term: 'moves', text: bytesText(bytes), note: rate });
  }
  return lines;
}

/** What is known of an item by shapes alone. */
function shapedLines(document: Document, graph: Graph, item: number): MeasureLine[] {
  const figured = figuredOf(document, graph, 'flops');
  const flops = figured ? ofItem(document, figured, graph, 'flops', item) : 0;
  if (!figured || flops <= 0) {
    return [];
  }
  const share = shareText(flops, wholeOf(figured, 'flops'));
  return [{ term: 'computes', text: flopsText(flops), note: ` ${share} of all, by shapes` }];
}
