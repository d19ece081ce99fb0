/** The values of a run in words: of one node for the details, and the first bad one below the picture. */
import { follow } from '../../document/follow.ts';
import { NodeKind, type Document, type Graph, type ValuesOfRun } from '../../document/graph.ts';
import { operandsOf } from '../../text/body.ts';
import { nodeLabel, typeText } from '../../view/label.ts';
import { shareText, short } from '../../view/measures.ts';
import { ownSpot } from '../../view/spots.ts';
import { bytesText } from '../../view/words.ts';
import { button, element } from '../elements.ts';
import type { MeasureLine } from './measured.ts';
import { severityDot } from '../strips/findings.ts';
import { fold } from '../strips/fold.ts';
import { titled } from '../strips/titled.ts';

/** Of what the first bad one reads, so much is told. */
const MOST_READ = 2;
/** Heights of the bars of a histogram, as letters. */
const BARS = '▁▂▃▄▅▆▇█';

/** What is known of the value of a node; in another stage, that of the equation that it comes from. */
export function valueLines(document: Document, graph: Graph, node: number): MeasureLine[] {
  const at = document.graphs.indexOf(graph);
  for (const values of document.values) {
    const made = jaxprOf(document, values);
    const origins = at === made ? [node] : at < 0 ? [] : follow(document, at, node, made).map(one => one.node);
    const rows = origins.length === 1 ? [...values.node.keys()].filter(row => values.node[row] === origins[0]) : [];
    if (rows.length) {
      return rows.flatMap(row => linesOf(values, row, rows.length > 1 ? values.name?.[row] : undefined));
    }
    if (origins.length === 1 && leftOut(document.graphs[made], values).has(origins[0])) {
      return [{ term: 'values', text: 'not looked at', note: ' inside of a kernel: ex.values(every=True) does' }];
    }
  }
  return [];
}

const known = new WeakMap<ValuesOfRun, ReadonlySet<number>>();

/** The operations outside of bodies with values that were not looked at, because no kernel writes them. */
function leftOut(graph: Graph, values: ValuesOfRun): ReadonlySet<number> {
  let found = known.get(values);
  if (!found) {
    const seen = new Set(values.node);
    const nodes = new Set<number>();
    for (let node = 0; node < graph.nodeCount; node++) {
      const made = graph.kind[node] === NodeKind.operation && graph.firstValue[node + 1] > graph.firstValue[node];
      if (made && graph.region[node] === 0 && !seen.has(node)) {
        nodes.add(node);
      }
    }
    known.set(values, (found = nodes));
  }
  return found;
}

function jaxprOf(document: Document, { program }: ValuesOfRun): number {
  return document.programs[program].stages.find(({ kind }) => kind === 'jaxpr')?.graph ?? -1;
}

