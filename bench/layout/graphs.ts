/** Generated graphs: strands of operations like those of a flattened jaxpr, the same for the same seed. */

/** A graph for all engines. Edge `e` is operand `port[e]` of its target. */
export interface BenchGraph {
  readonly name: string;
  readonly count: number;
  readonly width: Float64Array;
  readonly height: Float64Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly port: Int32Array;
}

export type Kind = 'flow' | 'region';

/** How far back an operand from far away may lie. */
const REACH: Record<Kind, number> = { flow: Infinity, region: 60 };
const LEAF = 0.22;
const JOIN = 0.31;
const SKIP = 0.01;
const WIDTHS = [56, 64, 72, 84, 96, 120];
const HEIGHT = 22;

/** Numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Edges per node are 1.28, as in a training step of a transformer; strands grow in number with the root of the size. */
export function generate(kind: Kind, count: number, seed: number): BenchGraph {
  const random = randomFrom(seed * 7919 + count + (kind === 'flow' ? 0 : 104729));
  const below = (limit: number): number => Math.floor(random() * limit);
  const strands = Math.round(2 + Math.sqrt(count) / 2);
  const heads = Array.from({ length: strands }, (_, node) => node);
  const edges: [number, number, number][] = [];
  let nodes = strands;
  while (nodes < count) {
    const strand = below(strands);
    const operands = [heads[strand]];
    const draw = random();
    if (draw < LEAF && nodes + 1 < count) {
      operands.push(nodes++);
    } else if (draw < LEAF + JOIN) {
      // Mostly a neighbour: values mix within a layer, seldom across the whole width.
      const step = 1 + Math.floor(random() * random() * 6);
      operands.push(heads[(strand + (random() < 0.5 ? step : strands - (step % strands))) % strands]);
    }
    if (random() < SKIP * 1.5) {
      operands.push(Math.max(0, nodes - 1 - below(Math.min(nodes, REACH[kind]))));
    }
    if (random() < 0.2) {
      operands.reverse();
    }
    const node = nodes++;
    [...new Set(operands)].forEach((operand, port) => edges.push([operand, node, port]));
    heads[strand] = node;
  }
  return {
    name: `${kind} ${count}`,
    count,
    width: Float64Array.from({ length: count }, () => WIDTHS[below(WIDTHS.length)]),
    height: new Float64Array(count).fill(HEIGHT),
    source: Int32Array.from(edges, edge => edge[0]),
    target: Int32Array.from(edges, edge => edge[1]),
    port: Int32Array.from(edges, edge => edge[2])
  };
}
