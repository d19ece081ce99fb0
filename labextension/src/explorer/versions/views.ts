/** What is seen as data, and the other way round: the stage, what is open and selected, colour, search, height, camera. */
import type { Beside } from '../compare/beside.ts';
import type { Colours } from '../picture/colours.ts';
import type { Height } from '../height.ts';
import type { Inspection } from '../details/inspection.ts';
import type { Pane } from '../picture/pane.ts';
import type { Reading } from '../source/reading.ts';
import type { OperationTable } from '../table/table.ts';
import type { SavedCamera, SavedView } from './saved.ts';
import type { Search } from '../bar/search.ts';

export interface Viewed {
  /** The picture at the left, or the only one. */
  readonly first: Pane;
  readonly beside: Beside;
  readonly colours: Colours;
  readonly search: Search;
  readonly height: Height;
  readonly inspection: Inspection;
  readonly reading: Reading;
  readonly table: OperationTable;
}

/** What is seen, for the notebook or as text. */
export function viewOf({ first, beside, colours, search, height, reading, table }: Viewed): SavedView {
  const right = beside.panes[1]?.viewing.saved.stage;
  const camera = first.picture.placed;
  return {
    ...first.viewing.saved,
    colour: colours.key,
    search: search.query,
    height: height.chosen,
    ...(right === undefined ? {} : { beside: { stage: right, place: beside.divider.at } }),
    ...(camera ? { camera: rounded(camera) } : {}),
    ...(reading.asked ? { reading: reading.asked } : {}),
    ...(table.saved ? { table: table.saved } : {})
  };
}

/** Shows a view that was saved or copied; `moves` is false where the camera goes on from the picture before. */
export function showView(viewed: Viewed, view: SavedView, moves = true): void {
  const { first, beside, colours, search, height, reading, table } = viewed;
  const { viewing } = first;
  beside.close();
  viewing.kernels = view.kernels;
  first.change(viewing.graphNamed(view.stage), view);
  height.chosen = view.height ?? height.chosen;
  colours.choose(view.colour);
  search.restore(view.search);
  reading.restore(view.reading);
  table.restore(view.table);
  void first.layOut(viewing.selected).then(() => moves && view.camera && first.picture.place(view.camera));
  if (view.beside) {
    beside.divider.move(view.beside.place);
    beside.open(viewing.graphNamed(view.beside.stage), !view.camera);
  }
}

/** A camera as it is saved: finer than what can be seen is of no use. */
function rounded({ x, y, scale, ...rest }: SavedCamera): SavedCamera {
  return { x: Math.round(x), y: Math.round(y), scale: Number(scale.toPrecision(3)), ...rest };
}
