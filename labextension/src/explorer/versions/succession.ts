/**
 * A picture that takes the place of another one of the same program: more stages are there, or something was measured.
 * The one before stays until the next has drawn what the person sees, so that nothing flickers.
 */
import type { Explorer } from '../explorer.ts';
import type { ReadingStand } from '../source/reading.ts';
import type { TableStand } from '../table/table.ts';
import type { SavedView } from './saved.ts';

/** ms between two looks whether the next one has drawn. */
const LOOK = 16;
/** ms after which it takes its place in any case. */
const PATIENCE = 4_000;

const COMING = 'jv-coming';

/** How an explorer stands, beside the view. */
export interface Standing {
  readonly whole: boolean;
  readonly source: ReadingStand;
  readonly table: TableStand;
  readonly help: boolean;
  readonly tour: number | null;
  /** True while it is chosen as what to save. */
  readonly saving: boolean;
  /** True while the person types what to search for. */
  readonly searching: boolean;
}

/**
 * Has `next`, which stands behind `before` in the same host, take its place; false where it was thrown away meanwhile.
 * `change` says what is seen otherwise from then on.
 */
export async function takePlace(
  before: Explorer,
  next: Explorer,
  change: (view: SavedView) => SavedView = view => view
): Promise<boolean> {
  next.root.classList.add(COMING);
  next.inheriting.goOn(before.inheriting, change(before.view));
  const seen = JSON.stringify(before.view);
  const end = performance.now() + PATIENCE;
  // Whoever drags the picture or presses a button is not disturbed.
  while (performance.now() < end && (!next.atRest || before.root.matches(':active'))) {
    await new Promise(done => setTimeout(done, LOOK));
    if (next.disposed) {
      before.dispose();
      return false;
    }
  }
  if (JSON.stringify(before.view) !== seen) {
    next.inheriting.goOn(before.inheriting, change(before.view));
  }
  // Before the focus moves: whoever types what to search for goes on typing.
  const { standing } = before.inheriting;
  const focused = before.root.contains(document.activeElement);
  next.root.classList.remove(COMING);
  if (focused) {
    next.focus();
  }
  next.inheriting.stand(standing);
  next.takeOver(before);
  before.dispose();
  return true;
}

/** Has a picture that is new in its host drawn before it is seen; `shown` makes room for it in that moment. */
export async function comeForward(next: Explorer, shown: () => void): Promise<void> {
  next.root.classList.add(COMING);
  const end = performance.now() + PATIENCE;
  while (performance.now() < end && !next.atRest && !next.disposed) {
    await new Promise(done => setTimeout(done, LOOK));
  }
  next.root.classList.remove(COMING);
  shown();
}
