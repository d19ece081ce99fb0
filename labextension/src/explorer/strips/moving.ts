/** The strip of a dump that nothing was run of: which kernels read and write most, by the shapes of their values. */
import { NodeKind, type Document } from '../../document/graph.ts';
import { comparedLinks } from '../../document/programs.ts';
import { kernelCount } from '../../view/kernels.ts';
import { nodeLabel } from '../../view/label.ts';
import { shareText } from '../../view/measures.ts';
import { trafficOf } from '../../view/traffic.ts';
import { bytesText } from '../../view/words.ts';
import { bar } from './bars.ts';
import { button, element } from '../elements.ts';
import type { RunActions } from './run.ts';
import { titled } from './titled.ts';

/** So many kernels are listed, those that move most. */
const LISTED = 8;

/**
 * One for a program that is a file of the compiler's with several kernels, and was not measured: the first of a folder,
 * which is shown first, and both of a comparison.
 */
export function movingStrips(source: Document, actions: Pick<RunActions, 'show'>): HTMLElement[] {
  return source.programs.slice(0, comparedLinks(source).length ? 2 : 1).flatMap(({ stages }, program) => {
    const at = stages.find(({ kind }) => kind === 'hlo')?.graph;
    const known = stages.some(({ kind }) => kind === 'jaxpr') || source.measures.some(one => one.program === program);
    if (at === undefined || known) {
      return [];
    }
    const count = kernelCount(source, source.graphs[at]);
    return count > 1 ? [strip(source, actions, program, at, count)] : [];
  });
}

function strip(
  source: Document,
  actions: Pick<RunActions, 'show'>,
  program: number,
  at: number,
  count: number
): HTMLElement {
  const root = element('section', 'jv-run');
  root.setAttribute('aria-label', 'kernels');
  const more = element('div', 'jv-run-more');
  more.hidden = true;
  const words = `${titled(source, 'kernels', program)}: which of ${count} read and write most`;
  const title = button('jv-finding-title', words, 'Bytes that each kernel reads and writes', () => {
    if (!more.hasChildNodes()) {
      more.append(...heaviest(source, actions, at));
    }
    more.hidden = !more.hidden;
    title.setAttribute('aria-expanded', String(!more.hidden));
  });
  title.setAttribute('aria-expanded', 'false');
  const head = element('div', 'jv-run-head');
  head.append(title);
  root.append(head, more);
  return root;
}

/** Those kernels, each with its share as a bar, and the rest. */
function heaviest(source: Document, { show }: Pick<RunActions, 'show'>, at: number): HTMLElement[] {
  const graph = source.graphs[at];
  const kernels = [...trafficOf(source, graph)]
    .map(([node, { read, written }]) => ({ node, read, written, moved: read + written }))
    .sort((one, other) => other.moved - one.moved);
  const whole = kernels.reduce((sum, { moved }) => sum + moved, 0);
  const listed = kernels.slice(0, LISTED).filter(({ moved }) => moved > 0);
  const table = element('div', 'jv-run-lines');
  for (const { node, read, written, moved } of listed) {
    const share = shareText(moved, whole);
    const row = bar(nodeLabel(source, graph, node), bytesText(moved), moved / whole, share, 'button');
    row.title = `Show where it is: it reads ${bytesText(read)}, and writes ${bytesText(written)}`;
    row.addEventListener('click', () => show(at, [node]));
    table.append(row);
  }
  const others = whole - listed.reduce((sum, { moved }) => sum + moved, 0);
  if (others > 0) {
    const count = `${kernels.length - listed.length} others`;
    table.append(bar(count, bytesText(others), others / whole, shareText(others, whole)));
  }
  const loops = graph.op.some((op, node) => graph.kind[node] === NodeKind.operation && source.strings[op] === 'while');
  const turns = loops ? '; a turn of a loop counts once' : '';
  return [table, element('p', 'jv-run-why', `by the shapes of what they read and write: nothing was run${turns}`)];
}
