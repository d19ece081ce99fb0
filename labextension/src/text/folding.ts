/** Which lines of a text are seen: what stands inside a line that begins something may be folded behind it. */
import type { Listing } from './listing.ts';

export class Folding {
  /** By line, the first one behind what stands inside it; the next line where nothing does. */
  private readonly end: Int32Array;
  /** The lines that are folded where all is: what stands around the place where reading begins stays open. */
  readonly foldable: readonly number[];
  private readonly folded = new Set<number>();
  /** The lines that are seen, in order; null while all are. */
  private seen: Int32Array | null = null;

  constructor(private readonly listing: Listing) {
    this.end = endsOf(listing);
    const first = listing.start + 1;
    this.foldable = [...this.end.keys()].filter(line => this.inside(line) && (line > first || this.end[line] <= first));
  }

  /** How many lines are seen. */
  get count(): number {
    return this.seen?.length ?? this.listing.count;
  }

  /** True while anything is folded. */
  get any(): boolean {
    return this.folded.size > 0;
  }

  /** The line of the text that is seen in a row. */
  line(row: number): number {
    return this.seen ? this.seen[row] : row;
  }

  /** The row in which a line is seen, or the one that it is folded behind. */
  row(line: number): number {
    if (!this.seen) {
      return line;
    }
    let [from, to] = [0, this.seen.length];
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      [from, to] = this.seen[middle] <= line ? [middle, to] : [from, middle];
    }
    return from;
  }

  /** How many lines stand inside one. */
  inside(line: number): number {
    return this.end[line] - line - 1;
  }

  isFolded(line: number): boolean {
    return this.folded.has(line);
  }

  /** True where a line is marked, or one that is folded behind it. */
  isMarked(marks: Uint8Array, line: number): boolean {
    return marks[line] === 1 || (this.folded.has(line) && marks.subarray(line, this.end[line]).includes(1));
  }

  /** The line that can be folded here: this one, or the one that begins what it stands in; -1 where there is none. */
  around(line: number): number {
    let at = line;
    while (at >= 0 && !(this.inside(at) && this.end[at] > line)) {
      at--;
    }
    return at;
  }

  /** Folds what stands inside a line, or shows it again. */
  toggle(line: number): void {
    if (!this.folded.delete(line) && this.inside(line)) {
      this.folded.add(line);
    }
    this.update();
  }

  /** Shows a line that is folded away; false where it is seen. */
  show(line: number): boolean {
    const around = [...this.folded].filter(head => head < line && line < this.end[head]);
    around.forEach(head => this.folded.delete(head));
    if (around.length) {
      this.update();
    }
    return around.length > 0;
  }

  foldAll(): void {
    this.foldable.forEach(line => this.folded.add(line));
    this.update();
  }

  unfoldAll(): void {
    this.folded.clear();
    this.update();
  }

  private update(): void {
    const seen: number[] = [];
    for (let line = 0; line < this.listing.count; line = this.folded.has(line) ? this.end[line] : line + 1) {
      seen.push(line);
    }
    this.seen = this.any ? Int32Array.from(seen) : null;
  }
}

/** What is indented stands inside the line before; with what says no more than that it ends. */
function endsOf(listing: Listing): Int32Array {
  const { count } = listing;
  const end = new Int32Array(count).fill(count);
  const open: number[] = [];
  for (let line = 0; line < count; line++) {
    while (open.length && listing.indent(open[open.length - 1]) >= listing.indent(line)) {
      const head = open.pop() as number;
      end[head] = line;
    }
    open.push(line);
  }
  const says = (line: number): string | undefined => (line < count ? listing.text(line).trim() : undefined);
  for (let line = 0; line < count; line++) {
    if (end[line] > line + 1 && says(end[line]) === '}') {
      end[line] += says(end[line] + 1) === '' ? 2 : 1;
    }
  }
  return end;
}
