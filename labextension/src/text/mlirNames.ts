/**
 * What values are called in MLIR: `%arg0`, `%cst`, `%4`, `%2#1` of several. Numbers begin anew in each function, and a
 * body goes on from those of the block around it, as its neighbours do.
 */
import type { Graph } from '../document/graph.ts';

/** What a name begins with; what is numbered begins with nothing. */
const STEMS = ['', 'arg', 'cst', 'c', 'iterArg'] as const;
export type Stem = (typeof STEMS)[number];

/** How far numbers have come in a block: those of operations, and those that tell equal names apart. */
export interface Count {
  readonly next: number;
  readonly conflict: number;
  readonly used: ReadonlySet<Stem>;
}

export const NONE_YET: Count = { next: 0, conflict: 0, used: new Set() };

export class MlirNames {
  private readonly stem: Uint8Array;
  /** -1 for the first of a name, which has no number. */
  private readonly number: Int32Array;
  /** The value that a value of a body is by another name, or -1. */
  private readonly same: Int32Array;

  constructor(private readonly graph: Graph) {
    const { length } = graph.valueNode;
    this.stem = new Uint8Array(length);
    this.number = new Int32Array(length).fill(-1);
    this.same = new Int32Array(length).fill(-1);
  }

  /** Names what nodes of a block make, and gives how far the numbers have come. `stemOf` gives what a node is called by. */
  name(nodes: readonly number[], from: Count, stemOf: (node: number) => Stem): Count {
    let { next, conflict } = from;
    const used = new Set(from.used);
    for (const node of nodes) {
      const first = this.graph.firstValue[node];
      if (first === this.graph.firstValue[node + 1]) {
        continue;
      }
      const stem = stemOf(node);
      this.stem[first] = STEMS.indexOf(stem);
      if (stem === '') {
        this.number[first] = next++;
      } else if (stem === 'arg' || used.has(stem)) {
        this.number[first] = stem === 'arg' ? next++ : conflict++;
      }
      used.add(stem);
    }
    return { next, conflict, used };
  }

  /** A value of a body is one of those around it. */
  alias(one: number, other: number): void {
    this.same[one] = other;
  }

  /** The value that a value is another name of, or itself. */
  origin(one: number): number {
    return this.same[one] < 0 ? one : this.origin(this.same[one]);
  }

  text(name: number): string {
    const one = this.origin(name);
    const node = this.graph.valueNode[one];
    const first = this.graph.firstValue[node];
    const part = this.graph.firstValue[node + 1] - first > 1 ? `#${one - first}` : '';
    return this.group(node) + part;
  }

  /** All that a node makes, by one name. */
  group(node: number): string {
    const first = this.graph.firstValue[node];
    const [stem, number] = [STEMS[this.stem[first]], this.number[first]];
    return `%${stem}${number < 0 ? '' : stem === '' || stem === 'arg' ? number : `_${number}`}`;
  }
}
