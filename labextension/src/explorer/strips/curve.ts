/** What a loop costs over its number of turns, as a loop and unrolled: two lines over logarithmic axes. */
import type { Compiling } from '../../document/graph.ts';
import { timeText } from '../../view/measures.ts';
import { element } from '../elements.ts';
import { logarithmic, plotted, svg, svgText } from './plot.ts';

type Curve = NonNullable<Compiling['curve']>;

const WIDTH = 480;
const HEIGHT = 190;
const MARGIN = { left: 56, right: 74, top: 10, bottom: 32 } as const;
const NAME_HEIGHT = 11;
const LINES = [
  ['loop', 'as a loop'],
  ['unrolled', 'unrolled']
] as const;

/** The plot, and the same numbers as a table for those who cannot see it. */
export function turnsCurve(curve: Curve): HTMLElement {
  const figure = element('figure', 'jv-roofline jv-curve');
  const times = LINES.flatMap(([name]) => curve[name]).filter(seconds => seconds > 0);
  const x = logarithmic(curve.turns, [MARGIN.left, WIDTH - MARGIN.right]);
  const y = logarithmic(times, [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const plot = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${curve.name}: time until it can run, over the number of turns`
  });
  for (const tick of x.ticks) {
    const at = x.at(tick);
    plot.append(svg('line', { class: 'jv-plot-grid', x1: at, x2: at, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
    plot.append(svgText(at, HEIGHT - MARGIN.bottom + 13, tick.toLocaleString('en'), 'middle'));
  }
  for (const tick of y.ticks) {
    const at = y.at(tick);
    plot.append(svg('line', { class: 'jv-plot-grid', x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: at, y2: at }));
    plot.append(svgText(MARGIN.left - 5, at + 3, timeText(tick), 'end'));
  }
  plot.append(svgText((MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 4, 'turns', 'middle'));
  let above = -Infinity;
  const ends = LINES.map(([name, words]) => ({ name, words, points: plotted(curve.turns, curve[name], x, y) }))
    .filter(({ points }) => points.length)
    .sort((one, other) => lastOf(one.points)[1] - lastOf(other.points)[1]);
  for (const { name, words, points } of ends) {
    plot.append(svg('polyline', { class: `jv-curve-${name}`, points: points.map(point => point.join(',')).join(' ') }));
    points.forEach(([left, top]) =>
      plot.append(svg('circle', { class: `jv-curve-${name}`, cx: left, cy: top, r: 2.5 }))
    );
    const [left, top] = lastOf(points);
    // Names of lines that end next to each other stand below each other.
    above = Math.max(top + 3, above + NAME_HEIGHT);
    plot.append(svgText(left + 6, above, words, 'start'));
  }
  const own = curve.own > 1 ? `; here it has ${curve.own.toLocaleString('en')}` : '';
  figure.append(
    plot,
    element('figcaption', '', `${curve.name}, by itself: time until it can run, over its turns${own}`)
  );
  figure.append(table(curve));
  return figure;
}

function lastOf<Item>(items: readonly Item[]): Item {
  return items[items.length - 1];
}

function table(curve: Curve): HTMLElement {
  const grid = element('table', 'jv-curve-table');
  const head = element('tr', '');
  head.append(...['turns', 'loop: ready', 'runs', 'unrolled: ready', 'runs'].map(text => element('th', '', text)));
  grid.append(head);
  curve.turns.forEach((turns, row) => {
    const line = element('tr', '');
    const cells = [curve.loop, curve.loopRun, curve.unrolled, curve.unrolledRun].map(column =>
      column[row] < 0 ? (column === curve.unrolled ? 'not tried' : '') : timeText(column[row])
    );
    line.append(...[turns.toLocaleString('en'), ...cells].map(text => element('td', '', text)));
    grid.append(line);
  });
  return grid;
}
