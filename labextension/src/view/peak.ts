/** The step of a program at which most is in memory, and what is alive there. */
import type { Document, Graph, Memory } from '../document/graph.ts';
import { follow } from '../document/follow.ts';

export interface Peak {
  readonly step: number;
  /** Rows of the values that are alive there, the largest first. */
  readonly alive: readonly number[];
}

export function peakOf({ live, first, last, size }: Memory): Peak {
  let step = 0;
  live.forEach((bytes, at) => (step = bytes > live[step] ? at : step));
  const alive = first.flatMap((from, row) => (from <= step && step <= last[row] ? [row] : []));
  return { step, alive: alive.sort((a, b) => size[b] - size[a] || a - b) };
}

/** Of each node what it makes of the values that are alive at the peak, in bytes; null where that is not known. */
export function aliveAtPeak(document: Document, graph: Graph): Float64Array | null {
  const bytes = new Float64Array(graph.nodeCount);
  let any = false;
  for (const memory of document.memory) {
    const { stages } = document.programs[memory.program];
    const made = stages.find(({ kind }) => kind === 'hlo')?.graph;
    const here = stages.find(stage => document.graphs[stage.graph].kind === graph.kind)?.graph;
    if (made === undefined || here === undefined) {
      continue;
    }
    for (const row of peakOf(memory).alive) {
      for (const { node } of follow(document, made, memory.node[row], here)) {
        bytes[node] += memory.size[row];
        any = true;
      }
    }
  }
  return any ? bytes : null;
}
