/**
 * What is told above the picture where the function could not be traced: the person's line, why it failed, and how the
 * code could read instead. The picture below shows what was traced until then.
 */
import type { Document, Graph, TracingError } from '../document/graph.ts';
import type { Mark } from '../draw/marks.ts';
import { rowsOf } from '../view/outline.ts';
import { boxOfNode } from '../view/seen.ts';
import type { VisibleGraph } from '../view/visible.ts';
import { button, element } from './elements.ts';
import { spelled } from './spelled.ts';

/** Lines of source above and below the one that failed. */
const LINES_BEFORE = 3;
const LINES_AFTER = 2;

/** The error of a document, whose partial trace is its first graph; none for a program that could be traced. */
function errorOf(document: Document): TracingError | undefined {
  return document.programs[0]?.error;
}

/** What was traced until an error. */
function tracedGraph({ graphs, programs }: Document): Graph {
  return graphs[programs[0].stages[0].graph];
}

/** True where there is an error to be read, before anything else. */
export function isFailure(document: Document): boolean {
  return errorOf(document) !== undefined;
}

/** True where there is an error and nothing was traced before it: then there is nothing to draw. */
export function nothingTraced(document: Document): boolean {
  return isFailure(document) && tracedGraph(document).nodeCount === 0;
}

/** Marks what an error is about on what is visible of it. */
export function failureMarks(document: Document, visible: VisibleGraph): Mark[] {
  const rows = rowsOf(document, visible.graph);
  const nodes = visible.graph === tracedGraph(document) ? (errorOf(document)?.nodes ?? []) : [];
  const boxes = new Set(nodes.map(node => boxOfNode(rows, visible, node)).filter(box => box >= 0));
  return [...boxes].map(box => ({ box, kind: 'stopped', text: 'stopped here' }));
}

/** The panel; nothing where the program could be traced. */
export function makeFailure(document: Document): HTMLElement[] {
  const error = errorOf(document);
  if (!error) {
    return [];
  }
  const root = element('section', 'jv-failure');
  root.setAttribute('aria-label', 'why this could not be traced');
  const title = element('h3', 'jv-failure-title');
  title.append(...spelled(error.title));
  const head = element('div', 'jv-failure-head');
  head.append(title, element('span', 'jv-failure-kind', error.kind));
  const reason = element('p', 'jv-failure-reason');
  reason.append(...spelled(error.reason));
  root.append(head, ...excerpt(document, error), reason, ...error.cures.map(cureOf));
  root.append(foot(document, error));
  return [root];
}

/** The lines around the place of the error, the failing expression underlined. */
function excerpt(document: Document, { stack }: TracingError): HTMLElement[] {
  const { files, frames, stacks, strings } = document;
  const [program] = document.programs;
  const frame = stack >= 0 ? stacks.frame[stack] : -1;
  const file = frame >= 0 ? frames.file[frame] : program.file;
  const text = file >= 0 ? strings[files.text[file]] : '';
  if (!text) {
    return [];
  }
  const line = frame >= 0 ? frames.line[frame] : program.line;
  const start = files.start[file];
  const lines = text.split('\n');
  const from = Math.max(0, line - start - LINES_BEFORE);
  const shown = lines.slice(from, line - start + LINES_AFTER + 1);
  const indents = shown.filter(one => one.trim()).map(one => one.length - one.trimStart().length);
  const indent = indents.length ? Math.min(...indents) : 0;
  const block = element('div', 'jv-failure-source');
  const name = strings[files.label[file]];
  const place = element('div', 'jv-failure-file', frame >= 0 ? `${name}, line ${line}` : `${name}, not entered`);
  place.title = strings[files.path[file]];
  block.append(place);
  shown.forEach((one, index) => {
    const number = start + from + index;
    const row = element('div', 'jv-failure-line');
    const code = element('code', '');
    row.append(element('span', 'jv-line-number', String(number)), code);
    if (frame >= 0 && number === line) {
      row.classList.add('jv-failed');
      code.append(...underlined(one, indent, frames.column[frame], endOf(document, frame, one)));
    } else {
      code.textContent = one.slice(indent) || ' ';
    }
    block.append(row);
  });
  return [block];
}

/** The column at which the failing expression ends on its first line. */
function endOf({ frames }: Document, frame: number, text: string): number {
  return frames.endLine[frame] === frames.line[frame] ? frames.endColumn[frame] : text.length;
}

function underlined(text: string, indent: number, column: number, end: number): (string | HTMLElement)[] {
  if (column < indent || end <= column) {
    return [element('mark', '', text.slice(indent))];
  }
  return [text.slice(indent, column), element('mark', '', text.slice(column, end)), text.slice(end)];
}

function cureOf({ text, code }: TracingError['cures'][number]): HTMLElement {
  const cure = element('div', 'jv-cure');
  const words = element('p', '');
  words.append(...spelled(text));
  const copy = button('jv-link', 'copy', `Copy: ${text}`, () => {
    const { clipboard } = navigator;
    const copied = clipboard ? clipboard.writeText(code) : Promise.reject(new Error('there is no clipboard here'));
    copied.then(
      () => (copy.textContent = 'copied'),
      () => (copy.textContent = 'select it to copy')
    );
  });
  const block = element('pre', 'jv-cure-code');
  // The code can be scrolled with the keyboard where it is too wide.
  block.tabIndex = 0;
  block.setAttribute('aria-label', text);
  block.append(element('code', '', code));
  words.append(' ', copy);
  cure.append(words, block);
  return cure;
}

/** JAX's own words and page, how the place was reached, and what the picture shows. */
function foot(document: Document, error: TracingError): HTMLElement {
  const root = element('div', 'jv-failure-foot');
  const said = element('details', 'jv-failure-said');
  said.append(element('summary', '', "JAX's own words"), element('pre', '', error.message));
  root.append(said);
  const calls = callsTo(document, error.stack);
  if (calls.length > 1) {
    const way = element('details', 'jv-failure-said');
    way.append(element('summary', '', 'how it got there'), element('pre', '', calls.join('\n')));
    root.append(way);
  }
  // Nothing of a document becomes a link but a page on the web.
  if (error.link.startsWith('https://')) {
    const link = element('a', 'jv-link', "JAX's page on it");
    link.href = error.link;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    root.append(link);
  }
  if (!nothingTraced(document)) {
    root.append(element('span', 'jv-failure-below', 'below: what was traced until then'));
  }
  return root;
}

/** The person's frames to the place, outermost first. */
function callsTo({ files, frames, stacks, strings }: Document, stack: number): string[] {
  const found: string[] = [];
  for (let at = stack; at >= 0; at = stacks.parent[at]) {
    const frame = stacks.frame[at];
    found.unshift(
      `${strings[files.label[frames.file[frame]]]}, line ${frames.line[frame]}, in ${strings[frames.function[frame]]}`
    );
  }
  return found;
}
