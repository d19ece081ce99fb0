/** What an explorer is given by its host. */
import type { Document, Finding } from '../document/graph.ts';
import type { LayoutClient } from '../layout/client.ts';
import type { Earlier } from './versions/earlier.ts';
import type { KernelLine } from './kernelLine.ts';
import type { SavedView } from './versions/saved.ts';
import type { SourceSpot } from './source/source.ts';
import { isFramed } from './whole.ts';

export interface ExplorerOptions {
  readonly document: Document;
  readonly layouts: LayoutClient;
  /** Height in px; without it the explorer is as high as its picture needs, within bounds. */
  readonly height?: number;
  /** Kind of the stage that is shown first; the first of the document where it is absent. */
  readonly stage?: string;
  /** What was seen when the notebook was saved. */
  readonly view?: SavedView;
  /** What was seen of an earlier version of the program in the same place. */
  readonly earlier?: Earlier;
  /** Called when the person has changed what is seen, for the host to keep it. */
  readonly save?: (view: SavedView) => void;
  /** Called when the person has asked where a finding is. */
  readonly shownFinding?: (finding: Finding) => void;
  /** True where the host gives the height, as for a file in a tab of its own. */
  readonly fill?: boolean;
  /** True where the page is the explorer's own: keys that are pressed nowhere in particular are meant for it. */
  readonly alone?: boolean;
  /** What boxes are coloured by at first; by their kind where it is absent. */
  readonly colour?: string;
  /** Shows a line of the person's source where it was written. */
  readonly goToLine?: (spot: SourceSpot) => void;
  /** Takes the keys back where there is nothing left here that Escape lets go of. */
  readonly takeKeys?: () => void;
  /** The line to the kernel that made it, where there is one. */
  readonly kernel?: KernelLine;
  /** Stages that the kernel still works on: another document comes with them. */
  readonly coming?: readonly string[];
  /** The document as it came, for saving. */
  readonly data?: unknown;
}

/** A page that stands in another one is a figure there: most of its room is the picture's. */
export function isFigure({ alone }: ExplorerOptions): boolean {
  return alone === true && isFramed();
}
