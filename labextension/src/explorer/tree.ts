/**
 * The visible boxes as a tree of elements, for screen readers: the same names, types and nesting as in the picture.
 * It is not seen; the picture points to its active item.
 */
import { Shape, type VisibleGraph } from '../view/visible.ts';
import { element } from './elements.ts';

/** Beyond this a list is of no use to a listener, and costs the page more than it gives. */
const MOST_ITEMS = 600;

/** Fills `tree` with an item for each box. Ids begin with `prefix`. */
export function fillTree(tree: HTMLElement, visible: VisibleGraph, prefix: string): void {
  const items: HTMLElement[] = [];
  const depth: number[] = [];
  const siblings = placesAmongSiblings(visible);
  for (let box = 0; box < Math.min(visible.count, MOST_ITEMS); box++) {
    const parent = visible.parent[box];
    depth[box] = parent < 0 ? 1 : depth[parent] + 1;
    const item = element('div', '', describe(visible, box));
    item.id = `${prefix}${box}`;
    item.setAttribute('role', 'treeitem');
    item.setAttribute('aria-level', String(depth[box]));
    item.setAttribute('aria-posinset', String(siblings.place[box]));
    item.setAttribute('aria-setsize', String(siblings.count.get(parent)));
    item.setAttribute('aria-selected', 'false');
    if (visible.shape[box] === Shape.frame || visible.closed[box]) {
      item.setAttribute('aria-expanded', String(visible.shape[box] === Shape.frame));
    }
    items.push(item);
  }
  if (visible.count > MOST_ITEMS) {
    const rest = element('div', '', `and ${visible.count - MOST_ITEMS} more`);
    rest.setAttribute('role', 'treeitem');
    items.push(rest);
  }
  tree.replaceChildren(...items);
}

/** For each box, the how-manieth it is in its frame; for each frame, how many boxes stand in it. */
function placesAmongSiblings({ parent }: VisibleGraph): { place: number[]; count: Map<number, number> } {
  const count = new Map<number, number>();
  const place = Array.from(parent, frame => {
    const at = (count.get(frame) ?? 0) + 1;
    count.set(frame, at);
    return at;
  });
  return { place, count };
}

/** A box in words: a listener is told all of its name, however long. */
export function describe(visible: VisibleGraph, box: number): string {
  const chips = (visible.chips.get(box) ?? []).map(chip => chip.title);
  const copies = visible.times[box] > 1 ? `${visible.times[box]} copies` : '';
  const name = visible.whole.get(box) ?? visible.label[box];
  return [name, visible.detail[box], copies, ...chips].filter(Boolean).join(', ');
}

/** Marks the item of the selected box. */
export function selectInTree(tree: HTMLElement, prefix: string, box: number): void {
  tree.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
  if (box >= 0) {
    tree.querySelector(`#${CSS.escape(prefix + box)}`)?.setAttribute('aria-selected', 'true');
  }
}
