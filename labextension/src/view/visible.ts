/**
 * The visible graph: what of a stage is on the screen for a given view, box by box and edge by edge.
 *
 * A box is an operation, an argument, a result or an open region. Values that need no edge of their own (literals,
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
}

export interface VisibleGraph {
  readonly graph: Graph;
  /** Number of boxes. A frame comes before the boxes inside it. */
  readonly count: number;
  /** The graph's node that the box stands for; for a frame, the owner of its region. */
  readonly node: Int32Array;
  /** The region that is open inside the box; -1 for a box that is not a frame, and for the frame around an owner's several regions. */
  readonly region: Int32Array;
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
  /** What follows in small type, such as `f32[32,128]` or `scan x32`; often empty. */
  readonly detail: readonly string[];
  /** Chips of a box, only where it has any. */
  readonly chips: ReadonlyMap<number, readonly Chip[]>;
  /** Edges: from box to box, with the ports that they join and the graph's value that they carry. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly sourcePort: Int32Array;
  readonly targetPort: Int32Array;
  readonly value: Int32Array;
}
