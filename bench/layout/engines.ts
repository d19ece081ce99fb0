/** The engines under comparison, each as a function from a graph to a picture and the milliseconds that it took. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { BOX_GAP, LANE_GAP } from '../../labextension/src/layout/distances.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import type { BenchGraph } from './graphs.ts';
import { toInput } from './input.ts';
import type { Picture } from './measure.ts';

export interface Drawn extends Picture {
  readonly milliseconds: number;
}

/** `rowGap` is the distance between rows in px, for the engines that can be told. */
export type Engine = (graph: BenchGraph, rowGap: number) => Drawn | Promise<Drawn>;

/** Where dagre and elkjs are installed, from the root of the repository. */
const installed = createRequire(resolve('build/bench/package.json'));
const INCH = 72;
/** Pieces that each curve of dot is cut into. */
const CURVE = 8;

/** As the other engines see it, or with operands in their order. */
export function jaxviz(graph: BenchGraph, ports = false): Drawn {
  const input = toInput(graph, ports);
  const start = performance.now();
  const { x, y, routeStart, route } = layout(input);
  const milliseconds = performance.now() - start;
  const routes = Array.from(graph.source, (_, edge) => route.subarray(2 * routeStart[edge], 2 * routeStart[edge + 1]));
  return { x, y, routes, milliseconds };
}

/**
 * `ports`: edges leave a box in the middle of its lower border, and operands meet the upper border left to right in
 * their order. Without, dot aims at the centre of a box and cuts what lies in it, which makes its edges shorter.
 */
export const dot = (graph: BenchGraph, rowGap: number, ports = false): Drawn => {
  const operands = new Int32Array(graph.count);
  graph.target.forEach((target, edge) => (operands[target] = Math.max(operands[target], graph.port[edge] + 1)));
  const record = (box: number): string =>
    ports && operands[box] > 1 ? `, shape=record, label="${range(operands[box], port => `<p${port}>`).join('|')}"` : '';
  const end = (edge: number): string => {
    const target = graph.target[edge];
    return ports && operands[target] > 1 ? `${target}:p${graph.port[edge]}:n` : `${target}${ports ? ':n' : ''}`;
  };
  const lines = [`digraph { graph [rankdir=TB, nodesep=${BOX_GAP / INCH}, ranksep=${rowGap / INCH}]`];
  lines.push('node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none]');
  for (let i = 0; i < graph.count; i++) {
    lines.push(`${i} [width=${graph.width[i] / INCH}, height=${graph.height[i] / INCH}${record(i)}]`);
  }
  graph.source.forEach((source, edge) => lines.push(`${source}${ports ? ':s' : ''} -> ${end(edge)} [id=${edge}]`));
  lines.push('}');
  const start = performance.now();
  const json = execFileSync('dot', ['-Tjson'], { input: lines.join('\n'), maxBuffer: 1 << 30, stdio: 'pipe' });
  const milliseconds = performance.now() - start;
  const answer = JSON.parse(json.toString()) as {
    objects: { name: string; pos: string }[];
    edges: { id: string; pos: string }[];
  };
  const x = new Float64Array(graph.count);
  const y = new Float64Array(graph.count);
  for (const { name, pos } of answer.objects) {
    const [cx, cy] = pos.split(',').map(Number);
    x[Number(name)] = cx - graph.width[Number(name)] / 2;
    y[Number(name)] = -cy - graph.height[Number(name)] / 2;
  }
  const routes: number[][] = Array.from(graph.source, () => []);
  for (const { id, pos } of answer.edges ?? []) {
    routes[Number(id)] = flatten(pos.split(' ').map(point => point.split(',').map(Number)));
  }
  return { x, y, routes, milliseconds };
};

function range<T>(count: number, of: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => of(i));
}

