/**
 * The first view: which rows are open before the person does anything. As many as fit into the space at a readable
 * size, loops and branches before plain calls, what does much before what does little; found by really laying out.
 */
import { RowKind, type Document, type Graph } from '../document/graph.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { childrenOf, rowsOf, type Rows } from './outline.ts';
import { areAlike, candidates, holdsMost, mirrors } from './candidates.ts';
import { Apart, Brevity, type ViewState } from './folds.ts';
import { AMOUNTS, isReached, LEAST_AMOUNTS, openEverything, openRow, PATIENT_AMOUNTS } from './opening.ts';
import { toLayout } from './place.ts';
import { boxesIn, seenIn, type Seen } from './showing.ts';
import type { Measure } from './sizes.ts';
import { aspectOf, brevityIn, fitZoom, isLarge, type Space } from './space.ts';
import { Tried } from './tried.ts';
import type { VisibleGraph } from './visible.ts';

/** Text is read easily down to this zoom. */
export const LEAST_ZOOM = 0.75;
/** Without most of the work for few crossings a picture is about as large: that is done where the zoom is so near to it. */
const ROUGHLY = 0.1;
const NEAR = 0.12;
/** Types of what closed rows give are worth this much of the zoom without them. */
const ZOOM_WITH_TYPES = 0.95;
/** Names that are said whole are worth this much of the zoom with those that are cut. */
const ZOOM_WITH_LONG_NAMES = 0.95;
/** What tells closed rows apart that look alike is worth more. */
const ZOOM_APART = 0.85;
/** So few boxes may say more where names and chips are short, as if it were narrow. */
const LEAVING_ROOM = 7;
/** Up to so many boxes, words may be as short as they get for a stack to open that is most of what there is. */
const BESIDE_STACKS = 12;
/** So few boxes beside phases say little: forward is shown without backward instead. */
const SAYING_LITTLE = 4;
/** One choice shows far more than another one if what that leaves closed is so many times as large, or the rest smaller. */
const LARGER = 1.5;
/** One closed box with more than so much of the program, or of a phase, hides most of it. */
const HIDING = 1 / 2;
/** One with so much leaves nearly nothing of it to be seen. */
const NEARLY_ALL = 3 / 4;
/** A stranger takes in no more boxes that stand for operations than this at once. */
export const MOST_BOXES = 25;
/** In a space as large as a window, what mirrors the part that holds most may stand beside it with so many boxes in all. */
const MOST_BOXES_MIRRORED = 40;
/** Up to so many boxes, everything is shown open, if it fits. */
const CALM_BOXES = 14;
/** With fewer boxes than this there is room for what single expressions are made of. */
const FEW_BOXES = 5;
/** Rows that are tried; each try lays out once. */
const MOST_TRIES = 16;

/** Chooses the first view at one go. */
export function firstView(
  document: Document,
  graph: Graph,
  space: Space,
  measure: Measure,
  layout: (input: LayoutInput) => Layout
): ViewState {
  const steps = firstSteps(document, graph, space, measure);
  let next = steps.next();
  while (!next.done) {
    next = steps.next(next.value ? layout(next.value) : undefined);
  }
  return next.value;
}

/** What is to be laid out next, or nothing where there is only time to do something else meanwhile. */
export type Step = LayoutInput | undefined;

type Steps<Found> = Generator<Step, Found, Layout | undefined>;

/** Chooses the first view step by step: asks for layouts, and lets others go first between what takes long. */
export function* firstSteps(document: Document, graph: Graph, space: Space, measure: Measure): Steps<ViewState> {
  const rows = rowsOf(document, graph);
  yield undefined;
  const tried = new Tried(document, graph);
  const chooserOf = (brevity: number): Chooser => new Chooser(rows, tried, space, measure, brevity);
  const { state } = yield* chosen(chooserOf, brevityIn(space));
  return yield* chooserOf(brevityIn(space)).withDetails(state);
}

/** What is chosen with words as they are, or with shorter ones where little is seen otherwise. */
function* chosen(chooserOf: (brevity: number) => Chooser, least: number): Steps<Chooser> {
  const chooser = chooserOf(least);
  yield* chooser.choose();
  if (chooser.boxes > LEAVING_ROOM && chooser.fits && !chooser.hides) {
    return chooser;
  }
  const shorter = least === Brevity.none ? chooserOf(Brevity.short) : chooser;
  if (shorter !== chooser) {
    shorter.patient = chooser.boxes <= LEAVING_ROOM;
    yield* shorter.choose();
  }
  const shortened = isBetter(shorter, chooser) ? shorter : chooser;
  if (shortened.saysEnough) {
    return shortened;
  }
  if (shortened.fits) {
    // Where twins are too large side by side, a little of forward alone says more than closed boxes.
    yield* chooser.forward();
    if (shorter !== chooser) {
      yield* shorter.forward();
    }
  }
  const best = isBetter(shorter, chooser) ? shorter : chooser;
  const parted = chooser.parts || shorter.parts;
  const enough = best.hides ? BESIDE_STACKS : LEAVING_ROOM;
  if (!parted && (best.saysEnough || (best.fits && !best.hidesOnce && best.boxes > enough))) {
    return best;
  }
  const shortest = chooserOf(Brevity.shortest);
  yield* shortest.choose();
  const many = best.fits && best.boxes > LEAVING_ROOM;
  if (shortest.fits && !shortest.saysEnough && (best.hides || !many)) {
    yield* shortest.forward();
  }
  // Words are not made hard to read for a few boxes more.
  const better = many ? shortest.opensMore(best.seen) || shortest.completes(best) : isBetter(shortest, best);
  return better ? shortest : best;
}

