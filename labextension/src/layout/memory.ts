/**
 * What was laid out in the last few pictures, group by group. A group that looks the same again is taken from here: what
 * the person did elsewhere moves nothing in it, it costs no time, and what is opened and closed again is as it was.
 */
import type { FlatLayout } from './flat.ts';
import type { FlatInput } from './part.ts';
import { heldAt, passings } from './passing.ts';

/** Pictures that a group is remembered for after it was last seen. */
const PICTURES = 12;
/** Share of the pairs of boxes, at all depths, that may pass each other; where more do, it is another group that looks the same. */
const MOST_PASSING = 0.1;

/** How a group was laid out: from nothing, and from where its boxes stood in a picture before. */
export interface Known {
  readonly fresh?: FlatLayout | undefined;
  readonly warm?: FlatLayout | undefined;
  readonly seen: number;
}

/** Groups by how they look: what one memory tells another. */
export type Told = readonly (readonly [string, Known])[];

export class LayoutMemory {
  private readonly known = new Map<string, Known>();
  private picture = 0;

  /** Begins a new picture and forgets what was not seen for long. */
  next(): void {
    this.picture++;
    for (const [key, { seen }] of this.known) {
      if (seen < this.picture - PICTURES) {
        this.known.delete(key);
      }
    }
  }

  /** What was laid out or seen again in the picture that is the last, or all that is known. */
  tell(which: 'last' | 'all'): Told {
    return [...this.known].filter(([, { seen }]) => which === 'all' || seen === this.picture);
  }

  /** As if the groups had been seen here, in a picture of their own. */
  learn(groups: Told): void {
    this.next();
    for (const [key, known] of groups) {
      this.known.set(key, { ...known, seen: this.picture });
    }
  }

  /**
   * The layout of a group that looked the same, or a new one. Of two that look the same, one may stand in another order.
   * Where nothing has a place to keep, it is one that was laid out from nothing.
   */
  recall(input: FlatInput, make: () => FlatLayout): FlatLayout {
    const key = looks(input);
    const { fresh, warm } = this.known.get(key) ?? {};
    const layout = (input.before ? nearest([warm, fresh], input) : fresh) ?? make();
    const isFresh = !input.before || layout === fresh;
    this.known.set(key, { ...(isFresh ? { fresh: layout, warm } : { fresh, warm: layout }), seen: this.picture });
    return layout;
  }
}

/** Of the layouts in which little passes anything, the one where boxes stand most as they stood. */
function nearest(known: readonly (FlatLayout | undefined)[], input: FlatInput): FlatLayout | undefined {
  const found = known.filter(layout => layout !== undefined && staysInOrder(layout, input)) as FlatLayout[];
  return found.length < 2 ? found[0] : found.sort((a, b) => moved(a, input) - moved(b, input))[0];
}

/** How far boxes would move from left to right, beside moving all together. */
function moved({ x }: FlatLayout, { before }: FlatInput): number {
  const ways = Array.from(before ?? [], (was, vertex) => x[vertex] - was).filter(way => way === way);
  const mean = ways.reduce((sum, way) => sum + way, 0) / Math.max(1, ways.length);
  return ways.reduce((sum, way) => sum + Math.abs(way - mean), 0);
}

/** True if little passes anything from left to right, seen from the picture before. */
function staysInOrder({ x }: FlatLayout, { holds }: FlatInput): boolean {
  const stayed = heldAt(holds ?? [], x).filter(({ was }) => was === was);
  const pairs = (stayed.length * (stayed.length - 1)) / 2;
  return passings(stayed) <= MOST_PASSING * pairs;
}

/** Everything that a layout depends on, but for where things stood. */
function looks({
  pin,
  order,
  gate,
  height,
  left,
  right,
  from,
  to,
  fromOffset,
  toOffset,
  slide,
  aspect,
  effort
}: FlatInput): string {
  return [pin, rankOf(order), gate, height, left, right, from, to, fromOffset, toOffset, slide, aspect, effort].join(
    ';'
  );
}

/** Only the order of the numbers counts: they grow when something opens further up in the program. */
function rankOf(order: Int32Array): Int32Array {
  const sorted = order.slice().sort();
  const rank = new Map(Array.from(sorted, (value, i) => [value, i]));
  return order.map(value => rank.get(value) as number);
}
