/**
 * What stands beside the first copy of a folded stack: what later copies hold and it lacks.
 *
 * Copies may differ, as where every other layer has one part more. The first copy is drawn for all of them, so what it
 * lacks is put into its frame, behind what it follows in its own copy, and says how many of the copies have it.
 */
import { RowKind, type Graph } from '../document/graph.ts';
import { childrenOf, type Rows } from './outline.ts';
import { getOrMake } from '../maps';

/** Where an item is drawn: numbers that are compared one by one, what ends first being first. */
type Place = readonly number[];

/** Where things are put into one row, in the order in which they come. */
interface Within {
  /** What follows stands behind this item. */
  after(item: number): void;
  add(item: number): void;
}

export class Beside {
  /** Of each item that was put beside others: the row that it is in now, and where. */
  private readonly put = new Map<number, { readonly around: number; readonly place: Place }>();
  /** What there is in a row that is shown, by what it is like. */
  private readonly rowsIn = new Map<number, Map<number, number>>();
  private readonly nodesIn = new Map<number, Map<number, number[]>>();
  private readonly nodesPut = new Map<number, number[]>();
  /** How many rows of later copies are seen as a row, and how many copies hold the same as one that is shown. */
  private readonly seen = new Map<number, number>();
  private readonly same = new Map<number, number>();

  constructor(private readonly rows: Rows) {}

  get isEmpty(): boolean {
    return this.put.size === 0;
  }

  has(item: number): boolean {
    return this.put.has(item);
  }

  /** The row around another one, where that is drawn. */
  around(row: number): number {
    return this.put.get(row)?.around ?? this.rows.outline.parent[row];
  }

  /** The row that a node is drawn in. */
  leaf(node: number): number {
    return this.put.get(-1 - node)?.around ?? this.rows.leaf[node];
  }

  /** Below 0 where one item is drawn before another. */
  compare(one: number, other: number): number {
    const [left, right] = [this.placeOf(one), this.placeOf(other)];
    const at = left.findIndex((step, i) => step !== right[i]);
    return at < 0 ? left.length - right.length : at < right.length ? left[at] - right[at] : 1;
  }

  /** In how many of how many copies there is what a row stands for, where that is worth a word; otherwise nothing. */
  share(item: number): string {
    const { copy } = this.rows.outline;
    let having = 1 + (this.seen.get(item) ?? 0);
    let [at, isOwn] = [item, true];
    while (at !== 0 && (at === item || copy[at] !== 0)) {
      having += isOwn ? (this.same.get(at) ?? 0) : 0;
      isOwn &&= !this.put.has(at);
      at = at < 0 ? this.leaf(-1 - at) : this.around(at);
    }
    const all = 1 + (this.same.get(at) ?? 0) + (this.seen.get(at) ?? 0);
    having += isOwn ? (this.same.get(at) ?? 0) : 0;
    // Where a single copy has less, as the last one on the way back, what the others have is what a stack is.
    const isUsual = !this.put.has(item) && (item < 0 || having >= all - 1);
    return at === 0 || isUsual || having >= all ? '' : `in ${having} of ${all}`;
  }

  count(shown: number): void {
    this.seen.set(shown, (this.seen.get(shown) ?? 0) + 1);
  }

  countSame(shown: number): void {
    this.same.set(shown, (this.same.get(shown) ?? 0) + 1);
  }

  /** What a row of a later copy is like in a row that is shown, or -1: then it stands beside what is there. */
  rowLike(row: number, shown: number): number {
    const like = this.find(row, shown);
    if (like < 0) {
      this.rowsOf(shown).set(this.kindOf(row), row);
    }
    return like;
  }

  /**
   * True for a statement that is not in a row that is shown, where something in it is: what is alone in a statement
   * stands without that.
   */
  isLookedThrough(row: number, shown: number): boolean {
    const { kind, count } = this.rows.outline;
    return (
      kind[row] === RowKind.statement &&
      count[row] === 1 &&
      this.find(row, shown) < 0 &&
      childrenOf(this.rows, row).some(child => this.find(child, shown) >= 0)
    );
  }

  private find(row: number, shown: number): number {
    const { operations } = this.rows;
    const like = this.rowsOf(shown).get(this.kindOf(row)) ?? this.likeInside(row, shown);
    return like >= 0 && (operations[like] > 0 || operations[row] === 0) ? like : -1;
  }

  private rowsOf(shown: number): Map<number, number> {
    return getOrMake(
      this.rowsIn,
      shown,
      () => new Map(Array.from(childrenOf(this.rows, shown), child => [this.kindOf(child), child]))
    );
  }

  /** What is all of a statement or call in one copy may stand beside others in the same one of another copy. */
  private likeInside(row: number, shown: number): number {
    const { like, parent } = this.rows.outline;
    let around = like[row] < 0 ? -1 : parent[like[row]];
    while (around > shown) {
      around = parent[around];
    }
    return around === shown ? like[row] : -1;
  }

  /** The same of a node that stands in none of the rows inside `row`: each is like one of its operation. */
  nodeLike(graph: Graph, node: number, row: number, shown: number): number {
    const { first, end, role } = this.rows.outline;
    const key = (at: number): number => (graph.op[at] * 8 + graph.kind[at]) * 8 + role[at];
    let known = this.nodesIn.get(row);
    if (!known) {
      known = new Map();
      for (let at = first[shown]; at < end[shown]; at++) {
        if (this.rows.leaf[at] === shown) {
          addTo(known, key(at), at);
        }
      }
      for (const at of this.nodesPut.get(shown) ?? []) {
        addTo(known, key(at), at);
      }
      this.nodesIn.set(row, known);
    }
    return known.get(key(node))?.shift() ?? -1;
  }

  /** Puts things into a row that is shown, beginning with its start. */
  within(shown: number): Within {
    const { first, end } = this.rows.outline;
    const around = this.prefix(shown);
    let before: Place = [...around, first[shown], 0, shown + 0.5];
    return {
      after: item => {
        const own = this.put.get(item);
        const last = item >= 0 ? end[item] - 0.5 : -0.5 - item;
        before = own ? [...own.place, Infinity] : [...around, last, 0];
      },
      add: item => {
        this.put.set(item, { around: shown, place: [...before, this.put.size] });
        if (item < 0) {
          addTo(this.nodesPut, shown, -1 - item);
        }
      }
    };
  }

  /** Rows that are like each other are like the same one. */
  private kindOf(row: number): number {
    const { like } = this.rows.outline;
    return like[row] >= 0 ? like[row] : row;
  }

  private placeOf(item: number): Place {
    const own = item >= 0 ? [this.rows.outline.first[item], 0, item] : [-1 - item, 1];
    const put = this.put.get(item);
    return [...(put ? put.place : this.prefix(item >= 0 ? this.around(item) : this.leaf(-1 - item))), ...own];
  }

  /** Where the innermost thing around a row stands that was put beside others. */
  private prefix(row: number): Place {
    for (let at = row; at > 0; at = this.around(at)) {
      const put = this.put.get(at);
      if (put) {
        return put.place;
      }
    }
    return [];
  }
}

function addTo(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key);
  if (list) {
    list.push(value);
  } else {
    lists.set(key, [value]);
  }
}
