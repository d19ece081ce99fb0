/** Generated graphs with regions in regions, the same for the same seed, and what is seen of one where some are open. */
import type { LayoutInput } from '../../labextension/src/layout/input.ts';
import { generate, randomFrom, type BenchGraph, type Kind } from '../layout/graphs.ts';
import type { Boxes } from './moved.ts';

/** Parts of a graph, one inside the other: an operation, or a region that holds a run of them. */
interface Part {
  readonly item: number;
  /** Nothing for an operation. */
  readonly members?: readonly Part[];
}

export interface Nested {
  readonly graph: BenchGraph;
  readonly parts: readonly Part[];
  /** Items of all regions. */
  readonly regions: readonly number[];
}

const DEEPEST = 3;
/** Operations in a region, and operations between one and the next, at most. */
const LONGEST = 48;
const SHORTEST = 4;
const BETWEEN = 6;
/** px that the title of a region takes, and the height of a closed one. */
const TITLE = 96;
const HEIGHT = 22;

/** A graph of `count` operations, runs of which are regions as calls and loops are. */
export function generateNested(kind: Kind, count: number, seed: number): Nested {
  const graph = generate(kind, count, seed);
  const random = randomFrom(seed + 77);
  const below = (limit: number): number => Math.floor(random() * limit);
  const regions: number[] = [];
  const divide = (begin: number, end: number, depth: number): Part[] => {
    const parts: Part[] = [];
    let at = begin;
    while (at < end) {
      for (let loose = 1 + below(BETWEEN); loose > 0 && at < end; loose--) {
        parts.push({ item: at++ });
      }
      const length = Math.min(end - at, SHORTEST + below(LONGEST >> depth));
      if (depth < DEEPEST && length >= SHORTEST && length < end - begin - 1) {
        const item = count + regions.length;
        regions.push(item);
        parts.push({ item, members: divide(at, at + length, depth + 1) });
        at += length;
      }
    }
    return parts;
  };
  return { graph, parts: divide(0, count, 0), regions };
}

/** What is seen, as the layout is given it: a closed region is one box that has the edges of all that it holds. */
export function look({ graph, parts }: Nested, open: ReadonlySet<number>): { boxes: Boxes; input: LayoutInput } {
  const item: number[] = [];
  const parent: number[] = [];
  const seenAs = new Int32Array(graph.count);
  const hide = (members: readonly Part[], box: number): void =>
    members.forEach(part => (part.members ? hide(part.members, box) : (seenAs[part.item] = box)));
  const show = (members: readonly Part[], around: number): void =>
    members.forEach(part => {
      const box = item.push(part.item) - 1;
      parent.push(around);
      if (!part.members) {
        seenAs[part.item] = box;
      } else if (open.has(part.item)) {
        show(part.members, box);
      } else {
        hide(part.members, box);
      }
    });
  show(parts, -1);
  const isRegion = (one: number): boolean => one >= graph.count;
  return {
    boxes: { item: Int32Array.from(item), parent: Int32Array.from(parent) },
    input: {
      parent: Int32Array.from(parent),
      width: Float64Array.from(item, one => (isRegion(one) ? TITLE : graph.width[one])),
      height: Float64Array.from(item, one => (isRegion(one) ? HEIGHT : graph.height[one])),
      left: new Float64Array(item.length),
      right: new Float64Array(item.length),
      group: Uint8Array.from(item, one => (isRegion(one) && open.has(one) ? 1 : 0)),
      pin: new Uint8Array(item.length),
      ...edgesBetween(graph, item, seenAs)
    }
  };
}

type Edges = Pick<LayoutInput, 'source' | 'target' | 'sourcePort' | 'targetPort'>;

/** One edge for each value that a box reads; a closed region has a port for each value. */
function edgesBetween(graph: BenchGraph, item: readonly number[], seenAs: Int32Array): Edges {
  const ports = new Map<string, number>();
  const counts = new Map<string, number>();
  const portOf = (side: string, box: number, value: number): number => {
    const key = `${side} ${box} ${value}`;
    const known = ports.get(key) ?? counts.get(`${side} ${box}`) ?? 0;
    if (!ports.has(key)) {
      ports.set(key, known);
      counts.set(`${side} ${box}`, known + 1);
    }
    return known;
  };
  const edges = new Map<string, readonly number[]>();
  graph.source.forEach((value, edge) => {
    const [source, target] = [seenAs[value], seenAs[graph.target[edge]]];
    if (source !== target) {
      const closed = item[target] >= graph.count;
      const into = closed ? portOf('in', target, value) : graph.port[edge];
      edges.set(`${value} ${target} ${into}`, [source, target, portOf('out', source, value), into]);
    }
  });
  const column = (i: number): Int32Array => Int32Array.from(edges.values(), edge => edge[i]);
  return { source: column(0), target: column(1), sourcePort: column(2), targetPort: column(3) };
}
