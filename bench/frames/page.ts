/** Measures the picture as a person uses it: panned with the whole graph in view, and zoomed in and out. */
import { makeScene, type Scene } from '../../labextension/src/draw/scene.ts';
import { palettes } from '../../labextension/src/draw/theme.ts';
import { Picture } from '../../labextension/src/explorer/picture/picture.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import { families } from '../../labextension/src/view/family.ts';
import { Shape, type VisibleGraph } from '../../labextension/src/view/visible.ts';
import { generate, randomFrom } from '../layout/graphs.ts';
import { toInput } from '../layout/input.ts';

interface Figures {
  readonly boxes: number;
  readonly layoutMs: number;
  /** From the layout to the first frame with the picture in it. */
  readonly firstPaintMs: number;
  /** Between frames, and spent in the script of one, while panning the whole graph. */
  readonly pan: Spread;
  readonly zoom: Spread;
  readonly script: Spread;
  /** The longest task on the main thread but the layout itself, in ms; 0 where none is over 50. */
  readonly longestTask: number;
  /** Frames that were drawn in a second in which nothing changed. */
  readonly idle: number;
}

interface Spread {
  readonly median: number;
  readonly p95: number;
}

const FRAMES = 120;

export async function measure(count: number): Promise<Figures> {
  const host = document.createElement('div');
  Object.assign(host.style, { position: 'relative', width: '1280px', height: '760px' });
  host.tabIndex = 0;
  document.body.replaceChildren(host);
  const began = performance.now();
  const scene = sceneOf(count);
  const layoutMs = performance.now() - began;
  await frame();
  const tasks: number[] = [];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration))).observe({
    type: 'longtask'
  });
  let drawn = 0;
  const times: number[] = [];
  const request = globalThis.requestAnimationFrame;
  const picture = new Picture(host, palettes.light, { select: () => undefined, toggle: () => undefined });
  const start = performance.now();
  picture.show(scene);
  picture.fit();
  await frame();
  await frame();
  const firstPaintMs = performance.now() - start;
  // From here on, what the picture asks for is counted.
  globalThis.requestAnimationFrame = callback =>
    request(now => {
      const from = performance.now();
      callback(now);
      times.push(performance.now() - from);
      drawn++;
    });
  host.focus();
  const wheel = (options: WheelEventInit): void => {
    host.dispatchEvent(
      new WheelEvent('wheel', { bubbles: true, cancelable: true, clientX: 640, clientY: 380, ...options })
    );
  };
  const pan = await run(request, i => wheel({ deltaX: i % 40 < 20 ? 3 : -3, deltaY: i % 60 < 30 ? 2 : -2 }));
  const script = spread(times);
  const zoom = await run(request, i => wheel({ deltaY: i % 40 < 20 ? -12 : 12, ctrlKey: true }));
  await wait(500);
  drawn = 0;
  await wait(1000);
  globalThis.requestAnimationFrame = request;
  const idle = drawn;
  picture.dispose();
  return { boxes: count, layoutMs, firstPaintMs, pan, zoom, script, longestTask: Math.max(0, ...tasks), idle };
}

/** Does something before each of many frames; gives the time between them. */
async function run(request: typeof requestAnimationFrame, does: (i: number) => void): Promise<Spread> {
  const gaps: number[] = [];
  let last = await new Promise<number>(resolve => request(resolve));
  for (let i = 0; i < FRAMES; i++) {
    does(i);
    const now = await new Promise<number>(resolve => request(resolve));
    gaps.push(now - last);
    last = now;
  }
  return spread(gaps);
}

function spread(times: readonly number[]): Spread {
  const sorted = Float64Array.from(times).sort();
  return { median: sorted[sorted.length >> 1] ?? 0, p95: sorted[Math.floor(0.95 * sorted.length)] ?? 0 };
}

const frame = (): Promise<unknown> => new Promise(resolve => requestAnimationFrame(resolve));
const wait = (ms: number): Promise<unknown> => new Promise(resolve => setTimeout(resolve, ms));

/** A graph as it would be visible, with operations of every family. */
function sceneOf(count: number): Scene {
  const graph = generate('flow', count, 1);
  const random = randomFrom(count);
  const input = toInput(graph, true);
  const none = new Uint8Array(count);
  const visible: VisibleGraph = {
    graph: undefined as never,
    count,
    item: Int32Array.from({ length: count }, (_, i) => -1 - i),
    node: Int32Array.from({ length: count }, (_, i) => i),
    times: new Int32Array(count).fill(1),
    parent: input.parent,
    shape: new Uint8Array(count).fill(Shape.box),
    family: Uint8Array.from({ length: count }, () => Math.floor(random() * families.length)),
    closed: none,
    ghost: none,
    label: Array.from({ length: count }, (_, i) => `op_${i % 97}`),
    whole: new Map(),
    detail: Array.from({ length: count }, (_, i) => (i % 3 ? '' : 'f32[128,64]')),
    chips: new Map(),
    upward: none,
    cables: [],
    beside: [],
    twin: new Int32Array(count).fill(-1),
    source: graph.source,
    target: graph.target,
    sourcePort: input.sourcePort,
    targetPort: input.targetPort,
    value: new Int32Array(graph.source.length)
  };
  return makeScene(visible, layout(input));
}

Object.assign(globalThis, { measureFrames: measure });
