/**
 * A document as the browser works with it: the columns of the file as typed arrays, and what follows from them.
 * `../../../schema/document.schema.json` says what each column means; `decode.ts` makes these objects and checks them.
 */

import type {
  CheckpointPolicy,
  Compiling,
  Measures,
  Memory,
  Passes,
  Process,
  Residuals,
  TracingError,
  ValuesOfRun
} from './schema.generated.ts';

export type { CheckpointPolicy, Compiling, Measures, Memory, Passes, Process, Residuals, TracingError, ValuesOfRun };

/** What a node is. */
export const NodeKind = { operation: 0, argument: 1, result: 2, constant: 3 } as const;

/** How a value crosses the border of a region. */
export const BindingKind = { enter: 0, init: 1, slice: 2, leave: 3, stack: 4, carry: 5 } as const;

/** One stage of a program. Indices into `strings` are resolved by `Document.strings`. */
export interface Graph {
  readonly nodeCount: number;
  readonly kind: Uint8Array;
  readonly op: Int32Array;
  readonly name: Int32Array;
  readonly region: Int32Array;
  readonly stack: Int32Array;
  readonly scope: Int32Array;
  /** Node `n` makes the values `firstValue[n]` to `firstValue[n + 1]`, and reads the operands `firstOperand[n]` to `firstOperand[n + 1]`. */
  readonly firstValue: Int32Array;
  readonly firstOperand: Int32Array;
  readonly valueType: Int32Array;
  /** The node that makes a value. */
  readonly valueNode: Int32Array;
  /** A value, or -1 - i for literal i. */
  readonly operandSource: Int32Array;
  readonly literalText: Int32Array;
  readonly literalType: Int32Array;
  readonly regionCount: number;
  readonly regionOwner: Int32Array;
  readonly regionKind: Int32Array;
  readonly regionName: Int32Array;
  /** Region `r`, with the regions inside it, holds the nodes `regionStart[r]` to `regionEnd[r]`. */
  readonly regionStart: Int32Array;
  readonly regionEnd: Int32Array;
  /** Node `n` owns the regions `ownedRegions[firstRegion[n]]` to `ownedRegions[firstRegion[n + 1]]`. */
  readonly firstRegion: Int32Array;
  readonly ownedRegions: Int32Array;
  readonly bindingKind: Uint8Array;
  readonly bindingFrom: Int32Array;
  readonly bindingTo: Int32Array;
  readonly attributeNode: Int32Array;
  readonly attributeKey: Int32Array;
  readonly attributeValue: Int32Array;
}

/** Columns shared by all graphs of a document; see the schema. */
export interface Types {
  readonly text: Int32Array;
  readonly dtype: Int32Array;
  readonly rank: Int32Array;
  readonly firstDim: Int32Array;
  readonly dims: Int32Array;
  readonly bytes: Float64Array;
  readonly weak: Uint8Array;
}

export interface Files {
  readonly path: Int32Array;
  readonly label: Int32Array;
  readonly library: Uint8Array;
  readonly start: Int32Array;
  readonly text: Int32Array;
}

export interface Frames {
  readonly file: Int32Array;
  readonly function: Int32Array;
  readonly line: Int32Array;
  readonly column: Int32Array;
  readonly endLine: Int32Array;
  readonly endColumn: Int32Array;
}

export interface Stacks {
  readonly frame: Int32Array;
  readonly parent: Int32Array;
}

export interface Stage {
  readonly kind: string;
  readonly graph: number;
  readonly seconds: Readonly<Record<string, number>>;
}

export interface Program {
  readonly name: string;
  readonly call: string;
  readonly file: number;
  readonly line: number;
  readonly stages: readonly Stage[];
  /** The device that it was compiled for, where that is not the one that was there. */
  readonly target?: { readonly name: string; readonly label: string; readonly limits: readonly string[] };
  /** The error that ended the trace; then the first stage is what was traced until then. */
  readonly error?: TracingError;
  /** Why a stage is not there, in words, by its kind. */
  readonly missing?: Readonly<Record<string, string>>;
}

