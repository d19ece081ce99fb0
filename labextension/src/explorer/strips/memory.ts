/** The strip that tells what a program needs of memory: in one line, opened for the chart and for what is alive at the peak. */
import type { Document, Graph, Memory } from '../../document/graph.ts';
import { nodeLabel } from '../../view/label.ts';
import { peakOf } from '../../view/peak.ts';
import { ownSpot } from '../../view/spots.ts';
import { bytesText } from '../../view/words.ts';
import { button, element } from '../elements.ts';
import { fold } from './fold.ts';
import { takesKeys } from '../ownKeys.ts';
import { svg, svgText } from './plot.ts';
import { titled } from './titled.ts';

export interface MemoryActions {
  /** Shows nodes of a graph. */
  show(graph: number, nodes: readonly number[]): void;
}

/** So many values are listed, the largest. */
const LISTED = 8;
const WIDTH = 640;
const HEIGHT = 120;
const LEFT = 64;
const TOP = 16;
const BOTTOM = 18;
/** More steps than this are not told apart on a screen: of each few, the one that needs most is drawn. */
const MOST_POINTS = 600;

export class MemoryStrip {
  readonly root = element('section', 'jv-memory');

  constructor(
    private readonly source: Document,
    private readonly actions: MemoryActions,
    memory: Memory | undefined = source.memory[0]
  ) {
    const at = memory && source.programs[memory.program].stages.find(({ kind }) => kind === 'hlo')?.graph;
    this.root.hidden = at === undefined;
    this.root.setAttribute('aria-label', 'memory');
    if (at !== undefined) {
      this.fill(memory, at);
    }
  }

  private fill(memory: Memory, at: number): void {
    const [first, ...rest] = memory.words;
    const words = `${titled(this.source, 'memory', memory.program)}: ${first ?? ''}`;
    const { parts, more } = fold(words, 'What is in memory, and when');
    more.append(...rest.map(text => element('p', 'jv-memory-words', text)));
    if (memory.live.some(bytes => bytes > 0)) {
      more.append(this.chart(memory, at), this.alive(memory, at));
    } else {
      more.append(element('p', 'jv-memory-words', 'nothing is kept in between: each step needs as much as any other'));
    }
    this.root.replaceChildren(...parts);
  }

  /** What is needed over the steps: arguments and results below, temporary values above. */
  private chart(memory: Memory, at: number): HTMLElement {
    const base = memory.arguments + memory.results - memory.aliased;
    const { step: peak } = peakOf(memory);
    const top = base + memory.live[peak];
    const points = thinned(memory.live);
    const x = (step: number): number => LEFT + ((WIDTH - LEFT) * step) / Math.max(1, memory.live.length);
    const y = (bytes: number): number => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * bytes) / Math.max(1, top);
    const figure = element('figure', 'jv-memory-chart');
    const plot = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'slider' });
    plot.setAttribute('aria-label', `memory: ${memory.words.join('; ')}`);
    const floor = HEIGHT - BOTTOM;
    const outline = points.map(
      ({ step, bytes }, index) =>
        `${x(step)},${y(base + bytes)} ${x(points[index + 1]?.step ?? memory.live.length)},${y(base + bytes)}`
    );
    plot.append(
      svg('polygon', {
        class: 'jv-memory-temporary',
        points: `${LEFT},${y(base)} ${outline.join(' ')} ${WIDTH},${y(base)}`
      }),
      svg('rect', { class: 'jv-memory-base', x: LEFT, y: y(base), width: WIDTH - LEFT, height: floor - y(base) }),
      svg('line', { class: 'jv-memory-peak', x1: x(peak + 0.5), x2: x(peak + 0.5), y1: TOP, y2: floor }),
      peakText(x(peak + 0.5)),
      svgText(LEFT - 6, y(top) + 7, bytesText(top), 'end'),
      svgText(LEFT - 6, floor, '0', 'end'),
      svgText(WIDTH, HEIGHT - 5, `${memory.live.length} steps`, 'end')
    );
    if (y(base) - y(top) > 14 && floor - y(base) > 10) {
      plot.append(svgText(LEFT - 6, y(base) + 4, bytesText(base), 'end'));
    }
    const stepAt = (event: MouseEvent): number => {
      const { left, width } = plot.getBoundingClientRect();
      const place = ((event.clientX - left) / Math.max(1, width)) * WIDTH;
      return Math.floor(((place - LEFT) / (WIDTH - LEFT)) * memory.live.length);
    };
    const pointer = new StepPointer(plot, memory.live.length, x, step => this.stepText(at, memory, step, base));
    plot.append(pointer.root);
    plot.addEventListener('mousemove', event => pointer.point(stepAt(event as MouseEvent)));
    plot.addEventListener('mouseleave', () => pointer.leave());
    plot.addEventListener('click', event => {
      pointer.point(stepAt(event as MouseEvent));
      this.actions.show(at, [memory.step[pointer.step]]);
    });
    plot.setAttribute('tabindex', '0');
    takesKeys(plot, key => {
      const to = pointer.walked(key, peak);
      if (to !== null) {
        pointer.point(to);
      } else if (key === 'Enter' && pointer.shown) {
        this.actions.show(at, [memory.step[pointer.step]]);
      } else {
        return false;
      }
      return true;
    });
    plot.addEventListener('blur', () => pointer.leave());
    const caption = element('figcaption', '', 'over the steps of a run: ');
    caption.append(key('jv-memory-base'), ` arguments and results ${bytesText(base)}, `);
    caption.append(key('jv-memory-temporary'), ` temporary values; a click leads to the operation that runs then`);
    figure.append(plot, caption);
    return figure;
  }

  /** What runs at a step, where it was written, and what is in memory then. */
  private stepText(at: number, memory: Memory, step: number, base: number): string {
    const graph = this.source.graphs[at];
    const node = memory.step[step];
    const line = ownSpot(this.source, graph.stack[node])?.line;
    const name = this.source.strings[graph.name[node]] || nodeLabel(this.source, graph, node);
    const where = line === undefined ? '' : ` (line ${line})`;
    return `step ${step + 1}: ${name}${where}, ${bytesText(base + memory.live[step])}`;
  }

  private alive(memory: Memory, at: number): HTMLElement {
    const graph = this.source.graphs[at];
    const { alive } = peakOf(memory);
    const list = element('div', 'jv-run-lines');
    const most = memory.size[alive[0]] ?? 1;
    for (const value of alive.slice(0, LISTED)) {
      list.append(this.value(graph, at, memory, value, most));
    }
    if (alive.length > LISTED) {
      const rest = alive.slice(LISTED).reduce((sum, value) => sum + memory.size[value], 0);
      list.append(element('div', 'jv-memory-words', `and ${alive.length - LISTED} more, ${bytesText(rest)}`));
    }
    return list;
  }

  private value(graph: Graph, at: number, memory: Memory, value: number, most: number): HTMLElement {
    const node = memory.node[value];
    const name = this.source.strings[graph.name[node]] || nodeLabel(this.source, graph, node);
    const line = ownSpot(this.source, graph.stack[node])?.line;
    const row = button('jv-run-line', '', `Show ${name}`, () => this.actions.show(at, [node]));
    const filled = element('span', 'jv-run-bar');
    filled.style.width = `${Math.max(1, (100 * memory.size[value]) / most)}%`;
    const track = element('span', 'jv-run-track');
    track.append(filled);
    row.replaceChildren(
      element('code', '', name),
      track,
      element('span', 'jv-run-time', bytesText(memory.size[value])),
      element('span', 'jv-run-share', line === undefined ? '' : `line ${line}`)
    );
    return row;
  }
}

