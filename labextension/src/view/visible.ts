/**
 * The visible graph: what of a stage is on the screen for a given view, box by box and edge by edge.
 *
 * A box is a row of the outline, an operation, an argument or a result; an open row is a frame around what it holds. Values that need no edge of their own (literals,
 * constants, arguments with many users) are chips: small labels beside the boxes that read them.
 */
import type { Graph } from '../document/graph.ts';

/** How a box looks. `frame` is an open region, `turn` a value that enters or leaves a loop's body, `port` an argument or a result. */
export const Shape = { box: 0, frame: 1, turn: 2, port: 3 } as const;

/** A small label beside a box that stands for an operand or a result. */
export interface Chip {
  readonly text: string;
  /** The graph's value that it stands for, -1 for a literal or a count of more chips. */
  readonly value: number;
  readonly side: 'left' | 'right';
  /** All that it stands for, in full, for the inspector and for screen readers. */
  readonly title: string;
  /** Of an argument or a result, where it stands in the tree of them. */
  readonly path?: string;
}

/** What a later phase needs of an earlier one that stands beside it: no edge of the layout, but a line between boxes. */
export interface Cable {
  readonly source: number;
  readonly target: number;
  /** How many values are kept, and their size; each counts at one cable, however many boxes need it. */
  readonly values: number;
  readonly bytes: number;
  /** How many it carries that another cable counts, where there are any. */
  readonly shared?: number;
  /** The type of the value, where it is one. */
  readonly type?: string;
}

/** An edge to or from a phase along which several values go: drawn as one thick line, with their number, and size if known. */
export interface Bundle {
  readonly edge: number;
  readonly values: number;
  /** True for what a backward phase gives. */
  readonly gradients: boolean;
  /** The size of what is kept for a closed phase that mirrors the one that keeps it. */
  readonly bytes?: number;
}

export interface VisibleGraph {
  readonly graph: Graph;
  /** Number of boxes. A frame comes before the boxes inside it. */
  readonly count: number;
  /** What the box is: a row of the outline by its number, or a node as -1 - node. */
  readonly item: Int32Array;
  /** The graph's node that the box stands for; of a row, the one that tells most about it. */
  readonly node: Int32Array;
  /** Of a box that several nodes are seen in, those beside `node`: results that are handed through. */
  readonly others: ReadonlyMap<number, readonly number[]>;
  /** How many copies the box stands for. */
  readonly times: Int32Array;
  /** 1 for the frame of a stack of which all copies are shown. */
  readonly spread: Uint8Array;
  /** The frame that the box stands in, -1 at the top level. */
  readonly parent: Int32Array;
  /** One of `Shape`. */
  readonly shape: Uint8Array;
  /** Index into `families` of `family.ts`: decides the colour by kind of operation. */
  readonly family: Uint8Array;
  /** 1 where a double click would open the box: it stands for a region that is closed. */
  readonly closed: Uint8Array;
  /** 1 where the box stands for what the compiler did not keep. */
  readonly ghost: Uint8Array;
  /** First words of the box, such as `dot_general`. */
  readonly label: readonly string[];
  /** The first words of a box in full, only where `label` was cut. */
  readonly whole: ReadonlyMap<number, string>;
  /** What follows in small type, such as `f32[32,128]` or `scan x32`; often empty. */
  readonly detail: readonly string[];
  /** Chips of a box, only where it has any. */
  readonly chips: ReadonlyMap<number, readonly Chip[]>;
  /** 1 for a box in a phase that runs upward, beside the one that it mirrors. */
  readonly upward: Uint8Array;
  readonly cables: readonly Cable[];
  readonly bundles: readonly Bundle[];
  /**
   * The ways back into loops: the box that makes a value for the next turn, and the box that it is there; the frame of
   * the body, where it is none.
   */
  readonly carries: readonly { readonly maker: number; readonly turn: number }[];
  /** Pairs of frames that stand side by side: a phase and the one that mirrors it. */
  readonly beside: readonly (readonly [number, number])[];
  /** The box of which a box is the twin, in the phase that mirrors its own or is mirrored by it; -1 for none. */
  readonly twin: Int32Array;
  /** Edges: from box to box, with the ports that they join and the graph's value that they carry. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly sourcePort: Int32Array;
  readonly targetPort: Int32Array;
  readonly value: Int32Array;
}