/** A chain of cubic curves as points, y downward. */
function flatten(control: number[][]): number[] {
  const points = [control[0][0], -control[0][1]];
  for (let i = 1; i + 2 < control.length; i += 3) {
    const [a, b, c, d] = control.slice(i - 1, i + 3);
    for (let step = 1; step <= CURVE; step++) {
      const t = step / CURVE;
      const s = 1 - t;
      const at = (axis: number): number =>
        s * s * s * a[axis] + 3 * s * s * t * b[axis] + 3 * s * t * t * c[axis] + t * t * t * d[axis];
      points.push(at(0), -at(1));
    }
  }
  return points;
}

interface Dagre {
  graphlib: { Graph: new (options: { multigraph: boolean }) => DagreGraph };
  layout(graph: DagreGraph): void;
}
interface DagreGraph {
  setGraph(options: object): void;
  setNode(name: string, box: { width: number; height: number }): void;
  setEdge(from: string, to: string, value: object, name: string): void;
  node(name: string): { x: number; y: number };
  edge(end: { v: string; w: string; name: string }): { points: { x: number; y: number }[] };
}

/** As it comes: ranks by network simplex. */
export const dagre: Engine = (graph, rowGap) => {
  const library = installed('@dagrejs/dagre') as Dagre;
  const drawing = new library.graphlib.Graph({ multigraph: true });
  drawing.setGraph({ nodesep: BOX_GAP, edgesep: LANE_GAP, ranksep: rowGap });
  for (let i = 0; i < graph.count; i++) {
    drawing.setNode(`${i}`, { width: graph.width[i], height: graph.height[i] });
  }
  graph.source.forEach((source, edge) => drawing.setEdge(`${source}`, `${graph.target[edge]}`, {}, `${edge}`));
  const start = performance.now();
  library.layout(drawing);
  const milliseconds = performance.now() - start;
  const places = Array.from({ length: graph.count }, (_, i) => drawing.node(`${i}`));
  const routes = Array.from(graph.source, (source, edge) =>
    drawing.edge({ v: `${source}`, w: `${graph.target[edge]}`, name: `${edge}` }).points.flatMap(({ x, y }) => [x, y])
  );
  return {
    x: Float64Array.from(places, ({ x }, i) => x - graph.width[i] / 2),
    y: Float64Array.from(places, ({ y }, i) => y - graph.height[i] / 2),
    routes,
    milliseconds
  };
};

interface Elk {
  layout(graph: object): Promise<{ children: { x: number; y: number }[]; edges: { sections?: Section[] }[] }>;
}
interface Point {
  x: number;
  y: number;
}
interface Section {
  startPoint: Point;
  endPoint: Point;
  bendPoints?: Point[];
}

export const elk: Engine = async (graph, rowGap) => {
  const Library = installed('elkjs/lib/elk.bundled.js') as new () => Elk;
  const library = new Library();
  const drawing = {
    id: 'all',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': 'DOWN',
      'elk.edgeRouting': 'POLYLINE',
      'elk.layered.nodePlacement.strategy': 'SIMPLE',
      'elk.spacing.nodeNode': `${BOX_GAP}`,
      'elk.spacing.edgeEdge': `${LANE_GAP}`,
      'elk.spacing.edgeNode': `${LANE_GAP}`,
      'elk.layered.spacing.nodeNodeBetweenLayers': `${rowGap}`
    },
    children: Array.from({ length: graph.count }, (_, i) => ({
      id: `${i}`,
      width: graph.width[i],
      height: graph.height[i]
    })),
    edges: Array.from(graph.source, (source, edge) => ({
      id: `e${edge}`,
      sources: [`${source}`],
      targets: [`${graph.target[edge]}`]
    }))
  };
  const start = performance.now();
  const { children, edges } = await library.layout(drawing);
  const milliseconds = performance.now() - start;
  const routes = edges.map(({ sections }) =>
    (sections ?? []).flatMap(({ startPoint, bendPoints, endPoint }) =>
      [startPoint, ...(bendPoints ?? []), endPoint].flatMap(({ x, y }) => [x, y])
    )
  );
  return {
    x: Float64Array.from(children, child => child.x),
    y: Float64Array.from(children, child => child.y),
    routes,
    milliseconds
  };
};
