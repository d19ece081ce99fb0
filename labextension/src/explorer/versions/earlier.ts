/**
 * A picture of an earlier version of a program, whose place a picture of the version now takes: a cell was changed and
 * run again. What was opened and selected, the stage, the colour, the place on the screen go on, as far as they exist.
 */
import type { Document, Graph } from '../../document/graph.ts';
import { colourings } from '../../view/colouring.ts';
import { kernelTreeOf, programOfTree } from '../../view/kernelTree.ts';
import { rowsOf } from '../../view/outline.ts';
import { boxesBefore, itemsIn, sameRows, type Version } from '../../view/versions.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import type { Scene } from '../../draw/scene.ts';
import { isFailure } from '../failure.ts';
import type { Openings } from '../picture/openings.ts';
import type { ReadingStand } from '../source/reading.ts';
import type { TableStand } from '../table/table.ts';
import type { RoomStand } from '../picture/roomLeft.ts';
import type { SavedView } from './saved.ts';
import type { Stand } from '../picture/viewpoint.ts';
import { showView, viewOf, type Viewed } from './views.ts';
import { getOrMake } from '../../maps';

export interface Earlier {
  readonly document: Document;
  /** The stage and the height that its host had asked for. */
  readonly asked: Asked;
  readonly view: SavedView;
  readonly at: number;
  readonly openings: Openings;
  readonly source: ReadingStand;
  readonly table: TableStand;
  /** px that the picture was high. */
  readonly high: number;
  readonly picture: EarlierPicture | null;
  /** True where the details stood at the left. */
  readonly atLeft: boolean;
  /** True where a person has chosen anything of what is seen. */
  readonly chosen: boolean;
}

/** What an explorer was asked to show at first, by its host. */
export interface Asked {
  readonly stage?: string | undefined;
  readonly height?: number | undefined;
  readonly colour?: string | undefined;
}

/** What was on the screen, and where. */
export interface EarlierPicture {
  readonly scene: Scene;
  readonly stand: Stand;
  readonly room: RoomStand;
}

/** The same, with how its boxes are found in a picture of now. */
export interface Followed extends EarlierPicture {
  readonly boxes: (visible: VisibleGraph) => Int32Array;
}

export function earlierOf(document: Document, viewed: Viewed, asked: Asked): Earlier {
  const { scene, viewing, picture, room } = viewed.first;
  const { openings } = viewing;
  const view = viewOf(viewed);
  const { selected, search, height, camera, beside, kernels, stage, colour } = view;
  const other =
    stage !== (asked.stage ?? document.programs[0].stages[0].kind) || colour !== (asked.colour ?? colourings[0].key);
  const moved = [search, height, camera, beside].some(Boolean);
  return {
    document,
    asked: { stage: asked.stage, height: asked.height, colour: asked.colour },
    view,
    at: viewing.at,
    openings,
    source: viewed.reading.standing,
    table: viewed.table.standing,
    high: viewed.height.now,
    picture: scene && { scene, stand: picture.stand, room: room.stand },
    atLeft: viewed.inspection.atLeft,
    chosen: openings.touched || selected !== null || kernels || other || moved
  };
}

/**
 * Shows what is seen of an earlier version. What the host asks for otherwise by now goes before. `wholly` is false where
 * the stage is not there that was seen, or the trace has failed; `shown` ends once the picture is there.
 */
export function goOnFrom(
  document: Document,
  { first, beside, colours, search, height, inspection }: Viewed,
  earlier: Earlier,
  asked: Asked
): { readonly wholly: boolean; readonly shown: Promise<void> } {
  const { view, openings, picture } = earlier;
  const versions = new Versions(earlier.document, document);
  const graph = earlier.document.graphs[earlier.at];
  const found = asked.stage === earlier.asked.stage ? versions.of(graph) : null;
  const at = found ? document.graphs.indexOf(found.graph) : first.viewing.at;
  first.viewing.kernels = view.kernels;
  if (asked.height === earlier.asked.height) {
    height.chosen = view.height;
    height.goOn(earlier.chosen ? earlier.high : 0);
  }
  if (asked.colour === earlier.asked.colour) {
    colours.choose(view.colour);
  } else if (asked.colour) {
    colours.choose(asked.colour);
  }
  search.restore(view.search);
  inspection.goOn(earlier.atLeft);
  if (found && picture) {
    first.follow({ ...picture, boxes: versions.boxesOf(picture.scene.visible) });
  }
  const shown = first.beginWith(at, () => {
    first.viewing.openings.goOnFrom(openings, versions);
    first.viewing.select(found && view.selected !== null ? versions.itemNow(graph, view.selected) : null);
    return first.viewing.selected;
  });
  if (view.beside) {
    beside.divider.move(view.beside.place);
    beside.open(first.viewing.graphNamed(view.beside.stage), false);
  }
  const all = found !== null && !isFailure(document);
  return { wholly: all || asked.stage !== earlier.asked.stage, shown };
}