/** A line at one step of the chart, which follows the mouse or the arrow keys, and below it what is there. */
class StepPointer {
  readonly root = svg('g', { class: 'jv-memory-pointer' });
  /** The step that it was at last. */
  step = 0;
  shown = false;

  constructor(
    private readonly plot: SVGElement,
    private readonly count: number,
    private readonly x: (step: number) => number,
    private readonly textOf: (step: number) => string
  ) {
    for (const [name, value] of [
      ['aria-valuemin', 1],
      ['aria-valuemax', count],
      ['aria-valuenow', 1]
    ]) {
      plot.setAttribute(String(name), String(value));
    }
  }

  point(step: number): void {
    this.step = Math.min(this.count - 1, Math.max(0, step));
    this.shown = true;
    const x = this.x(this.step + 0.5);
    const line = svg('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM });
    const text = this.textOf(this.step);
    this.plot.setAttribute('aria-valuenow', String(this.step + 1));
    this.plot.setAttribute('aria-valuetext', text);
    this.root.replaceChildren(line, svgText(LEFT, HEIGHT - 5, text, 'start'));
  }

  leave(): void {
    this.shown = false;
    this.root.replaceChildren();
  }

  /** The step that a key leads to; the first key leads to the peak. */
  walked(key: string, peak: number): number | null {
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.count - 1 }[key];
    return to === undefined ? null : this.shown || key === 'Home' || key === 'End' ? to : peak;
  }
}

/** The word above the line at the peak, in the chart wherever that is. */
function peakText(x: number): SVGElement {
  const anchor = x > WIDTH - 20 ? 'end' : x < LEFT + 20 ? 'start' : 'middle';
  return svgText(x, TOP - 5, 'peak', anchor);
}

/** The steps of a long program by the largest of each few. */
function thinned(live: readonly number[]): { step: number; bytes: number }[] {
  const width = Math.max(1, Math.ceil(live.length / MOST_POINTS));
  const points: { step: number; bytes: number }[] = [];
  for (let step = 0; step < live.length; step += width) {
    points.push({ step, bytes: Math.max(...live.slice(step, step + width)) });
  }
  return points;
}

function key(name: string): SVGElement {
  const swatch = svg('svg', { class: 'jv-memory-key', viewBox: '0 0 10 10' });
  swatch.append(svg('rect', { class: name, x: 0, y: 0, width: 10, height: 10 }));
  return swatch;
}