/**
 * How a link was found: by the tag of one node, by those of several, or by its neighbours. Between two programs, changed
 * tells a counterpart that does something else.
 */
export const LinkKind = { exact: 0, merged: 1, inferred: 2, changed: 3 } as const;

/** Which nodes of the graph `from` became which nodes of the graph `to`; rows in the order of the target. */
export interface Links {
  readonly from: number;
  readonly to: number;
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly kind: Uint8Array;
  /** The share of each kind among the targets that compute something. */
  readonly shares: Readonly<Record<string, number>>;
}

/** What became of an equation; the numbers are those of the schema. */
export const FateKind = {
  none: 0,
  alone: 1,
  fused: 2,
  both: 3,
  context: 4,
  dead: 5,
  unlowered: 6,
  imported: 7,
  simplified: 8,
  folded: 9,
  merged: 10,
  consequence: 11,
  moved: 12
} as const;

/** What a row of an outline is. */
export const RowKind = {
  program: 0,
  phase: 1,
  module: 2,
  call: 3,
  statement: 4,
  function: 5,
  loop: 6,
  cond: 7,
  body: 8,
  recomputed: 9,
  expression: 10,
  stack: 11,
  copy: 12,
  part: 13
} as const;

/** What a node is drawn as. */
export const NodeRole = { box: 0, edge: 1, chip: 2, counter: 3, through: 4, detail: 5 } as const;

/**
 * The tree by which a graph is folded for reading. Rows stand in preorder; a row holds the nodes `first` to `end`, those
 * of the rows inside it among them.
 */
export interface Outline {
  readonly graph: number;
  readonly parent: Int32Array;
  /** One of `RowKind`. */
  readonly kind: Uint8Array;
  readonly name: Int32Array;
  readonly detail: Int32Array;
  readonly variable: Int32Array;
  readonly first: Int32Array;
  readonly end: Int32Array;
  /** 1 for what is one box at first: all of it comes from one expression. */
  readonly closed: Uint8Array;
  /** How many copies it is a stack of; its children are the copies then. */
  readonly count: Int32Array;
  readonly copy: Int32Array;
  /** The row of the first copy that it corresponds to, or -1. */
  readonly like: Int32Array;
  /** Its part of the other phase, or -1. */
  readonly twin: Int32Array;
  /** The region of the graph that it is the body of, or -1. */
  readonly region: Int32Array;
  /** Of each node, one of `NodeRole`. */
  readonly role: Uint8Array;
}

/** The fates of the equations of a graph: a row for each node. */
export interface Fates {
  readonly graph: number;
  readonly kind: Uint8Array;
  /** The compiler pass that removed it: string. */
  readonly where: Int32Array;
  /** The node that took its place, or -1. */
  readonly by: Int32Array;
}

/** Something worth telling about a graph: runs of its nodes, and lines of the source. */
export interface Finding {
  readonly graph: number;
  readonly kind: string;
  readonly severity: 'note' | 'advice' | 'warning';
  readonly title: string;
  readonly text: string;
  readonly remedy: string;
  readonly first: readonly number[];
  readonly size: readonly number[];
  readonly file: readonly number[];
  readonly line: readonly number[];
  readonly figures: Readonly<Record<string, number>>;
  /** A line of Python that goes on from it. */
  readonly action?: string;
}

export interface Document {
  readonly version: number;
  readonly producer: Readonly<Record<string, string>>;
  readonly strings: readonly string[];
  readonly types: Types;
  readonly files: Files;
  readonly frames: Frames;
  readonly stacks: Stacks;
  readonly graphs: readonly Graph[];
  readonly programs: readonly Program[];
  readonly links: readonly Links[];
  readonly fates: readonly Fates[];
  readonly outlines: readonly Outline[];
  readonly passes: readonly Passes[];
  readonly findings: readonly Finding[];
  readonly measures: readonly Measures[];
  readonly memory: readonly Memory[];
  readonly values: readonly ValuesOfRun[];
  readonly compiling: readonly Compiling[];
  readonly residuals: readonly Residuals[];
  readonly processes: readonly Process[];
}
