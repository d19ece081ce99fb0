/**
 * What the layout is given and what it gives back.
 *
 * Boxes nest in groups, edges join boxes. The layout knows sizes, nesting and order, and nothing of what a box means.
 * Everything per box or per edge is a typed array, so that a job crosses to the worker without a copy of objects.
 */

/** Where a box must stand inside its group: `ordered` in any row, but there in program order with others that are. */
export const Pin = { free: 0, top: 1, bottom: 2, ordered: 3 } as const;

/** A graph to be laid out. Box `i` is described by entry `i` of each box column, edge `e` by entry `e` of each edge column. */
export interface LayoutInput {
  /** The group that a box stands in, -1 for the top level. A group comes before its members; members stand in program order. */
  readonly parent: Int32Array;
  /** Size of a box in px. For a group: the least size, which its title needs. */
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** Room kept free to the left and the right of the box, for its chips, in px. */
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** 1 for a group: a box that is open, even if nothing stands in it. */
  readonly group: Uint8Array;
  /** One of `Pin`: arguments go to the top of their group, results to the bottom. Pinned boxes keep their order. */
  readonly pin: Uint8Array;
  /** Edges run from the bottom of `source` to the top of `target`, across the borders of groups where need be. What joins a box and a group that it stands in runs inside, from or to the border. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Ordinal of the edge's port among the outputs of its source and the operands of its target: ports stand left to right in this order. */
  readonly sourcePort: Int32Array;
  readonly targetPort: Int32Array;
  /** Centres of boxes, as x, in the picture that this one follows; NaN for boxes that are new. Boxes keep their order then. */
  readonly before?: Float64Array;
  /** With `before`, how else boxes stood there. */
  readonly stood?: Stood;
  /** Where given, the box that a box should stand at one height with, or -1. The groups that they stand in are told the same of each other. */
  readonly level?: Int32Array;
  /** Where given, long chains are folded into columns, to a shape about this many times as wide as high. */
  readonly aspect?: number;
  /** The share of the work for few crossings that is done, 1 where it is not given: less where only the size counts. */
  readonly effort?: number;
}

/** How boxes stood in the picture before: NaN and -1 for boxes that are new. */
export interface Stood {
  readonly width: Float64Array;
  /** As in `Layout`. */
  readonly row: Int32Array;
  readonly column: Int32Array;
  readonly shelf: Int32Array;
  readonly above: Float64Array;
  readonly below: Float64Array;
}

/** Positions in px, y downward. A box's place is its upper left corner, without the room for chips. */
export interface Layout {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** The row of its part of its group that a box stands in. */
  readonly row: Int32Array;
  /** The column that a box stands in, where the part of its group that it belongs to was folded; 0 where it was not. */
  readonly column: Int32Array;
  /** The shelf of its group that the part of a box stands in. */
  readonly shelf: Int32Array;
  /** Space between the row of a box and the next ones of its part, in px; NaN where there is none. */
  readonly above: Float64Array;
  readonly below: Float64Array;
  /** Final sizes: as given for boxes, grown around their members for groups. */
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** Edge `e` runs through points `routeStart[e]` to `routeStart[e + 1]` of `route`, which holds x, y, x, y, ... An edge that is not drawn has no points. */
  readonly routeStart: Int32Array;
  readonly route: Float64Array;
  /** Size of the whole picture; every box and route lies between 0 and this. */
  readonly totalWidth: number;
  readonly totalHeight: number;
  /** What was simplified because the graph was too large for its full treatment, in words; empty as a rule. */
  readonly simplified: readonly string[];
}
