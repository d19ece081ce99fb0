/** Which lines of the person's source the operations of a stage come from, as data for the source pane. */
import { NodeKind, type Document, type Graph } from '../../document/graph.ts';
import { fatesOf, ghostWord } from '../../view/ghosts.ts';
import { measuredOf } from '../../view/measures.ts';
import { ownSpot, type Spot } from '../../view/spots.ts';
import { ownStacks } from '../../view/stacks.ts';
import { getOrMake } from '../../maps';

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
  const placed = placedLines(document, graph);
  const found: SourceFile[] = [];
  for (let file = 0; file < files.path.length; file++) {
    const text = strings[files.text[file]];
    if (!text || files.library[file]) {
      continue;
    }
    const lines = text.split('\n').map((line, index) => {
      const number = files.start[file] + index;
      const { nodes, seconds } = placed.get(file)?.get(number) ?? { nodes: [], seconds: 0 };
      const gone = nodes.reduce((sum, node) => sum + (ghostWord(fates, node) ? 1 : 0), 0);
      return { number, text: line, nodes, gone, seconds };
    });
    found.push({ label: strings[files.label[file]], path: strings[files.path[file]], lines: dedent(lines) });
  }
  return found;
}

/** A line of the person's that took time in a run: its number and text, or where that is not known its file and number. */
export interface TimedLine extends Pick<SourceLine, 'nodes' | 'seconds'> {
  readonly label: string;
}

/** The lines of the person's own files that took time in a run, the slowest first. */
export function timedLines(document: Document, graph: Graph): TimedLine[] {
  const { files, strings } = document;
  const withText = sourceFiles(document, graph)
    .flatMap(file => file.lines)
    .map(({ number, text, nodes, seconds }) => ({ label: `${number}  ${text.trim()}`, nodes, seconds }));
  const others = [...placedLines(document, graph)]
    .filter(([file]) => !strings[files.text[file]])
    .flatMap(([file, lines]) =>
      [...lines].map(([line, one]) => ({ label: `${strings[files.label[file]]}:${line}`, ...one }))
    );
  return [...withText, ...others].filter(line => line.seconds > 0).sort((a, b) => b.seconds - a.seconds);
}

interface Placed {
  readonly nodes: number[];
  seconds: number;
}

/** The operations of each line of each of the person's files, with what those took that come from it alone. */
function placedLines(document: Document, graph: Graph): Map<number, Map<number, Placed>> {
  const measured = measuredOf(document, graph);
  const found = new Map<number, Map<number, Placed>>();
  const spots = new Map<number, Spot | null>();
  const spotOf = (stack: number): Spot | null => {
    return getOrMake(spots, stack, () => ownSpot(document, stack));
  };
  for (let node = 0; node < graph.nodeCount; node++) {
    if (graph.kind[node] !== NodeKind.operation) {
      continue;
    }
    for (const stack of ownStacks(document, graph, node)) {
      const spot = spotOf(stack);
      if (!spot) {
        continue;
      }
      const lines = getOrMake(found, spot.file, () => new Map<number, Placed>());
      const line = lines.get(spot.line) ?? { nodes: [], seconds: 0 };
      lines.set(spot.line, line);
      // Several equations of one line.
      if (line.nodes.at(-1) !== node) {
        line.nodes.push(node);
        // What two lines share took its time once.
        const own = spotOf(graph.stack[node]);
        line.seconds += own?.file === spot.file && own.line === spot.line ? (measured?.own.seconds[node] ?? 0) : 0;
      }
    }
  }
  return found;
}

/** Without the indent that all lines share: a method or an inner function would stand far to the right. */
function dedent(lines: SourceLine[]): SourceLine[] {
  const indents = lines.filter(({ text }) => text.trim()).map(({ text }) => text.length - text.trimStart().length);
  const common = indents.length ? Math.min(...indents) : 0;
  return common ? lines.map(line => ({ ...line, text: line.text.slice(common) })) : lines;
}
