/** Chips: small labels beside boxes for operands and results that get no edge of their own. */
import { BindingKind, NodeKind, type Document, type Graph } from '../document/graph.ts';
import { attribute, cut, shortPath, typeText, variableOf } from './label.ts';
import { bordersOf, type Borders } from './borders.ts';
import { LOOPS } from './control.ts';
import { byOperand, type Origin } from './flow.ts';
import { Brevity } from './folds.ts';
import { boxLabel, rowsOf } from './outline.ts';
import type { Chip } from './visible.ts';
import { constantWords, numberText } from './words.ts';
import { getOrMake, NumberMap } from '../maps';

/** On one side of a box so many chips are named; where there are more, the others are counted. */
const MAX_CHIPS = 2;

/** Where it is narrow, chips of no more characters than this stand side by side. */
const MOST_NARROW = 12;

/** Where words are shortest, a chip alone has no more characters than this. */
const MOST_SHORTEST = 8;

/** So many are told where they are counted, fewer of long names; nobody reads more, nor listens to them. */
const MOST_TOLD = 8;
const MOST_LETTERS = 280;

const CARRY = '→ carry';
/** On what a loop begins with, where that stands inside of its frame as its turns do. */
export const BEGINS_CHIP: Omit<Chip, 'value'> = {
  text: '→ first turn',
  side: 'right',
  title: 'what the first turn of the loop begins with'
};

/** What a part of some copies of a stack reads, where only the first copy is drawn otherwise. */
export const BEFORE_CHIP: Omit<Chip, 'value'> = {
  text: 'copy before',
  side: 'left',
  title: 'what the copy before it has made'
};

