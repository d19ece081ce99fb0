/**
 * The roofline of a run: each kernel by what it computes for a byte and how fast, under what the device can do at most.
 * A dot is as large as the time of its kernel; both axes are logarithmic.
 */
import type { Document, Graph, Measures } from '../../document/graph.ts';
import { flopsText, measuredOf, shareText, short, timeText, wholeOf, type Measured } from '../../view/measures.ts';
import { nodeLabel } from '../../view/label.ts';
import { bytesText } from '../../view/words.ts';
import { element } from '../elements.ts';
import { limitOf } from '../details/measured.ts';
import { takesKeys } from '../ownKeys.ts';
import { logarithmic, svg, svgText } from './plot.ts';

const WIDTH = 420;
const HEIGHT = 200;
const MARGIN = { left: 78, right: 12, top: 10, bottom: 34 } as const;
const LARGEST = 11;
const SMALLEST = 2.5;
/** Kernels of less than this share of the time are no dots: there would be hundreds. */
const LEAST_SHARE = 0.002;
/** No dot stands at the border: powers of ten that lie nearer get one more. */
const ROOM = 0.1;
/** Dots whose centres lie no further apart lie at the same place. */
const SLACK = 0.75;
/** A dot above the slope by this factor is there because of caches, and not of an error of measuring. */
const CACHED = 1.1;

export interface Dot {
  readonly node: number;
  readonly label: string;
  /** FLOP for a byte, and FLOP a second. */
  readonly intensity: number;
  readonly rate: number;
  readonly seconds: number;
}

/** The kernels that have a place in the plot, the longest first. */
export function dotsOf(document: Document, graph: Graph, measured: Measured): Dot[] {
  const { seconds, flops, bytes } = measured.own;
  const whole = wholeOf(measured, 'seconds');
  const found: Dot[] = [];
  for (let node = 0; node < graph.nodeCount; node++) {
    if (flops[node] > 0 && bytes[node] > 0 && seconds[node] > LEAST_SHARE * whole) {
      found.push({
        node,
        label: document.strings[graph.name[node]] || nodeLabel(document, graph, node),
        intensity: flops[node] / bytes[node],
        rate: flops[node] / seconds[node],
        seconds: seconds[node]
      });
    }
  }
  return found.sort((a, b) => b.seconds - a.seconds);
}

export interface Placed {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly r: number;
}

/**
 * Which of the dots that lie under a place is meant: the one whose centre is nearest. Kernels that are alike lie one on
 * the other, so where the nearest was picked `last`, the next of those that are as near is.
 */
export function nearestDot(dots: readonly Placed[], [x, y]: readonly [number, number], last: number): number {
  const away = (dot: Placed): number => Math.hypot(dot.x - x, dot.y - y);
  const under = dots.filter(dot => away(dot) <= dot.r + SLACK);
  const least = Math.min(...under.map(away));
  const nearest = under.filter(dot => away(dot) <= least + SLACK).map(dot => dot.node);
  return nearest.length ? nearest[(nearest.indexOf(last) + 1) % nearest.length] : -1;
}

/** A place of the mouse in the units of the plot; null where it is drawn nowhere, or a key was pressed. */
function placeIn(plot: SVGElement, { clientX, clientY, detail }: MouseEvent): readonly [number, number] | null {
  const { left, top, width, height } = plot.getBoundingClientRect();
  const scale = Math.max(WIDTH / width, HEIGHT / height);
  if (!detail || !Number.isFinite(scale)) {
    return null;
  }
  // It stands in the middle of the room that it has.
  const [spareX, spareY] = [width - WIDTH / scale, height - HEIGHT / scale];
  return [(clientX - left - spareX / 2) * scale, (clientY - top - spareY / 2) * scale];
}

/** The plot, or null where there is nothing to place; `pick` is called with the node of a dot. */
export function roofline(
  document: Document,
  graph: Graph,
  run: Measures,
  pick: (node: number) => void
): HTMLElement | null {
  const measured = measuredOf(document, graph);
  const { flops: most = 0, bytes: fastest = 0 } = run.ceilings ?? {};
  const dots = measured ? dotsOf(document, graph, measured) : [];
  if (!measured || !dots.length || !most || !fastest) {
    return null;
  }
  const ridge = most / fastest;
  const x = logarithmic([...dots.map(dot => dot.intensity), ridge], [MARGIN.left, WIDTH - MARGIN.right], ROOM);
  const y = logarithmic([...dots.map(dot => dot.rate), most], [HEIGHT - MARGIN.bottom, MARGIN.top], ROOM);
  const figure = element('figure', 'jv-roofline');
  const plot = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'group', 'aria-label': 'roofline' });
  for (const tick of x.ticks) {
    const at = x.at(tick);
    plot.append(svg('line', { class: 'jv-plot-grid', x1: at, x2: at, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
    plot.append(svgText(at, HEIGHT - MARGIN.bottom + 13, short(tick), 'middle'));
  }
  for (const tick of y.ticks) {
    const at = y.at(tick);
    plot.append(svg('line', { class: 'jv-plot-grid', x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: at, y2: at }));
    plot.append(svgText(MARGIN.left - 5, at + 3, `${flopsText(tick)}/s`, 'end'));
  }
  plot.append(svgText((MARGIN.left + WIDTH) / 2, HEIGHT - 4, 'FLOP for each byte', 'middle'));
  const roof = [
    [x.low, x.low * fastest],
    [ridge, most],
    [x.high, most]
  ].map(([intensity, rate]) => `${x.at(intensity)},${Math.min(y.at(rate), HEIGHT - MARGIN.bottom)}`);
  plot.append(svg('polyline', { class: 'jv-plot-roof', points: roof.join(' ') }));
  const longest = dots[0].seconds;
  const placed: Placed[] = [];
  // The one that was picked last: one that lies at the same place comes next.
  let last = -1;
  const whole = wholeOf(measured, 'seconds');
  for (const dot of dots) {
    const r = Math.max(SMALLEST, LARGEST * Math.sqrt(dot.seconds / longest));
    const [cx, cy] = [x.at(dot.intensity), y.at(dot.rate)];
    placed.push({ node: dot.node, x: cx, y: cy, r });
    const circle = svg('circle', {
      class: 'jv-plot-dot',
      cx,
      cy,
      r,
      tabindex: 0,
      role: 'button'
    });
    const limit = limitOf(document, graph, measured, dot.node);
    const said = [
      `${dot.label}: ${timeText(dot.seconds)}`,
      shareText(dot.seconds, whole),
      `${flopsText(dot.rate)}/s`,
      ...(limit ? [limit] : [])
    ].join(', ');
    circle.setAttribute('aria-label', said);
    circle.append(Object.assign(svg('title', {}), { textContent: said }));
    circle.addEventListener('click', event => {
      const at = placeIn(plot, event as MouseEvent);
      const meant = at && placed.length > 1 ? nearestDot(placed, at, last) : dot.node;
      last = meant < 0 ? dot.node : meant;
      pick(last);
    });
    takesKeys(circle, key => {
      if (key === 'Enter') {
        pick(dot.node);
      }
      return key === 'Enter';
    });
    plot.append(circle);
  }
  const caption = element('figcaption', '', `each dot is a kernel, under what the device can do at most: `);
  caption.append(`${bytesText(fastest)}/s on the slope, ${flopsText(most)}/s on the flat`);
  if (dots.some(dot => dot.rate > CACHED * dot.intensity * fastest)) {
    caption.append('; what is above the slope has its data from caches');
  }
  figure.append(plot, caption);
  return figure;
}
