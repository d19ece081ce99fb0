/** What the kernel that something runs in reads and writes, in words for the inspector. */
import type { Document, Graph } from '../../document/graph.ts';
import { keptApartBy } from '../../view/between.ts';
import { kernelsThrough, optimizedOf } from '../../view/kernels.ts';
import { nodeLabel } from '../../view/label.ts';
import { trafficOf } from '../../view/traffic.ts';
import { turnsOf } from '../../view/turns.ts';
import { bytesText, numberText } from '../../view/words.ts';
import type { MeasureLine } from './measured.ts';

/** A line for the one kernel that nodes of any stage run in; none where they run in several, or nowhere. */
export function trafficLines(document: Document, graph: Graph, nodes: readonly number[]): MeasureLine[] {
  const optimized = optimizedOf(document, graph);
  if (optimized < 0) {
    return [];
  }
  const through = kernelsThrough(document, graph, optimized);
  const kernels = new Set<number>();
  for (const node of nodes) {
    through(node).forEach(kernel => kernels.add(kernel));
    if (kernels.size > 1) {
      return [];
    }
  }
  const hlo = document.graphs[optimized];
  return [...kernels].flatMap(kernel => {
    const traffic = trafficOf(document, hlo).get(kernel);
    // What only brings a value nearer to its readers is theirs.
    if (!traffic || traffic.read + traffic.written === 0) {
      return [];
    }
    const { read, written, saved } = traffic;
    const times = turnsOf(document, hlo).times[hlo.region[kernel]];
    const again = times > 1 ? `, each of ${numberText(times)} times` : '';
    const text = `${nodeLabel(document, hlo, kernel)} reads ${bytesText(read)}, writes ${bytesText(written)}${again}`;
    const fact = keptApartBy(document, hlo, kernel);
    return [
      { term: 'kernel', text, note: saved > 0 ? ` fusion saved ${bytesText(saved)}` : '' },
      ...(fact ? [{ term: 'not fused', text: fact, note: '' }] : [])
    ];
  });
}
