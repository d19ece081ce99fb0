/** What was measured of an operation or of a part of the program, in words for the inspector. */
import type { Document, Graph } from '../document/graph.ts';
import { flopsText, measuredOf, ofItem, shareText, short, timeText, wholeOf } from '../view/measures.ts';
import { bytesText } from '../view/words.ts';

export interface MeasureLine {
  readonly term: string;
  readonly text: string;
  /** What there is to know of the figure; may be empty. */
  readonly note: string;
}

/** Shares below this of a figure are not worth a word. */
const WORTH_SAYING = 0.02;

/** The lines of an item of the picture: a node, or a row of the outline. */
export function measureLines(document: Document, graph: Graph, item: number): MeasureLine[] {
  const measured = measuredOf(document, graph);
  if (!measured) {
    return [];
  }
  const of = (figure: Parameters<typeof ofItem>[3]): number => ofItem(document, measured, graph, figure, item);
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
