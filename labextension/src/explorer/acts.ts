/** What a person can do in one picture, by key, by button or with the pointer: to open, to go somewhere, to let go. */
import { stackAround } from '../view/copies.ts';
import { rowOpens } from '../view/outline.ts';
import type { Pane } from './picture/pane.ts';
import { walk, type Direction } from './picture/walk.ts';
import { openRowAround } from './picture/where.ts';

/** Selects an item that may be hidden: the regions around it are opened. */
export function goTo(pane: Pane, item: number, focus = false): void {
  pane.viewing.select(item);
  if (pane.viewing.openings.revealItem(item)) {
    void pane.layOut(item).then(() => pane.comeToSelection());
  } else {
    pane.mark();
    pane.comeToSelection();
  }
  if (focus) {
    pane.focus();
  }
}

/** Selects what is seen in a box; where that is several nodes, these are lit. */
export function selectSeen(pane: Pane, box: number): void {
  const visible = pane.scene?.visible;
  const others = visible?.others.get(box);
  if (visible && others) {
    pane.viewing.light([visible.node[box], ...others]);
    pane.mark();
  } else {
    pane.select(box < 0 || !visible ? null : visible.item[box]);
  }
}

/** Out of the region around the selection: to one further out, or to the program as a whole. */
export function leaveTo(pane: Pane, row: number | null): void {
  if (row !== null) {
    goTo(pane, row, true);
  } else {
    pane.select(null);
    pane.picture.fit();
    pane.focus();
  }
}

export function step(pane: Pane, direction: Direction): void {
  if (pane.scene) {
    const to = walk(pane.scene, pane.selectedBox(), direction);
    pane.selectBox(to);
  }
}

/** Opens a row or closes it. */
export function toggle(pane: Pane, item: number | null): void {
  const { viewing } = pane;
  if (item !== null && item >= 0 && rowOpens(viewing.rows, item)) {
    viewing.openings.toggle(item);
    viewing.choose(item);
    void pane.layOut(item);
  }
}

/** Closes the selected row if it is open, else the row that the selection stands in. */
export function closeRegion(pane: Pane): void {
  const { selected, rows, openings } = pane.viewing;
  if (selected !== null) {
    const isOpen = (one: number): boolean => openings.open.has(one) && pane.scene?.visible.item.includes(one) === true;
    const row = openRowAround(rows, selected, isOpen);
    if (row > 0) {
      toggle(pane, row);
    }
  }
}

/** Opens everything; `all`: with the equations that only reshape or copy. */
export function openWhole(pane: Pane, all: boolean): void {
  pane.viewing.openings.openAll(all);
  layOutWhole(pane);
}

export function closeWhole(pane: Pane): void {
  pane.viewing.openings.closeAll();
  layOutWhole(pane);
}

/**
 * Lays out anew what was opened or closed as a whole, and shows all of it; where that is too small for its names to be
 * made out, what is selected of it.
 */
export function layOutWhole(pane: Pane): void {
  void pane.layOut(null, true).then(() => {
    pane.picture.fit();
    pane.comeToSelection();
  });
}

/** Shows all copies of the stack that an item is or stands in, or one for all of them again. */
export function spread(pane: Pane, item: number | null): void {
  const { viewing } = pane;
  const stack = item === null ? -1 : stackAround(viewing.rows, item);
  if (stack > 0) {
    viewing.openings.toggleSpread(stack);
    viewing.choose(stack);
    void pane.layOut(stack);
  }
}

/** Goes to one copy of a stack, which is spread for it. */
export function goToCopy(pane: Pane, stack: number, copy: number): void {
  const { viewing } = pane;
  if (!viewing.openings.spread.has(stack)) {
    viewing.openings.toggleSpread(stack);
  }
  viewing.choose(copy);
  void pane.layOut(copy);
}

/** Shows what runs as one kernel: areas behind the boxes, or, of the optimized program, the boxes themselves. */
export function showKernels(pane: Pane, shown: boolean): void {
  const { viewing } = pane;
  const { stage } = viewing;
  viewing.kernels = shown;
  const graph = stage ? viewing.graphOf(stage) : viewing.at;
  if (graph !== viewing.at) {
    pane.enter(graph);
    return;
  }
  void pane.layOut(viewing.selected).then(() => {
    if (shown && viewing.at === graph && pane.scene?.hulls.length === 0) {
      pane.say(
        viewing.knowsKernels
          ? 'no two of these boxes run as one kernel: open more of them (e), or see optimized HLO (5)'
          : 'what runs as one kernel is known where there is optimized HLO'
      );
    }
  });
}

/** Has the ways shown that lead from an item to what is selected next; or no more. */
export function setOrigin(pane: Pane, item: number | null): void {
  pane.viewing.origin = item;
  pane.mark();
}

/** Lets go of one thing: the ways that are asked for, or the selection. False where there is nothing. */
export function letGo(pane: Pane): boolean {
  const { origin, selected, linked } = pane.viewing;
  if (origin !== null) {
    setOrigin(pane, null);
  } else if (selected !== null || linked.length) {
    pane.select(null);
  } else {
    return false;
  }
  return true;
}
