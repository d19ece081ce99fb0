import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlain } from '../../document/decode.ts';
import { FateKind, LinkKind, type Document } from '../../document/graph.ts';
import { affine } from '../../document/sketch.ts';
import { details } from '../details/details.ts';
import { element } from '../elements.ts';
import { showDetails } from '../details/inspector.ts';
import { SourcePane, type Written } from './source.ts';
import { withWindow } from '../testWindow.ts';

withWindow();

/** `affine` with its source in two files: dot_general on line 3 of one; add and tanh on lines 8 and 9 of the other. */
function twoFiles(): Document {
  const plain = affine().plain();
  const strings = plain.strings as string[];
  const string = (text: string): number => strings.push(text) - 1;
  const [one, two] = [string('one.py'), string('two.py')];
  plain.files = {
    path: [one, two],
    label: [one, two],
    library: [0, 0],
    start: [2, 8],
    text: [string('def product(w, x):\n    return w @ x'), string(`y = y + b${' + 0'.repeat(80)}\ny = tanh(y)`)]
  };
  const name = string('affine');
  plain.frames = {
    file: [0, 1, 1],
    function: [name, name, name],
    line: [3, 8, 9],
    column: [0, 0, 0],
    endLine: [3, 8, 9],
    endColumn: [1, 1, 1]
  };
  plain.stacks = { frame: [0, 1, 2], parent: [-1, -1, -1] };
  plain.graphs[0].nodes.stack = [-1, -1, -1, 0, 1, 2, -1];
  const kind = [0, 0, 0, FateKind.alone, FateKind.fused, FateKind.dead, 0];
  plain.fates = [{ graph: 0, kind, where: kind.map(() => 0), by: kind.map(() => -1) }];
  return decodePlain(plain);
}

/** The same before and after the compiler, which merged the operation of line 8 with that of line 3. */
function merged(): Document {
  const document = twoFiles();
  const [graph] = document.graphs;
  const [program] = document.programs;
  const links = { from: 0, to: 1, source: Int32Array.of(3, 4), target: Int32Array.of(3, 3), shares: {} };
  return {
    ...document,
    graphs: [graph, { ...graph, kind: graph.kind.slice(), stack: Int32Array.of(-1, -1, -1, 0, -1, 2, -1) }],
    programs: [{ ...program, stages: [...program.stages, { kind: 'hlo', graph: 1, seconds: {} }] }],
    links: [{ ...links, kind: Uint8Array.of(LinkKind.merged, LinkKind.merged) }]
  };
}

const NOTHING = {
  choose: () => undefined,
  chosen: () => undefined,
  hint: () => undefined,
  tint: () => '',
  differing: () => new Map()
};

function paneOf(document: Document, graph = 0, read: Written | null = null): { pane: SourcePane; picked: number[][] } {
  const picked: number[][] = [];
  const pane = new SourcePane(document, { ...NOTHING, pick: nodes => picked.push([...nodes]), close: () => undefined });
  pane.chosen = read;
  pane.fill(document.graphs[graph]);
  return { pane, picked };
}

const texts = (pane: SourcePane, what: string): (string | null)[] =>
  [...pane.root.querySelectorAll(what)].map(one => one.textContent);

test('each line says how many operations come from it and how many of them are gone', () => {
  const { pane } = paneOf(twoFiles());
  assert.deepEqual(texts(pane, '.jv-source-file'), ['one.py', 'two.py']);
  assert.deepEqual(texts(pane, '.jv-line-number'), ['2', '3', '8', '9']);
  assert.deepEqual(texts(pane, '.jv-line-count'), ['', '1', '1', '1 gone']);
  const last = [...pane.root.querySelectorAll('.jv-line')].at(-1) as HTMLElement;
  assert.equal(last.title, '1 operation, none of them kept by the compiler');
});