/** True where one choice opens both sides of what another one opens alone, else where it says more, or else is larger. */
function isBetter(one: Chooser, other: Chooser): boolean {
  if (one.fits !== other.fits) {
    return one.fits;
  }
  if (!one.fits) {
    return one.zoom > other.zoom;
  }
  if (one.completes(other) || other.completes(one)) {
    return one.completes(other);
  }
  return one.opensMore(other.seen) || (!other.opensMore(one.seen) && one.boxes > other.boxes);
}

class Chooser {
  private open: ReadonlySet<number> = new Set();
  /** What was open before a row was opened by less than all that it is nothing without. */
  private whole: ReadonlySet<number> | null = null;
  /** False where not even what cannot but be open has room. */
  fits = true;
  /** How large that is then. */
  zoom = 0;
  /** Whether statements may stay closed for calls with more in them: short words alone are no reason to show more. */
  patient = true;
  /** True where forward is open alone, or would be: what mirrors it has no room. */
  parts = false;
  /** What is open while its twin is closed. */
  private alone: readonly number[] = [];
  /** What is seen of the program, and what is not. */
  seen: Seen = { boxes: 0, says: 0, largest: 0, largestCopy: 0, hidden: 0, hiddenCopy: 0 };
  /** How much opens with a row, the most first. */
  private amounts = AMOUNTS;
  /** How many boxes there may be with what holds most open beside what mirrors it. */
  private most = MOST_BOXES;

  constructor(
    private readonly rows: Rows,
    private readonly tried: Tried,
    private readonly space: Space,
    private readonly measure: Measure,
    private readonly brevity: number
  ) {}

  get state(): ViewState {
    return { open: this.open, brevity: this.brevity };
  }

  /** The same with more told of closed rows, if all of it stays nearly as large as it is. */
  *withDetails(state: ViewState): Steps<ViewState> {
    const beside = yield* this.withMore(state, { apart: Apart.beside }, ZOOM_APART);
    const apart = beside === state ? yield* this.withMore(state, { apart: Apart.assigned }, ZOOM_APART) : beside;
    if (state.brevity) {
      return apart;
    }
    const named = yield* this.withMore(apart, { long: true }, ZOOM_WITH_LONG_NAMES);
    return yield* this.withMore(named, { types: true }, ZOOM_WITH_TYPES);
  }

  private *withMore(state: ViewState, told: Partial<ViewState>, share: number): Steps<ViewState> {
    // What is remembered of the one is kept for where it is the better one.
    const more = { ...state, ...told, open: new Set(state.open) };
    const [plain, detailed] = [state, more].map(one => this.tried.shown(one));
    const words = ({ label, detail }: VisibleGraph): string => [...label, ...detail].join('\n');
    if (words(plain) === words(detailed)) {
      return state;
    }
    const least = Math.max(LEAST_ZOOM, (yield* this.zoomOf(plain)) * share);
    return (yield* this.zoomOf(detailed)) >= least ? more : state;
  }

  get boxes(): number {
    return this.seen.boxes;
  }

  /** True where one closed box holds most of what there is. */
  get hides(): boolean {
    return this.seen.hidden > HIDING;
  }

  /** The same where that is no stack, of which the number of copies tells how much it is. */
  get hidesOnce(): boolean {
    return this.seen.hiddenCopy > HIDING;
  }

  get saysEnough(): boolean {
    return this.fits && this.seen.says > SAYING_LITTLE && !this.hides;
  }

  /** True where what stays closed here is far smaller than what stays closed there, or leaves far more beside it. */
  opensMore(other: Seen): boolean {
    const all = this.rows.work[0];
    const { largest, largestCopy } = this.seen;
    return (
      largest < other.largest &&
      (LARGER * largest <= other.largest ||
        LARGER * largestCopy <= other.largestCopy ||
        LARGER * (all - other.largest) <= all - largest)
    );
  }