/** What a step of a path begins with. */
const STEP = /[[.]/;

const known = new WeakMap<Graph, NumberMap<Chip>>();

/** The chip of an operand that no box makes; worked out once, as a first view is chosen from many. */
export function operandChip(document: Document, graph: Graph, origin: Origin): Chip {
  const chips = getOrMake(known, graph, () => byOperand<Chip>(graph));
  const key = origin.node < 0 ? -1 - origin.literal : origin.value;
  return getOrMake(chips, key, () => makeChip(document, graph, origin));
}

function makeChip(document: Document, graph: Graph, origin: Origin): Chip {
  if (origin.node < 0) {
    const text = document.strings[graph.literalText[origin.literal]];
    return { text: cut(constantWords(text, 12), 12), value: -1, side: 'left', title: `constant ${text}` };
  }
  const name = document.strings[graph.name[origin.node]];
  const type = typeText(document, graph, origin.value);
  if (graph.kind[origin.node] === NodeKind.constant) {
    const text = shortValue(document, graph, origin.node) || name || type;
    return {
      text: cut(constantWords(text, 14), 14),
      value: origin.value,
      side: 'left',
      title: `constant ${text} ${type}`
    };
  }
  if (graph.kind[origin.node] === NodeKind.operation) {
    const constant = constantText(document, graph, origin.node);
    if (constant) {
      const text = cut(constantWords(constant, 14), 14);
      return { text, value: origin.value, side: 'left', title: `constant ${constant} ${type}` };
    }
    const label = boxLabel(document, graph, rowsOf(document, graph), laidOut(document, graph, origin.node));
    return { text: cut(label, 14), value: origin.value, side: 'left', title: `${label} ${type}` };
  }
  const place = ownName(document, graph, origin.node) || turnWord(graph, origin.node);
  const variable = variableOf(document, graph, origin.node);
  const path = variable || place;
  const title = `${variable ? `${variable}, ${place}` : place} ${type}`;
  return { text: cut(shortPath(path), 14), value: origin.value, side: 'left', title, path };
}

/** What an argument without a name is: of the program, or of a loop's body. */
export function turnWord(graph: Graph, node: number): string {
  const binding = bordersOf(graph).into[node];
  if (binding < 0) {
    return 'argument';
  }
  return graph.bindingKind[binding] === BindingKind.init ? 'carry' : 'slice';
}

/** What compilers number: `while.3`, and a place in such a tuple. No path in a program looks so. */
const NUMBERED = /\.\d+(\[\d+\])*$|tuple(\[\d+\])+$/;

/** What a value that goes into a body is called; what a compiler made up for it, or the loop's own name, is none. */
export function ownName(document: Document, graph: Graph, node: number): string {
  const name = document.strings[graph.name[node]] || attribute(document, graph, node, 'name') || '';
  const region = graph.region[node];
  const owner = region > 0 ? document.strings[graph.op[graph.regionOwner[region]]] : '';
  return region > 0 && (name === owner || (LOOPS.has(owner) && NUMBERED.test(name))) ? '' : name;
}

/** A constant whose value takes more characters is known by its name. */
const MOST_VALUE = 14;

function shortValue(document: Document, graph: Graph, node: number): string {
  const value = attribute(document, graph, node, 'value') ?? '';
  return value.length <= MOST_VALUE ? value : '';
}

/** What is made of one literal or constant alone: that, for what only repeats it. */
function constantText(document: Document, graph: Graph, node: number): string {
  for (let at = node; ;) {
    const [first, end] = [graph.firstOperand[at], graph.firstOperand[at + 1]];
    if (end !== first + 1) {
      return end === first ? shortValue(document, graph, at) : '';
    }
    const source = graph.operandSource[first];
    if (source < 0) {
      return document.strings[graph.literalText[-1 - source]];
    }
    // What is handed into a body comes from elsewhere. Operands stand before what reads them.
    if (graph.valueNode[source] >= at || graph.kind[graph.valueNode[source]] === NodeKind.argument) {
      return '';
    }
    at = graph.valueNode[source];
  }
}

/** What only repeats a value or gives it another shape says less than what makes it. */
const LAYS_OUT = new Set(['broadcast', 'broadcast_in_dim', 'dynamic_broadcast_in_dim', 'reshape']);

/** The operation that makes what a node lays out; the node itself where it does more. */
function laidOut(document: Document, graph: Graph, node: number): number {
  let at = node;
  while (LAYS_OUT.has(document.strings[graph.op[at]])) {
    const [first, end] = [graph.firstOperand[at], graph.firstOperand[at + 1]];
    const source = end === first + 1 ? graph.operandSource[first] : -1;
    const maker = source < 0 ? at : graph.valueNode[source];
    // What is handed into a body comes from elsewhere. Operands stand before what reads them.
    if (maker >= at || graph.kind[maker] !== NodeKind.operation) {
      return at;
    }
    at = maker;
  }
  return at;
}

/** The chip at the maker of a value that is a chip at all its readers. */
export function hubChip(value: number, readers: number): Chip {
  return { text: `→ ${readers}`, value, side: 'right', title: `read by ${readers} operations` };
}

/** Where the path does not begin with the word, it goes before. */
function titleOfResult(path: string): string {
  return /^result\b/.test(path) ? path : `result ${path}`;
}

const knownResults = new WeakMap<Graph, NumberMap<Omit<Chip, 'value'>>>();

/** The chip at the maker of a result that has no box; undefined where the border says nothing worth a mark. */
export function resultChip(
  document: Document,
  graph: Graph,
  borders: Borders,
  node: number
): Omit<Chip, 'value'> | undefined {
  const region = graph.region[node];
  if (region === 0) {
    const chips = getOrMake(knownResults, graph, () => new NumberMap<Omit<Chip, 'value'>>(graph.nodeCount));
    return getOrMake(chips, node, () => makeResultChip(document, graph, node));
  }
  if (borders.carries.has(node)) {
    return { text: CARRY, side: 'right', title: 'carried into the next turn' };
  }
  if (document.strings[graph.regionKind[region]] === 'while cond') {
    return { text: '→ goes on?', side: 'right', title: 'the loop goes on while this holds' };
  }
  return undefined;
}

function makeResultChip(document: Document, graph: Graph, node: number): Omit<Chip, 'value'> {
  const name = document.strings[graph.name[node]] || 'result';
  const variable = variableOf(document, graph, node);
  // Where the path is long, that it is a result is said by the arrow alone.
  const path = shortPath(variable || name);
  const short = path.length > 12 ? path.replace(/^result/, '') : path;
  const title = variable ? `result ${variable}, ${name}` : titleOfResult(name);
  return { text: cut(`→ ${short}`, 18), side: 'right', title, path: variable || name };
}

/** The chips of each box while they are being collected. */
export class ChipRack {
  private readonly chips = new Map<number, Set<Chip>>();
  private readonly counted = new Set<number>();

  /** A chip is `counted` where the box has too many to name them. */
  add(box: number, chip: Chip, counted = false): void {
    if (counted) {
      this.counted.add(box);
    }
    const chips = this.chips.get(box);
    if (chips) {
      chips.add(chip);
    } else {
      this.chips.set(box, new Set([chip]));
    }
  }

  /** The chips to draw: on each side those with a name, then the rest as a count; where words are short, one of all. */
  drawn(brevity: number = Brevity.none): Map<number, readonly Chip[]> {
    const result = new Map<number, readonly Chip[]>();
    for (const [box, all] of this.chips) {
      const chips = all.size > 1 ? withoutRepeats(all) : [...all];
      if (brevity === Brevity.shortest) {
        result.set(box, [...numberOf('left', chips), ...numberOf('right', chips)]);
        continue;
      }
      const short = brevity === Brevity.short;
      const left = this.counted.has(box) ? countOf(chips) : drawnOn('left', chips, short);
      result.set(box, [...left, ...drawnOn('right', carriedResults(chips), short)]);
    }
    return result;
  }
}

/** The first of all that say the same at the same side. */
function withoutRepeats(chips: Iterable<Chip>): readonly Chip[] {
  const said = { left: new Set<string>(), right: new Set<string>() };
  return [...chips].filter(({ side, title }) => !said[side].has(title) && said[side].add(title));
}

/** How many there are on a side; one alone says what it is, as far as there is room. */
function numberOf(side: Chip['side'], chips: readonly Chip[]): Chip[] {
  const these = chips.filter(chip => chip.side === side);
  if (these.length < 2) {
    // What a result is called is in its path, of which the first letters say nothing more.
    return these.map(chip => {
      const text = side === 'right' && chip.path && chip.text.length > MOST_SHORTEST ? '→ result' : chip.text;
      return { ...chip, text: cut(text, MOST_SHORTEST) };
    });
  }
  const text = side === 'left' ? `${these.length} →` : `→ ${these.length}`;
  return [{ text, value: -1, side, title: told(these) }];
}

/** One chip for all on the left. */
function countOf(chips: readonly Chip[]): Chip[] {
  const these = chips.filter(chip => chip.side === 'left');
  return these.length < 2
    ? these
    : [
        {
          text: `${these.length} inputs`,
          value: -1,
          side: 'left',
          title: told(these)
        }
      ];
}

/** What goes round a loop and is given by it in the end: one chip for both. */
function carriedResults(chips: readonly Chip[]): readonly Chip[] {
  const carry = chips.find(chip => chip.text === CARRY);
  const results = chips.filter(chip => chip.side === 'right' && chip.title.startsWith('result'));
  if (!carry || !results.length) {
    return chips;
  }
  const title = told([carry, ...results]);
  const both = { ...carry, text: `${CARRY}, result${results.length > 1 ? 's' : ''}`, title };
  return [both, ...chips.filter(chip => chip !== carry && !results.includes(chip))];
}

/** What several chips stand for, a line for each. */
function told(chips: readonly Chip[]): string {
  return listed(chips.map(({ title }) => title)).join('\n');
}

/** The first of several titles, and how many more there are. */
export function listed(titles: readonly string[]): string[] {
  const lines: string[] = [];
  let letters = 0;
  for (const title of titles) {
    letters += title.length;
    if (lines.length === MOST_TOLD || (lines.length && letters > MOST_LETTERS)) {
      break;
    }
    lines.push(title);
  }
  const rest = titles.slice(lines.length);
  // A line that counts one takes the room of that one.
  return [...lines, ...(rest.length > 1 ? [`and ${numberText(rest.length)} more`] : rest)];
}

/** Chips of the same text as one, with how many it stands for: the weights of five layers are `w x5`. */
function alike(chips: readonly Chip[]): Chip[] {
  const texts = new Map<string, Chip[]>();
  for (const chip of chips) {
    const same = texts.get(chip.text);
    if (same) {
      same.push(chip);
    } else {
      texts.set(chip.text, [chip]);
    }
  }
  return [...texts].map(([text, same]) =>
    same.length === 1 ? same[0] : { ...same[0], text: `${text} x${same.length}`, value: -1, title: told(same) }
  );
}

function drawnOn(side: Chip['side'], chips: readonly Chip[], narrow: boolean): Chip[] {
  const all = chips.filter(chip => chip.side === side);
  const these = alike(all);
  // A count in place of a single chip would take the room of the chip and say less.
  const short = !narrow || these.length < 2 || these.reduce((sum, { text }) => sum + text.length, 0) <= MOST_NARROW;
  if (these.length <= MAX_CHIPS + 1 && short) {
    return these;
  }
  const groups = byTree(all);
  if (narrow && groups.length > 1) {
    const text = side === 'left' ? `${all.length} inputs` : `→ ${all.length} results`;
    return [{ text, value: -1, side, title: told(all) }];
  }
  if (groups.length <= MAX_CHIPS + 1) {
    return groups.map(group => together(side, group));
  }
  const rest = groups.slice(MAX_CHIPS).flat();
  const shown = groups.slice(0, MAX_CHIPS).map(group => together(side, group));
  return [...shown, { text: `+${rest.length}`, value: -1, side, title: told(rest) }];
}

/** Chips of one tree of arguments or results together, and those of one text, in the order of their first ones. */
function byTree(chips: readonly Chip[]): (readonly Chip[])[] {
  const trees = new Map<string, Chip[]>();
  for (const chip of chips) {
    const [root] = chip.path?.split(STEP, 1) ?? [''];
    const key = root ? `tree ${root}` : `text ${chip.text}`;
    getOrMake(trees, key, () => []).push(chip);
  }
  return [...trees.values()];
}

/** One chip for several of a tree: what all of their paths begin with, and how many there are. */
function together(side: Chip['side'], chips: readonly Chip[]): Chip {
  const same = alike(chips);
  if (same.length === 1) {
    return same[0];
  }
  const path = commonPath(chips.map(chip => chip.path ?? ''));
  const arrow = side === 'right' ? '→ ' : '';
  return { text: `${arrow}${cut(shortPath(path), 14)} x${chips.length}`, value: -1, side, title: told(chips) };
}

/** What all paths begin with, in whole steps. */
function commonPath(paths: readonly string[]): string {
  let common = paths[0];
  const holds = (path: string): boolean =>
    path === common || (path.startsWith(common) && STEP.test(path[common.length]));
  while (!paths.every(holds)) {
    common = common.slice(0, Math.max(0, common.lastIndexOf('['), common.lastIndexOf('.')));
  }
  return common;
}