test('a click on a line gives its operations, and operations mark all of their lines', () => {
  const document = twoFiles();
  const { pane, picked } = paneOf(document);
  [...pane.root.querySelectorAll('button.jv-line')].forEach(line => (line as HTMLElement).click());
  assert.deepEqual(picked, [[3], [4], [5]]);
  pane.mark(document.graphs[0], [3, 5]);
  assert.deepEqual(texts(pane, '.jv-marked .jv-line-number'), ['3', '9']);
  pane.mark(document.graphs[0], []);
  assert.deepEqual(texts(pane, '.jv-marked'), []);
});

test('where there is no source, that is said', () => {
  const { pane } = paneOf(decodePlain(affine().plain()), 0, 'python');
  assert.match(pane.root.textContent ?? '', /source of this program is not at hand/);
  const document = twoFiles();
  const text = document.files.text.map(() => 0);
  const elsewhere = paneOf({ ...document, files: { ...document.files, text } }, 0, 'python').pane;
  assert.match(elsewhere.root.textContent ?? '', /lines of this program are in .*one\.py, .*two\.py, of which nothing/);
});

test('what is indented far has room for its words, and goes on below them', () => {
  const document = twoFiles();
  const at = document.strings.findIndex(text => text.startsWith('def product'));
  const far = `def product(w, x):\n${' '.repeat(40)}return w @ x`;
  const { pane } = paneOf({ ...document, strings: document.strings.map((text, i) => (i === at ? far : text)) });
  const [first, second] = [...pane.root.querySelectorAll<HTMLElement>('.jv-line code')];
  assert.equal(second.textContent, `${' '.repeat(16)}return w @ x`);
  assert.deepEqual(
    [first, second].map(code => code.style.getPropertyValue('--jv-indent')),
    ['2', '18']
  );
});

test('lines that take longer than a run say why', () => {
  const timed = (seconds: number): Document => {
    const document = twoFiles();
    const run = { program: 0, device: 'CPU', devices: 1, runs: 3, words: [], ceilings: {}, coverage: 1 };
    const figures = { jaxpr: { node: [3], seconds: [seconds] } };
    return { ...document, measures: [{ ...run, seconds: { median: 0.001, wall: 0.004 }, figures }] };
  };
  assert.deepEqual(texts(paneOf(timed(0.0005)).pane, '.jv-source-why'), []);
  const { pane } = paneOf(timed(0.003));
  assert.deepEqual(texts(pane, '.jv-line-time'), ['3 ms']);
  assert.deepEqual(texts(pane, '.jv-source-why'), [
    'Lines are timed with the profiler on (a run took 4 ms then), and what runs at once is added up; the median of 1 ms is without it.'
  ]);
});

test('what was merged stands on the lines of all that it was made of', () => {
  const document = merged();
  const { pane, picked } = paneOf(document, 1);
  assert.deepEqual(texts(pane, '.jv-line-count'), ['', '1', '1', '1']);
  pane.mark(document.graphs[1], [3]);
  assert.deepEqual(texts(pane, '.jv-marked .jv-line-number'), ['3', '8']);
  pane.root.querySelectorAll<HTMLElement>('.jv-line')[2].click();
  assert.deepEqual(picked, [[3]]);
  const { places, otherPlaces } = details(document, document.graphs[1], 3);
  assert.deepEqual([places.map(one => one.line), otherPlaces.map(one => one.line)], [[3], [8]]);
  const inspector = element('div', '');
  const nothing = (): void => undefined;
  const actions = { select: nothing, follow: nothing, pass: nothing, toggle: nothing, close: nothing };
  showDetails(inspector, details(document, document.graphs[1], 3), false, actions);
  assert.match(inspector.textContent ?? '', /and from.*line 8, two\.py/);
});

test('what is only inferred to belong to a line does not stand on it', () => {
  const document = merged();
  const links = document.links.map(one => ({ ...one, kind: Uint8Array.of(LinkKind.exact, LinkKind.inferred) }));
  const { pane } = paneOf({ ...document, links }, 1);
  assert.deepEqual(texts(pane, '.jv-line-count'), ['', '1', '', '1']);
});
