/** Which lines of the person's source the operations of a stage come from, as data for the source pane. */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { fatesOf, ghostWord } from '../view/ghosts.ts';
import { measuredOf } from '../view/measures.ts';
import { ownSpot, type Spot } from '../view/spots.ts';
import { ownStacks } from '../view/stacks.ts';

export interface SourceLine {
  readonly number: number;
  readonly text: string;
  /** The operations whose innermost frame in the person's own code is this line, or that of one of their equations. */
  readonly nodes: readonly number[];
  /** How many of them the compiler did not keep. */
  readonly gone: number;
  /** What they took in a run; 0 where nothing was measured. */
  readonly seconds: number;
}

export interface SourceFile {
  readonly label: string;
  readonly path: string;
  readonly lines: readonly SourceLine[];
}

/** Whether the document has the text of any file of the person's. */
export function hasSource({ files, strings }: Document): boolean {
  return files.path.some((_, file) => !files.library[file] && strings[files.text[file]] !== '');
}

/** The person's files that operations come from, by their paths, the first few. */
export function namedFiles({ files, strings }: Document, most = 3): string[] {
  const own = Array.from(files.path, path => strings[path]).filter((_, file) => !files.library[file]);
  return own.length > most ? [...own.slice(0, most), `${own.length - most} more`] : own;
}

/** The person's files that the document has the text of, each line with its operations in `graph`. */
export function sourceFiles(document: Document, graph: Graph): SourceFile[] {
  const { files, strings } = document;
  const fates = fatesOf(document, graph);
  const measured = measuredOf(document, graph);
  const nodesAt = new Map<number, Map<number, number[]>>();
  const spots = new Map<number, Spot | null>();
  // What two lines share took its time once.
  const isOf = (spot: Spot | null | undefined, file: number, line: number): boolean =>
    spot?.file === file && spot.line === line;
  for (let node = 0; node < graph.nodeCount; node++) {
    if (graph.kind[node] !== NodeKind.operation) {
      continue;
    }
    for (const stack of ownStacks(document, graph, node)) {
      let spot = spots.get(stack);
      if (spot === undefined) {
        spot = ownSpot(document, stack);
        spots.set(stack, spot);
      }
      if (spot) {
        const lines = nodesAt.get(spot.file) ?? new Map<number, number[]>();
        nodesAt.set(spot.file, lines);
        const nodes = lines.get(spot.line) ?? [];
        lines.set(spot.line, nodes);
        // Several equations of one line.
        if (nodes.at(-1) !== node) {
          nodes.push(node);
        }
      }
    }
  }
  const found: SourceFile[] = [];
  for (let file = 0; file < files.path.length; file++) {
    const text = strings[files.text[file]];
    if (!text || files.library[file]) {
      continue;
    }
    const lines = text.split('\n').map((line, index) => {
      const number = files.start[file] + index;
      const nodes = nodesAt.get(file)?.get(number) ?? [];
      return {
        number,
        text: line,
        nodes,
        gone: nodes.reduce((sum, node) => sum + (ghostWord(fates, node) ? 1 : 0), 0),
        seconds: measured
          ? nodes
              .filter(node => isOf(spots.get(graph.stack[node]), file, number))
              .reduce((sum, node) => sum + measured.own.seconds[node], 0)
          : 0
      };
    });
    found.push({ label: strings[files.label[file]], path: strings[files.path[file]], lines: dedent(lines) });
  }
  return found;
}

/** Without the indent that all lines share: a method or an inner function would stand far to the right. */
function dedent(lines: SourceLine[]): SourceLine[] {
  const indents = lines.filter(({ text }) => text.trim()).map(({ text }) => text.length - text.trimStart().length);
  const common = indents.length ? Math.min(...indents) : 0;
  return common ? lines.map(line => ({ ...line, text: line.text.slice(common) })) : lines;
}
