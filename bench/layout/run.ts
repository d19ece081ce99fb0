/** Draws the graphs with every engine and prints the figures: `node --import tsx bench/layout/run.ts [OPTION ...]`. */
import { parseArgs } from 'node:util';
import { layout } from '../../labextension/src/layout/layout.ts';
import { dagre, dot, elk, jaxviz, type Drawn } from './engines.ts';
import { toInput } from './input.ts';
import { generate, type BenchGraph, type Kind } from './graphs.ts';
import { measure, type Figures } from './measure.ts';
import { readDocuments } from './real.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100,500,1000,2000' },
    graphs: { type: 'string', default: '10' },
    slow: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1000' },
    only: { type: 'string' },
    documents: { type: 'string' }
  }
});

interface Row extends Figures {
  readonly milliseconds: number;
}

const names = ['jaxviz', 'dot', 'jaxviz, ports', 'dot, ports', 'dagre', 'elkjs'];
const columns = [
  'ms',
  'crossings',
  'length',
  'between',
  'bends',
  'width',
  'height',
  'Mpx²',
  'through',
  'overlaps',
  'missing'
];

async function drawAll(graph: BenchGraph, slow: boolean): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  const add = (name: string, drawn: Drawn): void => {
    rows.set(name, { milliseconds: drawn.milliseconds, ...measure(graph, drawn) });
  };
  const own = jaxviz(graph);
  add('jaxviz', own);
  add('jaxviz, ports', jaxviz(graph, true));
  const rowGap = rowGapOf(graph, own);
  add('dot', dot(graph, rowGap));
  add('dot, ports', dot(graph, rowGap, true));
  if (slow) {
    add('dagre', await dagre(graph, rowGap));
    add('elkjs', await elk(graph, rowGap));
  }
  return rows;
}

/** Between a box and the next one below that an edge leads to: the median. */
function rowGapOf(graph: BenchGraph, { y }: Drawn): number {
  const nearest = new Float64Array(graph.count).fill(Infinity);
  graph.source.forEach((source, edge) => {
    const gap = y[graph.target[edge]] - y[source] - graph.height[source];
    nearest[source] = gap > 0 ? Math.min(nearest[source], gap) : nearest[source];
  });
  const gaps = nearest.filter(Number.isFinite).sort();
  return gaps.length ? gaps[gaps.length >> 1] : 40;
}

function mean(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0) / Math.max(1, rows.length);
}

function printRow(name: string, rows: readonly Row[]): void {
  const cells = [
    mean(rows, row => row.milliseconds).toFixed(1),
    mean(rows, row => row.crossings).toFixed(0),
    mean(rows, row => row.length).toFixed(0),
    mean(rows, row => row.between).toFixed(0),
    mean(rows, row => row.bends).toFixed(2),
    mean(rows, row => row.width).toFixed(0),
    mean(rows, row => row.height).toFixed(0),
    mean(rows, row => (row.width * row.height) / 1e6).toFixed(2),
    ...(['through', 'overlaps', 'missing'] as const).map(key => mean(rows, row => row[key]).toFixed(1))
  ];
  console.log(`${name.padEnd(28)}${cells.map(cell => cell.padStart(10)).join('')}`);
}

/** A table of the engines, and what the ratios are. */
function printTable(title: string, drawings: readonly Map<string, Row>[]): void {
  console.log(`\n${title.padEnd(28)}${columns.map(column => column.padStart(10)).join('')}`);
  for (const name of names) {
    const rows = drawings.flatMap(drawing => drawing.get(name) ?? []);
    if (rows.length) {
      printRow(rows.length < drawings.length ? `${name} (${rows.length})` : name, rows);
    }
  }
  if (drawings[0].has('dot')) {
    console.log(`  jaxviz: ${ratios(drawings, 'jaxviz', 'dot')}`);
    console.log(`  with ports: ${ratios(drawings, 'jaxviz, ports', 'dot, ports')}`);
  }
}

function ratios(drawings: readonly Map<string, Row>[], name: string, dotName: string): string {
  const against = (other: string, of: (row: Row) => number): number[] =>
    drawings.flatMap(drawing => {
      const [own, theirs] = [drawing.get(name), drawing.get(other)];
      return own && theirs ? [of(own) / Math.max(1, of(theirs))] : [];
    });
  const middle = (list: readonly number[]): string => (list.reduce((a, b) => a + b, 0) / list.length).toFixed(2);
  const crossings = against(dotName, row => row.crossings);
  const parts = [
    `crossings ${middle(crossings)} of dot's (worst ${Math.max(...crossings).toFixed(2)})`,
    `length ${middle(against(dotName, row => row.length))} (centres ${middle(against(dotName, row => row.between))})`
  ];
  for (const other of [dotName, 'dagre', 'elkjs']) {
    const pairs = drawings.filter(drawing => drawing.has(other));
    if (pairs.length) {
      const total = (which: string): number => pairs.reduce((sum, p) => sum + (p.get(which)?.milliseconds ?? 0), 0);
      parts.push(`${(total(other) / total(name)).toFixed(1)} times faster than ${other}`);
    }
  }
  return parts.join(', ');
}

async function generated(): Promise<void> {
  const sizes = values.sizes.split(',').map(Number);
  jaxviz(generate('flow', 500, 1)); // warms the engine up, as a page does that has drawn before
  for (const kind of ['flow', 'region'] as Kind[]) {
    for (const size of sizes) {
      const drawings: Map<string, Row>[] = [];
      for (let i = 0; i < Number(values.graphs); i++) {
        drawings.push(await drawAll(generate(kind, size, Number(values.seed) + i), i < Number(values.slow)));
      }
      printTable(`${kind} ${size}, ${values.graphs} graphs`, drawings);
    }
  }
}

async function real(folder: string): Promise<void> {
  jaxviz(generate('flow', 500, 1));
  for (const { flat, nested } of readDocuments(folder)) {
    if (flat.count < 12) {
      continue;
    }
    const start = performance.now();
    const before = process.cpuUsage();
    layout(nested);
    const milliseconds = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    const title = `${flat.name} ${flat.count}`;
    // dot and the others take minutes where residuals run through hundreds of rows.
    if (flat.count <= 400) {
      printTable(title, [await drawAll(flat, flat.count <= 150 && Number(values.slow) > 0)]);
    } else {
      const own = jaxviz(flat);
      printTable(title, [new Map([['jaxviz', { milliseconds: own.milliseconds, ...measure(flat, own) }]])]);
    }
    console.log(
      `  in its regions: ${milliseconds.toFixed(1)} ms, ${((user + system) / 1000).toFixed(1)} of the processors`
    );
  }
}

function large(): void {
  console.log(`\n${'jaxviz alone'.padEnd(28)}${columns.map(column => column.padStart(10)).join('')}`);
  for (const size of [5_000, 10_000, 20_000, 100_000]) {
    const graph = generate('flow', size, Number(values.seed));
    const start = performance.now();
    const { simplified } = layout(toInput(graph, true));
    const milliseconds = performance.now() - start;
    const drawn = jaxviz(graph, true);
    printRow(`flow ${size}`, [{ milliseconds, ...measure(graph, drawn) }]);
    simplified.forEach(words => console.log(`  ${words}`));
  }
}

async function main(): Promise<void> {
  const wanted = (part: string): boolean => !values.only || values.only === part;
  if (wanted('generated')) {
    await generated();
  }
  if (values.documents && wanted('real')) {
    await real(values.documents);
  }
  if (wanted('large')) {
    large();
  }
}

void main();
