/** What became of one instruction from pass to pass, in words, for the details. */
import { passesOf, programOf } from '../../document/programs.ts';
import { storyOf, type Event } from '../../document/changes.ts';
import type { Document, Graph, Passes } from '../../document/graph.ts';
import { stateOf } from '../../document/series.ts';
import { openState, placeOf, sameInstruction } from '../../document/states.ts';
import { CHANGE_WORDS } from '../picture/marks.ts';
import { alteredWords } from './altered.ts';

/** One line of the story: which pass, and what it did. */
export interface StoryLine {
  /** The state after the pass. */
  readonly number: number;
  readonly pass: string;
  readonly text: string;
}

/** Of many instructions that went into one, so many are named. */
const MOST_NAMED = 3;

/** The story of a node of a state, or of optimized HLO; empty for any other, and where nothing happened to it. */
export function storyLines(document: Document, graph: Graph, node: number): StoryLine[] {
  const index = document.graphs.indexOf(graph);
  const found = stateWith(document, index, node);
  if (!found) {
    return [];
  }
  const { passes, number, at } = found;
  const events = storyOf(document, passes, number, at);
  const lineage = stateOf(passes, number).lineage[at];
  return events.length > 1 || events[0]?.kind !== 'given'
    ? events.map(event => line(document, passes, lineage, event))
    : [];
}

/** A state that holds the node: its own, or the last, whose instructions are those of optimized HLO. */
function stateWith(
  document: Document,
  index: number,
  node: number
): { passes: Passes; number: number; at: number } | undefined {
  const place = placeOf(document, index);
  if (place) {
    return { ...place, at: node };
  }
  const program = programOf(document, index);
  const passes = passesOf(document, program);
  const stage = document.programs[program]?.stages.find(({ graph }) => graph === index);
  if (!passes || stage?.kind !== 'hlo') {
    return undefined;
  }
  const number = passes.states.length - 1;
  const at = sameInstruction(document, index, node, openState(document, passes, number));
  return at === undefined ? undefined : { passes, number, at };
}

function line(document: Document, passes: Passes, lineage: number, { number, kind, from, by }: Event): StoryLine {
  const pass = passes.states[number].name;
  if (kind === 'given') {
    return { number, pass: 'at first', text: 'given to the compiler' };
  }
  if (by >= 0) {
    return { number, pass, text: `gone: ${nameOf(document, stateOf(passes, number).graph, by)} took its place` };
  }
  if (kind === 'changed') {
    return { number, pass, text: alteredWords(document, passes, number, lineage) || CHANGE_WORDS.changed };
  }
  if (kind !== 'added' || !from.length) {
    return { number, pass, text: CHANGE_WORDS[kind] };
  }
  const { graph } = stateOf(passes, number - 1);
  const named = [...new Set(from.map(one => nameOf(document, graph, one)))];
  const rest = named.length - MOST_NAMED;
  return {
    number,
    pass,
    text: `new, from ${named.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
  };
}

/** The operation, with the line of the person's own that it comes from. */
function nameOf(document: Document, graph: Graph, node: number): string {
  const { frames, files, stacks, strings } = document;
  for (let at = graph.stack[node]; at >= 0; at = stacks.parent[at]) {
    const frame = stacks.frame[at];
    if (!files.library[frames.file[frame]]) {
      return `${strings[graph.op[node]]} at line ${frames.line[frame]}`;
    }
  }
  return strings[graph.op[node]];
}
