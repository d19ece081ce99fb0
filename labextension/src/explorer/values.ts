/** The values of a run in words: of one node for the details, and the first bad one below the picture. */
import { follow } from '../document/follow.ts';
import type { Document, Graph, ValuesOfRun } from '../document/graph.ts';
import { nodeLabel } from '../view/label.ts';
import { shareText, short } from '../view/measures.ts';
import { ownSpot } from '../view/spots.ts';
import { bytesText } from '../view/words.ts';
import { button, element } from './elements.ts';
import type { MeasureLine } from './measured.ts';
import { titled } from './titled.ts';

/** Heights of the bars of a histogram, as letters. */
const BARS = '▁▂▃▄▅▆▇█';

/** What is known of the value of a node; in another stage, that of the equation that it comes from. */
export function valueLines(document: Document, graph: Graph, node: number): MeasureLine[] {
  const at = document.graphs.indexOf(graph);
  for (const values of document.values) {
    const made = jaxprOf(document, values);
    const origins = at === made ? [node] : at < 0 ? [] : follow(document, at, node, made).map(one => one.node);
    const row = origins.length === 1 ? values.node.indexOf(origins[0]) : -1;
    if (row >= 0) {
      return linesOf(values, row);
    }
  }
  return [];
}

function jaxprOf(document: Document, { program }: ValuesOfRun): number {
  return document.programs[program].stages.find(({ kind }) => kind === 'jaxpr')?.graph ?? -1;
}

function linesOf(values: ValuesOfRun, row: number): MeasureLine[] {
  const finite = values.histogram[row].length > 0;
  const counts = (['nan', 'infinite', 'zero', 'denormal'] as const)
    .filter(name => values[name][row] > 0)
    .map(name => `${shareText(values[name][row], values.count[row])} ${WORDS[name]}`);
  const spread = `mean ${signed(values.mean[row])}, deviation ${short(values.deviation[row])}`;
  const range = `${signed(values.least[row])} to ${signed(values.most[row])}`;
  return [
    ...(finite ? [{ term: 'values', text: `${range} ${sparkline(values.histogram[row])}`, note: ` ${spread}` }] : []),
    ...(counts.length ? [{ term: finite ? '' : 'values', text: counts.join(', '), note: '' }] : [])
  ];
}

const WORDS = { nan: 'NaN', infinite: 'infinite', zero: 'zero', denormal: 'too small to be exact' } as const;

function signed(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function sparkline(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  return counts.map(count => BARS[Math.ceil((count / most) * (BARS.length - 1))]).join('');
}

/** The strip that says whether all values were finite, with the way to the first that was not. */
export function valuesStrip(
  document: Document,
  show: (graph: number, nodes: readonly number[]) => void,
  values: ValuesOfRun | undefined = document.values[0]
): HTMLElement {
  const root = element('section', 'jv-values');
  root.setAttribute('aria-label', 'values');
  root.hidden = !values;
  if (!values) {
    return root;
  }
  const at = jaxprOf(document, values);
  const graph = document.graphs[at];
  const count = `${values.node.length} values, ${bytesText(values.bytes)}`;
  const { bad } = values;
  const title = titled(document, 'values', values.program);
  if (bad < 0) {
    root.append(`${title}: all of them finite (${count})`);
    return root;
  }
  const row = values.node.indexOf(bad);
  const what = row >= 0 && values.nan[row] > 0 ? 'a NaN' : row >= 0 ? 'an infinity' : 'a number that is not finite';
  const line = ownSpot(document, graph.stack[bad])?.line;
  const name = document.strings[graph.name[bad]] || nodeLabel(document, graph, bad);
  root.append(`${title}: the first that holds ${what} is ${name}${line === undefined ? '' : ` in line ${line}`} `);
  root.append(button('jv-link', 'show', `Show where: ${name}`, () => show(at, [bad])));
  return root;
}
