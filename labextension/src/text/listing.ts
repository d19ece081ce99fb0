/**
 * A stage as text, in the syntax in which JAX or XLA print it. Which lines there are is worked out at once, as numbers;
 * what stands in a line is written when it is asked for, so that a hundred thousand lines open as fast as ten.
 */
import { getOrMake } from '../maps.ts';
import { textOf, type Named, type Piece } from './pieces.ts';

/** Lines of arguments that are read first; behind more of them, reading begins. */
const MOST_ARGUMENTS = 12;
/** Lines that are seen above what is read first then. */
const ABOVE = 2;

/** How a form of a program is written. What the numbers of `part` mean is its own matter. */
export interface Syntax {
  /** Adds all lines, in order. */
  lay(lines: Lines): void;
  /** What stands in a line behind its indent; `at` is the node or the region that it is about. */
  write(part: number, at: number): readonly Piece[];
  /** Calls back with the nodes that a line is about, the one that it is the line of first. */
  about(part: number, at: number, found: (node: number) => void): void;
}

/** A body that is written apart from what calls it, once for all its calls: for which region, in which line, and who calls it. */
export interface WrittenBody {
  readonly region: number;
  line: number;
  readonly callers: number[];
}

/** The lines of a text: which part of what each of them is, and how far it is indented. */
export class Lines {
  readonly part: number[] = [];
  readonly at: number[] = [];
  readonly indent: number[] = [];
  /** The node that is written for each one that is not: the same place of a function that is written once for all its calls. */
  readonly writtenAs = new Map<number, number>();
  /** By their names. */
  readonly bodies = new Map<string, WrittenBody>();
  /** The line where reading begins. */
  start = 0;

  get count(): number {
    return this.part.length;
  }

  add(part: number, at: number, indent = 0): void {
    this.part.push(part);
    this.at.push(at);
    this.indent.push(indent);
  }

  /** A node calls a body. What is called for the first time is still to be written, for that region. */
  call(name: string, region: number, caller: number): WrittenBody {
    const body = getOrMake(this.bodies, name, () => ({ region, line: -1, callers: [] }));
    body.callers.push(caller);
    return body;
  }

  /** The next line is the first of a region, which is a body if anything calls it. */
  begin(name: string, region: number): void {
    const body = this.bodies.get(name);
    if (body?.region === region) {
      body.line = this.count;
    }
  }

  /** What is done comes next: reading begins where the program does, at `head`, or here if its arguments would fill the view. */
  beginFrom(head: number): void {
    this.start = this.count - head > MOST_ARGUMENTS ? this.count - ABOVE : head;
  }
}

export class Listing {
  private readonly firstLine: Int32Array;
  /** Of the few nodes that have more than one line, the others. */
  private readonly furtherLines = new Map<number, number[]>();
  /** Of the nodes that are written for several, those that they are written for. */
  private readonly copies = new Map<number, number[]>();

  constructor(
    private readonly syntax: Syntax,
    private readonly laid: Lines,
    nodeCount: number
  ) {
    this.firstLine = new Int32Array(nodeCount).fill(-1);
    for (let line = 0; line < laid.count; line++) {
      syntax.about(laid.part[line], laid.at[line], node => this.stands(node, line));
    }
    laid.writtenAs.forEach((as, node) => {
      const copies = this.copies.get(as);
      if (copies) {
        copies.push(node);
      } else {
        this.copies.set(as, [node]);
      }
    });
  }

  private stands(node: number, line: number): void {
    if (this.firstLine[node] < 0) {
      this.firstLine[node] = line;
    } else {
      const lines = this.furtherLines.get(node);
      if (lines) {
        lines.push(line);
      } else {
        this.furtherLines.set(node, [line]);
      }
    }
  }

  get count(): number {
    return this.laid.count;
  }

  /** The line that is read first. */
  get start(): number {
    return this.laid.start;
  }

  indent(line: number): number {
    return this.laid.indent[line];
  }

  pieces(line: number): readonly Piece[] {
    return this.syntax.write(this.laid.part[line], this.laid.at[line]);
  }

  text(line: number): string {
    return ' '.repeat(this.indent(line)) + textOf(this.pieces(line));
  }

  /** The nodes that a line is about, the one that it is the line of first. */
  nodes(line: number): number[] {
    const found: number[] = [];
    this.syntax.about(this.laid.part[line], this.laid.at[line], node => {
      found.push(node, ...(this.copies.get(node) ?? []));
    });
    return found;
  }

  /** The lines that are about a node; none for one that is not written. */
  lines(node: number): readonly number[] {
    const as = this.laid.writtenAs.get(node) ?? node;
    const first = this.firstLine[as];
    return first < 0 ? [] : [first, ...(this.furtherLines.get(as) ?? [])];
  }

  /** The line where what a name stands for is made or begins; -1 where that is not written. */
  lineOf(named: Named): number {
    return ('node' in named ? this.lines(named.node)[0] : this.laid.bodies.get(named.body)?.line) ?? -1;
  }

  /** The nodes that call a body that is written apart from them. */
  callers(body: string): readonly number[] {
    return this.laid.bodies.get(body)?.callers ?? [];
  }

  /** 1 for each line that is about any of the nodes. */
  linesOf(nodes: readonly number[]): Uint8Array {
    const { firstLine, furtherLines, laid } = this;
    const found = new Uint8Array(this.count);
    for (const node of nodes) {
      const as = laid.writtenAs.size ? (laid.writtenAs.get(node) ?? node) : node;
      if (firstLine[as] >= 0) {
        found[firstLine[as]] = 1;
        furtherLines.get(as)?.forEach(line => (found[line] = 1));
      }
    }
    return found;
  }
}
