/**
 * What was laid out in the last few pictures, group by group. A group that looks the same again is taken from here: what
 * the person did elsewhere moves nothing in it, it costs no time, and what is opened and closed again is as it was.
 */
import type { FlatLayout } from './flat.ts';
import type { FlatInput } from './part.ts';
import { passings } from './passing.ts';

/** Pictures that a group is remembered for after it was last seen. */
const PICTURES = 12;
/** Share of the pairs of boxes that may pass each other; where more do, it is another group that looks the same. */
const MOST_PASSING = 0.25;

export class LayoutMemory {
  private readonly known = new Map<string, { layout: FlatLayout; seen: number }>();
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

  /** The layout of a group that looked the same, or a new one. Of two that look the same, one may stand in another order. */
  recall(input: FlatInput, make: () => FlatLayout): FlatLayout {
    const key = looks(input);
    const known = this.known.get(key)?.layout;
    const layout = known && staysInOrder(known, input) ? known : make();
    this.known.set(key, { layout, seen: this.picture });
    return layout;
  }
}

/** True if little passes anything from left to right, seen from the picture before. */
function staysInOrder({ x }: FlatLayout, { before }: FlatInput): boolean {
  const stayed = Array.from(before ?? [], (was, vertex) => ({ was, now: x[vertex] })).filter(({ was }) => was === was);
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
  aspect
}: FlatInput): string {
  return [pin, rankOf(order), gate, height, left, right, from, to, fromOffset, toOffset, slide, aspect].join(';');
}

/** Only the order of the numbers counts: they grow when something opens further up in the program. */
function rankOf(order: Int32Array): Int32Array {
  const sorted = order.slice().sort();
  const rank = new Map(Array.from(sorted, (value, i) => [value, i]));
  return order.map(value => rank.get(value) as number);
}