  /** True where whatever is open alone there is open with its twin here, and nearly as much of it is seen. */
  completes({ alone, seen }: Chooser): boolean {
    const both = !this.alone.length && alone.length > 0 && alone.every(row => this.open.has(row));
    return both && this.seen.hidden <= Math.max(NEARLY_ALL, seen.hidden);
  }

  /** Chooses what is open. */
  *choose(): Steps<void> {
    const all = yield* this.everything();
    if (all) {
      this.open = all;
      this.seen = {
        boxes: LEAVING_ROOM + 1,
        says: SAYING_LITTLE + 1,
        largest: 0,
        largestCopy: 0,
        hidden: 0,
        hiddenCopy: 0
      };
      return;
    }
    this.seen = seenIn(this.rows, yield* this.openMore(yield* this.start(), true));
    if (this.fits && this.seen.largest && this.patient) {
      yield* this.again(MOST_BOXES);
    }
    if (this.fits && this.hides && isLarge(this.space)) {
      yield* this.again(MOST_BOXES_MIRRORED);
    }
  }

  /** Chooses once more with statements closed, for what has no room beside the parts of statements. */
  private *again(most: number): Steps<void> {
    const before = { open: this.open, whole: this.whole, seen: this.seen, amounts: this.amounts, most: this.most };
    Object.assign(this, { open: new Set(), whole: null, amounts: PATIENT_AMOUNTS, most });
    this.seen = seenIn(this.rows, yield* this.openMore(yield* this.start(), true));
    if (!this.opensMore(before.seen)) {
      Object.assign(this, before);
    }
  }

  /**
   * Opens what there is room for in phases whose twins stay closed, where that says more. Beside an open phase, rows open
   * with their twins or not at all, unless little is seen then; where one hides nearly all, that phase closes instead.
   */
  *forward(): Steps<void> {
    const { open, seen } = this;
    if (yield* this.opensForward(this.whole ?? open, open, seen)) {
      return;
    }
    // A stack says how much it is, beside as much else as this.
    const isTold = seen.hiddenCopy <= HIDING && seen.boxes > BESIDE_STACKS;
    if (seen.hidden > NEARLY_ALL && !isTold && (yield* this.opensForward(null, open, seen))) {
      return;
    }
    Object.assign(this, { open, seen });
  }

  /** The same beginning with what is open `from` now, or with nothing; false where it says no more than `open` does. */
  private *opensForward(from: ReadonlySet<number> | null, open: ReadonlySet<number>, seen: Seen): Steps<boolean> {
    const hid = seen.hidden > HIDING;
    this.open = from ?? new Set();
    const shown = yield* this.openMore(from ? this.shown(from) : yield* this.start(), false);
    this.seen = seenIn(this.rows, shown);
    const more = from === null ? this.seen.largest < seen.largest : this.open !== from;
    const saysMore = this.hides === hid ? more && this.boxes >= seen.boxes : hid;
    const alone = saysMore ? [...this.open].filter(row => this.hasClosedTwin(row, shown)) : [];
    this.parts ||= alone.length > 0;
    const isHalf = alone.some(row => !this.isPhase(row) || (from !== null && open.has(row)));
    if (!saysMore || (seen.says > SAYING_LITTLE && isHalf)) {
      return false;
    }
    this.alone = alone;
    return true;
  }

  /** All rows, if these are few and fit; where they are very few, with what single expressions are made of. */
  private *everything(): Steps<ReadonlySet<number> | null> {
    const wide = openEverything(this.rows, false);
    const all = yield* this.calm(wide);
    if (!all || boxesIn(all) >= FEW_BOXES) {
      return all && wide;
    }
    const inner = openEverything(this.rows, true);
    return (yield* this.calm(inner)) ? inner : yield* this.withModules(wide);
  }

  /** Opens the largest of a library's modules, as long as there are few boxes, and room. */
  private *withModules(wide: ReadonlySet<number>): Steps<ReadonlySet<number>> {
    const { rows } = this;
    const modules = [...openEverything(rows, true)]
      .filter(row => rows.outline.kind[row] === RowKind.module)
      .sort((a, b) => rows.operations[b] - rows.operations[a] || a - b);
    let open = wide;
    for (;;) {
      const next = modules.find(row => !open.has(row) && isReached(rows, open, row));
      const more = next === undefined ? null : yield* this.fitting(openRow(rows, open, next));
      if (next === undefined || !more) {
        return open;
      }
      open = openRow(rows, open, next);
      if (boxesIn(more) >= FEW_BOXES) {
        return open;
      }
    }
  }

  /** What cannot but be open is open, unless not even that fits. */
  private *start(): Steps<VisibleGraph> {
    for (const amount of this.amounts) {
      const open = openRow(this.rows, new Set(), 0, amount);
      const shown = yield* this.fitting(open);
      if (shown) {
        this.open = open;
        return shown;
      }
    }
    const shown = this.shown(this.open);
    this.fits = false;
    this.zoom = yield* this.zoomOf(shown);
    return shown;
  }

