/** What the rows of a table add up to, and what is counted in that. */
import { NodeKind, type Document, type Graph } from '../../document/graph.ts';
import type { Listing } from '../../view/listing.ts';
import { flopsText, measuredOf, timeText } from '../../view/measures.ts';
import type { Amount } from '../../view/operations.ts';
import { bytesText, numberText } from '../../view/words.ts';

/** Of the time of a run, a part that is not worth a word. */
const NEGLIGIBLE = 0.005;

export function footOf(
  document: Document,
  graph: Graph,
  listing: Listing,
  order: Int32Array,
  grouping: string | undefined
): string {
  const { operations, first, amounts, count } = listing;
  const sum = (amount: Amount): number => order.reduce((all, row) => all + (amounts[amount][row] ?? 0), 0);
  const shown = order.reduce((all, row) => all + first[row + 1] - first[row], 0);
  const total = operations.node.length;
  const what = operations.loops ? 'kernels and loops' : operations.kernels ? 'kernels' : 'operations';
  const filtered = order.length < count;
  const of = filtered ? `${numberText(shown)} of ${numberText(total)}` : numberText(total);
  const measured = measuredOf(document, graph);
  const [seconds, flops, bytes] = [sum('seconds'), sum('flops'), sum('bytes')];
  const rest = operations.seconds - seconds;
  const time =
    seconds > 0
      ? rest > NEGLIGIBLE * operations.seconds
        ? [`${timeText(seconds)} of ${timeText(operations.seconds)} of a run`]
        : [`${timeText(seconds)} in a run`]
      : [];
  const parts = [
    `${of} ${what}${filtered ? (grouping ? ', in groups with what is searched for' : ' that are searched for') : ''}`,
    ...time,
    ...(flops > 0 ? [flopsText(flops)] : []),
    ...(bytes > 0 ? [`${bytesText(bytes)} read and written`] : []),
    ...(!measured && (bytes > 0 || flops > 0) ? ['by shapes: nothing was run'] : []),
    ...counted(listing, bytes > 0 || flops > 0 || seconds > 0)
  ];
  return parts.join(' · ');
}

/** How what runs again and again counts. */
function counted({ operations: { amounts, open, branches } }: Listing, any: boolean): string[] {
  const again = amounts.runs.some(times => times > 1);
  return [
    ...(again && any ? ['a loop counts with all its turns'] : []),
    ...(open ? [`${numberText(open)} in a loop of unknown length: one turn counts`] : []),
    ...(branches && any ? ['each branch of a condition counts'] : [])
  ];
}

/** How many operations a graph has, with those inside of others. */
export function operationsIn({ kind }: Graph): number {
  return kind.reduce((sum, one) => sum + (one === NodeKind.operation ? 1 : 0), 0);
}
