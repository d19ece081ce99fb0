/**
 * How long training steps take in their regions, and each stage on the whole step as one graph:
 * `node steps.cjs DOCUMENT BAR ...`. Each step is laid out in a process of its own: the first time counts what a new
 * worker pays, the others what it pays once the compiler of the engine knows the layout.
 */
import { execFileSync } from 'node:child_process';
import { placeVertices, type Extents } from '../../labextension/src/layout/coordinates.ts';
import { BOX_GAP, LANE_GAP } from '../../labextension/src/layout/distances.ts';
import type { LayoutInput } from '../../labextension/src/layout/input.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import { makeNet } from '../../labextension/src/layout/net.ts';
import { orderRows, rowsOf } from '../../labextension/src/layout/order.ts';
import { makeProper } from '../../labextension/src/layout/proper.ts';
import { rankVertices } from '../../labextension/src/layout/rank.ts';
import { straighten } from '../../labextension/src/layout/straighten.ts';
import type { BenchGraph } from './graphs.ts';
import { readDocument } from './real.ts';

const TIMES = 7;
/** Vertices that annealing looks at, as for a whole picture. */
const WORK = 1_200_000;

interface Time {
  /** Milliseconds by the clock, and of all processors. */
  readonly wall: number;
  readonly processors: number;
}

function timed(work: () => unknown): Time {
  const before = process.cpuUsage();
  const start = performance.now();
  work();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { wall, processors: (user + system) / 1000 };
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1];
}

function told(times: readonly Time[]): string {
  const of = (key: keyof Time): string => median(times.map(time => time[key])).toFixed(0);
  return `${of('wall').padStart(6)} ms${of('processors').padStart(7)} of the processors`;
}

function whole(nested: LayoutInput, bar: string): void {
  const times = Array.from({ length: TIMES }, () => timed(() => layout(nested)));
  console.log(`  in its regions, first time ${told(times.slice(0, 1))}`);
  console.log(`  ${TIMES - 1} more times, median     ${told(times.slice(1))}   to be below ${bar} ms`);
}

/** Each stage by itself. What the layout does to a flat graph beyond them is little. */
function stages({ count, source, target, width }: BenchGraph): void {
  const pin = new Uint8Array(count);
  const half = width.map(one => one / 2);
  const fixed = new Int32Array(count).fill(-1);
  const gap = (a: number, b: number): number => (a < count && b < count ? BOX_GAP : LANE_GAP);
  const times = new Map<string, Time[]>();
  const stage = <T>(name: string, work: () => T): T => {
    let result: T | undefined;
    const time = timed(() => (result = work()));
    times.set(name, [...(times.get(name) ?? []), time]);
    return result as T;
  };
  for (let i = 0; i < TIMES; i++) {
    const rank = stage('rank', () => rankVertices({ count, from: source, to: target, pin }));
    const proper = stage('lanes', () => makeProper(rank, source, target));
    const links = new Float64Array(proper.upper.length);
    const sized = new Float64Array(proper.count);
    sized.set(half);
    const extents: Extents = { left: sized, right: sized, upperOffset: links, lowerOffset: links };
    const net = stage('ports', () => makeNet(proper, links, links));
    const order = stage('order', () => orderRows(net, fixed, 0, WORK));
    const x = stage('coordinates', () => placeVertices(proper, net, order, order.held, extents, gap));
    stage('straight strands', () => straighten(proper, rowsOf(net, order.order), order.place, extents, gap, x));
  }
  for (const [name, all] of times) {
    console.log(`  ${name.padEnd(27)}${told(all.slice(1))}`);
  }
}

const [mode, path, bar] = process.argv.slice(2);
if (mode === '--one') {
  const { flat, nested } = readDocument(path);
  console.log(`${flat.name}: ${flat.count} nodes`);
  whole(nested, bar);
  stages(flat);
} else {
  for (let i = 2; i < process.argv.length; i += 2) {
    execFileSync(process.execPath, [process.argv[1], '--one', process.argv[i], process.argv[i + 1]], {
      stdio: 'inherit'
    });
  }
}