/** The graph of the version now that is what a graph of the earlier one was; none where that is not there, or not yet. */
export function sameForm(before: Document, at: number, now: Document): number | undefined {
  const program = programOfTree(before, at);
  if (program !== undefined) {
    const like = sameForm(before, program, now);
    return like === undefined ? undefined : kernelTreeOf(now, like);
  }
  for (const [number, { stages }] of before.programs.entries()) {
    const kind = stages.find(({ graph }) => graph === at)?.kind;
    if (kind !== undefined) {
      return now.programs[number]?.stages.find(stage => stage.kind === kind)?.graph;
    }
  }
  return undefined;
}

/** Shows what is seen of a document that has less of the same program. */
export function goOnWithMore(document: Document, viewed: Viewed, before: Earlier): void {
  const { at, document: less, high, openings, picture, view } = before;
  const { first, height, inspection } = viewed;
  inspection.goOn(before.atLeft);
  const follows = picture !== null && sameForm(less, at, document) !== undefined;
  height.goOn(high);
  if (follows) {
    // The same rows and operations have the same numbers.
    first.follow({ ...picture, boxes: visible => boxesBefore(picture.scene.visible, item => item, visible) });
  }
  showView(viewed, view, !follows);
  first.viewing.openings.goOn(openings);
}

/** True for a document of the same program that has all stages of one before, with the same operations in the same rows. */
export function hasAllOf(now: Document, before: Document): boolean {
  return before.programs.every(({ stages }, number) =>
    stages.every(({ kind, graph }) => {
      const like = now.programs[number]?.stages.find(stage => stage.kind === kind)?.graph;
      return like !== undefined && isSame(before, before.graphs[graph], now, now.graphs[like]);
    })
  );
}

function isSame(one: Document, graph: Graph, other: Document, like: Graph): boolean {
  const [rows, rowsLike] = [rowsOf(one, graph), rowsOf(other, like)];
  return (
    graph.nodeCount === like.nodeCount &&
    rows.count === rowsLike.count &&
    rows.name.every((name, row) => name === rowsLike.name[row]) &&
    graph.op.every((op, node) => one.strings[op] === other.strings[like.op[node]])
  );
}

/** A graph of the version now, and which of its rows are those of the earlier one. */
export interface Versioned {
  readonly graph: Graph;
  readonly rows: Version;
}

/** Versions of the graphs of two documents, each worked out once. */
export class Versions {
  private readonly known = new Map<Graph, Versioned | null>();

  constructor(
    readonly before: Document,
    readonly now: Document
  ) {}

  /** Of a graph of the earlier version that of now, and which rows are the same. */
  of(graph: Graph): Versioned | null {
    return getOrMake(this.known, graph, () => {
      const { before, now } = this;
      const at = sameForm(before, before.graphs.indexOf(graph), now);
      const like = at === undefined ? null : now.graphs[at];
      return like && { graph: like, rows: sameRows({ document: before, graph }, { document: now, graph: like }) };
    });
  }

  /** What an item of a graph of the earlier version is now; null where that is gone. */
  itemNow(graph: Graph, item: number): number | null {
    const found = this.of(graph);
    const [from, to] = [{ document: this.before, graph }, found && { document: this.now, graph: found.graph }];
    return found && to && itemsIn(from, to, found.rows.now)(item);
  }

  /** Gives for each box of a picture of now that of the earlier one, or -1. */
  boxesOf(before: VisibleGraph): (visible: VisibleGraph) => Int32Array {
    return visible => {
      const found = this.of(before.graph);
      if (found?.graph !== visible.graph) {
        return new Int32Array(visible.count).fill(-1);
      }
      const [from, to] = [
        { document: this.now, graph: visible.graph },
        { document: this.before, graph: before.graph }
      ];
      return boxesBefore(before, itemsIn(from, to, found.rows.before), visible);
    };
  }
}
