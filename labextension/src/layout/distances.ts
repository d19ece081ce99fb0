/** Every distance of the layout, in px. */

/** Between the boxes of one row and those of the next; with a box of 22 px the pitch of rows is 35. */
export const ROW_GAP = 13;
/** Between a border of a group and the rows inside: its padding keeps them apart already. Not where edges cross. */
export const GATE_GAP = 2;
/** Rows stand further apart where edges between them run far sideways, so that curves do not become flat. */
export const ROW_GAP_SIDEWAYS = 0.06;
export const ROW_GAP_MOST = 44;
/** Between neighbours in a row. */
export const BOX_GAP = 24;
/** Between an edge that passes a row and its neighbours. */
export const LANE_GAP = 12;
/** Between a group's border and what stands in it. */
export const GROUP_PADDING = 14;
/** From a group's upper border to what stands in it: room for its title. */
export const GROUP_TITLE = 28;
/** Ports of a box keep this far from its corners. */
export const PORT_INSET = 8;
/** Ports of a box stand no further apart than this. */
export const PORT_PITCH = 18;
/** An end that is alone on its side of a box slides no further than this from the middle. */
export const MOST_SLIDE = 40;
/** The same for what is pinned to the bottom: results. */
export const RESULT_SLIDE = 8;
/** Between parts of a group that no edge joins. */
export const PART_GAP = 32;
