/** Documents with two graphs, for tests. */
import type { Document as PlainDocument } from './schema.generated.ts';
import { affine } from './sketch.ts';

/** Two programs that differ: the second makes another sum, and its `tanh` has no counterpart. */
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

/** One program with two stages. */
export function whole(): PlainDocument {
  const plain = pair();
  const [program] = plain.programs;
  const [first] = program.stages;
  return { ...plain, programs: [{ ...program, stages: [first, { ...first, kind: 'hlo', graph: 1 }] }] };
}

/** The first of its stages: what is there before the compiler is done. */
export function early(): PlainDocument {
  const { graphs, programs, ...rest } = whole();
  const [program] = programs;
  const stages = program.stages.slice(0, 1);
  return { ...rest, graphs: graphs.slice(0, 1), links: [], programs: [{ ...program, stages }] };
}