  private shown(open: ReadonlySet<number>): VisibleGraph {
    return this.tried.shown({ open, brevity: this.brevity });
  }

  /** Opens what tells most, one after the other, as long as there is room. */
  private *openMore(before: VisibleGraph, twins: boolean): Steps<VisibleGraph> {
    let shown = before;
    const refused = new Set<number>();
    let leastRefused = 0;
    for (let tries = 0; tries < MOST_TRIES && boxesIn(shown) <= MOST_BOXES; tries++) {
      const closed = candidates(this.rows, shown).filter(({ row }) => twins || !mirrors(this.rows, row));
      const next = closed.find(({ row, weight, alone }) => !refused.has(row) && (alone || weight > leastRefused));
      // What comes after the phases opens beside them, not in their stead.
      if (!next || (twins && next.late && [...refused].some(row => this.isPhase(row) || this.holdsPhases(row)))) {
        break;
      }
      const same = closed.map(({ row }) => row).filter(row => row === next.row || areAlike(this.rows, row, next.row));
      const more = yield* this.opened(same, twins);
      if (more) {
        shown = more;
        continue;
      }
      same.forEach(row => refused.add(row));
      // A small row opened beside a large one that stays closed draws the eye to the wrong place.
      leastRefused = Math.max(leastRefused, next.weight / 2);
    }
    return shown;
  }

  /** True for a row whose twin is a closed box, though there is more in it. */
  private hasClosedTwin(row: number, { item, closed }: VisibleGraph): boolean {
    const { twin, closed: single } = this.rows.outline;
    const box = twin[row] < 0 ? -1 : item.indexOf(twin[row]);
    return box >= 0 && closed[box] === 1 && single[twin[row]] === 0;
  }

  private holdsPhases(row: number): boolean {
    return [...childrenOf(this.rows, row)].some(child => this.isPhase(child));
  }

  private isPhase(row: number): boolean {
    return row >= 0 && this.rows.outline.kind[row] === RowKind.phase;
  }

  /** Opens rows as far as there is room for all of them. One that holds most of what there is hides it when closed. */
  private *opened(some: readonly number[], twins: boolean): Steps<VisibleGraph | null> {
    const { kind } = this.rows.outline;
    // A statement says in its words what it does, so that beside closed phases it needs no room for all of its parts.
    const hiding = some.some(row => holdsMost(this.rows, row) && (twins || kind[row] !== RowKind.statement));
    const mirrored = twins && some.some(row => this.rows.outline.twin[row] >= 0 && !this.isPhase(row));
    const most = hiding && mirrored ? this.most : hiding || twins ? MOST_BOXES : CALM_BOXES;
    let size = -1;
    for (const amount of hiding || !twins ? [...this.amounts, ...LEAST_AMOUNTS] : this.amounts) {
      const open = some.reduce((now, row) => openRow(this.rows, now, row, amount, twins), this.open);
      // Where there is nothing more to open with it, less is the same.
      const shown = open.size === size ? null : yield* this.fitting(open, most);
      size = open.size;
      if (shown) {
        this.whole ??= AMOUNTS.includes(amount) ? null : this.open;
        this.open = open;
        return shown;
      }
    }
    return null;
  }

  private *calm(open: ReadonlySet<number>): Steps<VisibleGraph | null> {
    const shown = yield* this.shownWithin(open, CALM_BOXES);
    return shown && shown.count <= CALM_BOXES && (yield* this.isReadable(shown)) ? shown : null;
  }

  private *fitting(open: ReadonlySet<number>, most = MOST_BOXES): Steps<VisibleGraph | null> {
    const shown = yield* this.shownWithin(open, most);
    return shown && (yield* this.isReadable(shown)) ? shown : null;
  }

  /** Most of what is tried has too many boxes. */
  private *shownWithin(open: ReadonlySet<number>, most: number): Steps<VisibleGraph | null> {
    const few = this.tried.boxes(open) <= most;
    yield undefined;
    return few ? this.shown(open) : null;
  }

  private *isReadable(visible: VisibleGraph): Steps<boolean> {
    const roughly = yield* this.zoomOf(visible, ROUGHLY);
    const isNear = Math.abs(roughly / LEAST_ZOOM - 1) <= NEAR;
    return (isNear ? yield* this.zoomOf(visible) : roughly) >= LEAST_ZOOM;
  }

  private *zoomOf(visible: VisibleGraph, effort?: number): Steps<number> {
    const input = toLayout(visible, this.measure, { aspect: aspectOf(this.space) });
    return fitZoom((yield effort === undefined ? input : { ...input, effort }) as Layout, this.space);
  }
}
