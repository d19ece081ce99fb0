/**
 * What a person asks for in the search box, as data: words, regular expressions, and terms such as `op:dot_general`,
 * `line:12`, `fate:cse`, `bytes>1MB`. All terms must hold. What cannot be understood says what was expected.
 */
import { FateKind } from '../document/graph.ts';

/** One condition of a query. */
export type Term =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  | { readonly kind: 'op' | 'type'; readonly text: string }
  | { readonly kind: 'line'; readonly first: number; readonly last: number }
  | { readonly kind: 'fate'; readonly fates: readonly number[] }
  | { readonly kind: Amount; readonly least: number; readonly most: number };

/** What is compared with a limit. */
type Amount = 'bytes' | 'time' | 'flops';

/** A query that was understood, or in words what is wrong with it. */
export type Query = { readonly terms: readonly Term[] } | { readonly fault: string };

/** Fates by the words that people use for them. */
const FATES: Readonly<Record<string, readonly number[]>> = {
  alive: [FateKind.alone, FateKind.fused, FateKind.both, FateKind.context],
  alone: [FateKind.alone, FateKind.both],
  fused: [FateKind.fused, FateKind.both],
  gone: [
    FateKind.dead,
    FateKind.unlowered,
    FateKind.imported,
    FateKind.simplified,
    FateKind.folded,
    FateKind.merged,
    FateKind.consequence,
    FateKind.moved
  ],
  dead: [FateKind.dead],
  dce: [FateKind.dead],
  simplified: [FateKind.simplified],
  folded: [FateKind.folded],
  merged: [FateKind.merged],
  cse: [FateKind.merged],
  moved: [FateKind.moved]
};

const UNITS: Readonly<Record<Amount, Readonly<Record<string, number>>>> = {
  bytes: { '': 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
  time: { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 },
  flops: Object.fromEntries(
    ['', 'k', 'm', 'g', 't'].flatMap((size, i) => [
      [size, 1000 ** i],
      [`${size}flop`, 1000 ** i]
    ])
  )
};

const EXPECTED: Readonly<Record<string, string>> = {
  op: 'op: wants the name of an operation, such as op:dot_general',
  type: 'type: wants a type or a part of one, such as type:f32 or type:f32[32,128]',
  line: 'line: wants a line of the source or a range, such as line:12 or line:12-20',
  fate: `fate: wants one of ${Object.keys(FATES).join(', ')}`,
  bytes: 'bytes wants a size to compare with, such as bytes>1MB or bytes<=4kB',
  time: 'time wants a duration to compare with, such as time>1ms or time<=20us',
  flops: 'flops wants a number to compare with, such as flops>1GFLOP or flops<=2M'
};

/** For the person, beside the box: one example of each kind of term. */
export const EXAMPLES: readonly (readonly [string, string])[] = [
  ['relu', 'a name of an operation, argument, function or module, or a part of one'],
  ['/^dot|conv/', 'a regular expression'],
  ['op:dot_general', 'operations of that name'],
  ['line:12', 'what a line of the source became'],
  ['fate:cse', 'what the compiler did with it'],
  ['type:f32', 'by the type of what it makes'],
  ['bytes>1MB', 'by the size of what it makes'],
  ['flops>1M', 'by the floating-point operations that it takes'],
  ['time>1ms', 'by the time that it took in a run']
];

export function parseQuery(text: string): Query {
  const terms: Term[] = [];
  const rest = text.trim();
  if (rest.startsWith('/')) {
    return patternOf(rest);
  }
  for (const [, quoted, word] of rest.matchAll(/"([^"]*)"?|(\S+)/g)) {
    if (quoted !== undefined) {
      terms.push({ kind: 'text', text: quoted.toLowerCase() });
      continue;
    }
    const term = termOf(word);
    if ('fault' in term) {
      return term;
    }
    terms.push(term);
  }
  return { terms: terms.filter(term => term.kind !== 'text' || term.text) };
}

function patternOf(text: string): Query {
  const body = text.length > 1 && text.endsWith('/') ? text.slice(1, -1) : text.slice(1);
  if (!body) {
    return { terms: [] };
  }
  try {
    return { terms: [{ kind: 'pattern', pattern: new RegExp(body, 'iu') }] };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    return { fault: `not a regular expression: ${reason}` };
  }
}

function termOf(word: string): Term | { fault: string } {
  const [, key, sign, value] = /^([a-z]+)(:|[<>]=?)(.*)$/i.exec(word) ?? [];
  if (key === undefined) {
    return { kind: 'text', text: word.toLowerCase() };
  }
  const name = key.toLowerCase();
  const expected = Object.hasOwn(EXPECTED, name) ? EXPECTED[name] : undefined;
  if (!expected) {
    const known = Object.keys(EXPECTED).join(', ');
    return { fault: `${key}${sign} is not known; there are ${known}. To look for the text, put it in quotes` };
  }
  return known(name, sign, value) ?? { fault: expected };
}

/** A term of a known key, or undefined where its sign or value is not as expected. */
function known(name: string, sign: string, value: string): Term | undefined {
  if (name === 'bytes' || name === 'time' || name === 'flops') {
    return measured(name, sign, value);
  }
  if (sign !== ':' || !value) {
    return undefined;
  }
  if (name === 'line') {
    const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(value) ?? [];
    return first === undefined ? undefined : { kind: 'line', first: Number(first), last: Number(last ?? first) };
  }
  if (name === 'fate') {
    const fates = Object.hasOwn(FATES, value.toLowerCase()) ? FATES[value.toLowerCase()] : undefined;
    return fates && { kind: 'fate', fates };
  }
  return { kind: name as 'op' | 'type', text: value.toLowerCase() };
}

function measured(kind: Amount, sign: string, value: string): Term | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([a-zµ]*)$/i.exec(value) ?? [];
  const factor = digits === undefined ? undefined : UNITS[kind][unit.toLowerCase()];
  if (factor === undefined || sign === ':') {
    return undefined;
  }
  const limit = Number(digits) * factor;
  return sign.startsWith('>')
    ? { kind, least: sign === '>' ? above(limit) : limit, most: Infinity }
    : { kind, least: 0, most: sign === '<' ? below(limit) : limit };
}

/** The least number above and the largest below: comparisons are with bounds that belong to the range. */
const above = (limit: number): number => limit + Math.max(Number.MIN_VALUE, limit * Number.EPSILON);
const below = (limit: number): number => limit - Math.max(Number.MIN_VALUE, limit * Number.EPSILON);
