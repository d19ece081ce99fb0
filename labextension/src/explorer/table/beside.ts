/** What the rows of a table are in the program beside: the same group by its name, an operation by its only counterpart. */
import { follow } from '../../document/follow.ts';
import type { Document } from '../../document/graph.ts';
import { programName } from '../../document/programs.ts';
import { eachOf, groupsOf, type Grouping, type Listing } from '../../view/listing.ts';
import type { Viewing } from '../picture/viewing.ts';

export interface Besides {
  /** The program beside. */
  readonly name: string;
  /** What is compared: the time where both were measured, else the bytes, else what is computed. */
  readonly of: (typeof COMPARED)[number];
  /** Of each row; NaN where nothing is its counterpart. */
  readonly amount: Float64Array;
}

const COMPARED = ['seconds', 'bytes', 'flops'] as const;

/** Undefined where no other program stands beside this one in the same stage, or nothing is known of both. */
export function besidesOf(
  document: Document,
  here: Viewing,
  there: Viewing | undefined,
  listing: Listing,
  grouping: Grouping | undefined
): Besides | undefined {
  if (!there || there.program === here.program || there.stage?.kind !== here.stage?.kind) {
    return undefined;
  }
  const other = grouping ? groupsOf(document, there.graph, grouping, 1) : eachOf(document, there.graph);
  const of = COMPARED.find(one => listing.amounts[one].length && other?.amounts[one].length);
  if (!other || !of) {
    return undefined;
  }
  const rows = grouping ? byName(listing, other) : byLinks(document, here.at, there.at, listing, other);
  const amount = Float64Array.from(rows, row => (row < 0 ? NaN : other.amounts[of][row]));
  return { name: programName(document, there.program), of, amount };
}

function byName(listing: Listing, other: Listing): Int32Array {
  const named = new Map(Array.from({ length: other.count }, (_, row) => [other.name(row), row]));
  return Int32Array.from({ length: listing.count }, (_, row) => named.get(listing.name(row)) ?? -1);
}

/** What several have become together is no counterpart of one of them. */
function byLinks(document: Document, at: number, to: number, listing: Listing, other: Listing): Int32Array {
  const claims = new Int32Array(other.count);
  const found = Int32Array.from({ length: listing.count }, (_, row) => {
    const rows = new Set(follow(document, at, listing.members[row], to).map(({ node }) => other.rowOf[node]));
    rows.delete(-1);
    const [only] = rows.size === 1 ? rows : [-1];
    rows.forEach(one => claims[one]++);
    return only;
  });
  return found.map(row => (row >= 0 && claims[row] === 1 ? row : -1));
}
