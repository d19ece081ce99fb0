/** Two programs that differ, as a document: the second makes another sum, and its `tanh` has no counterpart. */
import type { Document as PlainDocument } from './schema.generated.ts';
import { affine } from './sketch.ts';

export function pair(): PlainDocument {
  const plain = affine().plain();
  const [graph] = plain.graphs;
  const [program] = plain.programs;
  plain.graphs.push(structuredClone(graph));
  plain.programs.push({ ...program, name: 'other', stages: [{ ...program.stages[0], graph: 1 }] });
  const nodes = [0, 1, 2, 3, 4];
  plain.links = [{ from: 0, to: 1, source: nodes, target: nodes, kind: [0, 0, 0, 0, 3], shares: {} }];
  return plain;
}
