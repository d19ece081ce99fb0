/**
 * Where the details stand: at the side of the picture that leaves the selected box free, over what lies under them; where
 * a picture is too narrow for that, below all pictures.
 */
import type { Document } from '../../document/graph.ts';
import { copyTable } from '../../view/differences.ts';
import { goTo, goToCopy, spread, toggle } from '../acts.ts';
import { makeCopies } from './copies.ts';
import { details } from './details.ts';
import { element } from '../elements.ts';
import { moveWithFocus } from '../focus.ts';
import { showDetails } from './inspector.ts';
import type { Pane } from '../picture/pane.ts';
import { itemFor, rowDetails } from './row.ts';

export interface InspectionActions {
  /** Shows a node of another graph. */
  follow(graph: number, node: number): void;
  /** Shows the program after a pass of the compiler. */
  pass(number: number): void;
}

/** ms after a click in which a second one goes through the details to what lies under them. */
const DOUBLE_CLICK = 500;
/** px of a picture that is too narrow for details at one of its sides: one that fills it would be cut in two. */
const NARROW = 720;
/** The same where the height is the host's, and details below take from it; of one of two, which are small as it is. */
const NARROW_IN_FULL = 460;
const NARROW_BESIDE = 520;

export class Inspection {
  readonly root = element('aside', 'jv-inspector');
  /** The place below the pictures. */
  readonly below = element('div', 'jv-below');
  /** True where the details that come next go on from some that stood at the left. */
  private goesOnLeft = false;

  constructor(
    private readonly source: Document,
    private readonly actions: InspectionActions
  ) {
    this.root.hidden = true;
    this.root.setAttribute('aria-label', 'details');
  }

  /** Makes ready for the details of a box that was clicked. The picture stays as it is. */
  comeBeside(pane: Pane, box: number): void {
    const { root } = this;
    if (root.hidden && box >= 0) {
      root.classList.add('jv-through');
      setTimeout(() => root.classList.remove('jv-through'), DOUBLE_CLICK);
      root.hidden = false;
      const low = this.place(pane);
      root.classList.toggle('jv-left', !low && pane.picture.isUnder(box, root.offsetWidth));
    }
  }

  /** True while the details stand at the left, so that the box that was clicked is free. */
  get atLeft(): boolean {
    return this.root.classList.contains('jv-left');
  }

  /** The next details stand where those of another picture stood, whose place its own takes. */
  goOn(atLeft: boolean): void {
    this.goesOnLeft = atLeft;
  }

  /** Shows the details of what is selected, or none, and tells the picture what they cover. */
  show(pane: Pane): void {
    const { root, source } = this;
    const { graph, selected } = pane.viewing;
    root.hidden = selected === null;
    if (selected === null) {
      root.classList.remove('jv-left');
    } else {
      root.classList.toggle('jv-left', this.atLeft || this.goesOnLeft);
      this.goesOnLeft = false;
      const shown = selected >= 0 ? rowDetails(source, graph, selected) : details(source, graph, -1 - selected);
      showDetails(root, shown, pane.viewing.openings.open.has(selected), {
        ...this.actions,
        select: (node, row) => goTo(pane, row ?? itemFor(graph, pane.viewing.rows, node), true),
        toggle: () => toggle(pane, selected),
        close: () => {
          pane.select(null);
          pane.focus();
        }
      });
      this.showCopies(pane, selected);
    }
    this.stand(pane);
  }

  /** The picture has another size: the details stand where there is room for them now. */
  resized(pane: Pane): void {
    const { root } = this;
    if (!root.hidden && (root.parentElement === this.below) !== isNarrow(pane)) {
      this.stand(pane);
    }
  }

  private stand(pane: Pane): void {
    const { root } = this;
    const { selected } = pane.viewing;
    const low = this.place(pane);
    // The line at the top has another width beside them.
    pane.keepTop();
    const width = low ? 0 : root.offsetWidth;
    const left = this.atLeft;
    // A second click is meant for what stands where the first one was.
    const wait = root.classList.contains('jv-through') ? DOUBLE_CLICK : 0;
    pane.picture.setCover(left ? width : 0, left ? 0 : width, wait);
    // And so has the legend below.
    pane.keepFoot();
    if (selected !== null && (low || root.closest('.jv-beside'))) {
      // Beside another picture there is seldom a side that leaves the box free.
      pane.picture.reveal(pane.selectedBox());
    }
  }

  /** Takes its place at a picture, or below all of them: beside it nothing of a narrow one would be left. */
  private place(pane: Pane): boolean {
    const { root, below } = this;
    const low = isNarrow(pane);
    const home = low ? below : pane.body;
    if (root.parentElement !== home) {
      moveWithFocus(root, home);
    }
    if (low) {
      root.classList.remove('jv-left');
    }
    return low;
  }

  /** Under the title of a stack, what differs between its copies. */
  private showCopies(pane: Pane, item: number): void {
    const { graph, rows, openings } = pane.viewing;
    if (item > 0 && rows.outline.count[item] > 1) {
      const copies = makeCopies(copyTable(this.source, graph, item), openings.spread.has(item), {
        spread: () => spread(pane, item),
        select: row => goToCopy(pane, item, row)
      });
      this.root.querySelector('dl')?.prepend(...copies);
    }
  }
}

function isNarrow({ body }: Pane): boolean {
  const inFull = body.closest('.jv-fill, .jv-whole');
  const least = !inFull ? NARROW : body.closest('.jv-beside') ? NARROW_BESIDE : NARROW_IN_FULL;
  return body.clientWidth > 0 && body.clientWidth < least;
}
