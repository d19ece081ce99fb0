/** What a picture is made with, and what it tells of itself. */
import type { Document } from '../../document/graph.ts';
import type { Mark } from '../../draw/marks.ts';
import type { Scene } from '../../draw/scene.ts';
import type { Palette } from '../../draw/theme.ts';
import type { LayoutClient } from '../../layout/client.ts';
import type { ViewState } from '../../view/folds.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import type { Colours } from './colours.ts';
import type { Height } from '../height.ts';
import type { Change } from './openings.ts';
import type { Search } from '../bar/search.ts';

export interface PaneParts {
  readonly document: Document;
  readonly layouts: LayoutClient;
  readonly colours: Colours;
  readonly search: Search;
  /** The pass of which it is shown what it removes, in the state before; null for none. */
  readonly passes: { readonly losing: number | null };
  readonly palette: Palette;
  /** The number of the graph that is shown first. */
  readonly graph: number;
  readonly height: Height;
  /** True while the explorer has the whole window. */
  whole(): boolean;
  /** True where nothing but the explorer could be scrolled. */
  ownsWheel(): boolean;
}

export interface PaneEvents {
  /** How the graph of this number is seen at first, by how it would be alone. */
  first(graph: number, alone: ViewState): ViewState;
  /** Another graph is shown, or the same one afresh. */
  entered(): void;
  /** Another scene is on the screen. */
  shown(scene: Scene): void;
  /** A box was clicked; its item is selected next. */
  clicked(box: number): void;
  /** The pointer is on another box, or on none: -1. */
  hovered(box: number): void;
  /** What is selected or lit has changed. */
  marked(): void;
  /** The person opened or closed something. */
  opened(change: Change): void;
  /** Marks beside those of a pass of the compiler. */
  marks(visible: VisibleGraph): readonly Mark[];
  /** What is seen has changed in any way. */
  changed(): void;
  /** The picture has another size. */
  resized(): void;
}