/** `called` tells one of several results from the others. */
function linesOf(values: ValuesOfRun, row: number, called = 'values'): MeasureLine[] {
  const finite = values.histogram[row].length > 0;
  const counts = (['nan', 'infinite', 'zero', 'denormal'] as const)
    .filter(name => values[name][row] > 0)
    .map(name => `${shareText(values[name][row], values.count[row])} ${WORDS[name]}`);
  const spread = `mean ${signed(values.mean[row])}, deviation ${short(values.deviation[row])}`;
  const range = `${signed(values.least[row])} to ${signed(values.most[row])}`;
  return [
    ...(finite ? [{ term: called, text: `${range} ${sparkline(values.histogram[row])}`, note: ` ${spread}` }] : []),
    ...(counts.length ? [{ term: finite ? '' : called, text: counts.join(', '), note: '' }] : [])
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

/** So many values are listed: those that are not finite, then what the program makes, then what it is given. */
const LISTED = 12;

/** The strip that says whether all values were finite, with the way to the first that was not; opened for a list. */
export function valuesStrip(
  document: Document,
  follow: (graph: number, node: number) => void,
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
  const count = `${counted(values.node.length, 'value')} looked at, ${bytesText(values.bytes)}`;
  const { bad } = values;
  const name = titled(document, 'values', values.program);
  const said = bad < 0 ? `all of them finite (${count})` : `${firstBad(document, graph, values)} (${count})`;
  const { parts, head, more } = fold(`${name}: ${said}`, 'The range of each value');
  if (bad >= 0) {
    head.prepend(severityDot('warning'));
    head.append(button('jv-link', 'show', `Show where: ${nameOf(document, graph, bad)}`, () => follow(at, bad)));
  }
  more.append(...list(document, graph, values, node => follow(at, node)));
  const left = leftOut(graph, values).size;
  if (left) {
    const text = `${counted(left, 'operation')} inside of kernels ${left === 1 ? 'was' : 'were'} not looked at, because no kernel writes what they make: ex.values(every=True) looks at all, ex.values(inside=…) inside of one`;
    more.append(element('p', 'jv-memory-words', text));
  }
  root.append(...parts);
  return root;
}

function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** Which value is the first that is not finite, in words. */
function firstBad(document: Document, graph: Graph, values: ValuesOfRun): string {
  const { bad } = values;
  const row = values.node.indexOf(bad);
  const what = row >= 0 && values.nan[row] > 0 ? 'a NaN' : row >= 0 ? 'an infinity' : 'a number that is not finite';
  const line = ownSpot(document, graph.stack[bad])?.line;
  const where = line === undefined ? '' : ` in line ${line}`;
  return `the first that holds ${what} is ${nameOf(document, graph, bad)}${where}${readBy(document, graph, values)}`;
}

/** The ranges of what the first bad one reads: one that holds negative numbers, say, is why a root is bad. */
function readBy(document: Document, graph: Graph, values: ValuesOfRun): string {
  const read = new Set(
    [...operandsOf(graph, values.bad)].filter(value => value >= 0).map(value => graph.valueNode[value])
  );
  const told = [...read].flatMap(node => {
    const row = values.node.indexOf(node);
    return row < 0 || !values.histogram[row].length
      ? []
      : [`${nameOf(document, graph, node)}, ${signed(values.least[row])} to ${signed(values.most[row])}`];
  });
  return told.length ? `; it reads ${told.slice(0, MOST_READ).join(', and ')}` : '';
}

function nameOf(document: Document, graph: Graph, node: number): string {
  return document.strings[graph.name[node]] || nodeLabel(document, graph, node);
}

/** The type of a value; of several results of a node, of that one. */
function typeOf(document: Document, graph: Graph, values: ValuesOfRun, row: number): string {
  const value = graph.firstValue[values.node[row]] + (values.result?.[row] ?? 0);
  return value < graph.firstValue[values.node[row] + 1] ? typeText(document, graph, value) : '';
}

/** The values by name, each with its histogram, its range and what is not finite. */
function list(document: Document, graph: Graph, values: ValuesOfRun, show: (node: number) => void): HTMLElement[] {
  const rows = values.node.map((_, row) => row).filter(row => values.count[row] > 0);
  const finite = (row: number): boolean => !values.nan[row] && !values.infinite[row];
  const made = (row: number): boolean => graph.kind[values.node[row]] === NodeKind.operation;
  const good = rows.filter(finite);
  const listed = [...rows.filter(row => !finite(row)), ...good.filter(made), ...good.filter(row => !made(row))].slice(
    0,
    LISTED
  );
  const table = element('div', 'jv-run-lines');
  for (const row of listed) {
    const node = values.node[row];
    const name = values.name?.[row] || nameOf(document, graph, node);
    const line = ownSpot(document, graph.stack[node])?.line;
    const shown = button('jv-run-line jv-value-line', '', `Show ${name}`, () => show(node));
    const lines = linesOf(values, row);
    const range = lines.find(({ term }) => term === 'values');
    shown.replaceChildren(
      element('code', '', [name, ...(values.name ? [typeOf(document, graph, values, row)] : [])].join(' ')),
      element('span', 'jv-value-range', [range?.text, range?.note.trim()].filter(Boolean).join(', ')),
      element('span', '', lines.find(({ term }) => !term)?.text ?? ''),
      element('span', 'jv-run-share', line === undefined ? '' : `line ${line}`)
    );
    table.append(shown);
  }
  const rest = rows.length - listed.length;
  return rest > 0
    ? [table, element('p', 'jv-memory-words', `and ${rest} more: select an operation for its own`)]
    : [table];
}
