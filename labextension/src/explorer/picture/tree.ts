/**
 * The visible boxes as a tree of elements, for screen readers: the same names, types, nesting and lines as in the picture.
 * It is not seen; the picture points to its active item.
 */
import { Shape, type VisibleGraph } from '../../view/visible.ts';
import { element } from '../elements.ts';

/** Beyond this a list is of no use to a listener, and costs the page more than it gives. */
const MOST_ITEMS = 600;
/** Of what a box reads, so much is named. */
const MOST_READ = 4;

/** Fills `tree` with an item for each box. Ids begin with `prefix`. */
export function fillTree(tree: HTMLElement, visible: VisibleGraph, prefix: string): void {
  const items: HTMLElement[] = [];
  const depth: number[] = [];
  const siblings = placesAmongSiblings(visible);
  const lines = linesTo(visible);
  for (let box = 0; box < Math.min(visible.count, MOST_ITEMS); box++) {
    const parent = visible.parent[box];
    depth[box] = parent < 0 ? 1 : depth[parent] + 1;
    const item = element('div', '', describe(visible, box, lines.get(box)));
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
export function describe(visible: VisibleGraph, box: number, lines: readonly string[] = []): string {
  const chips = (visible.chips.get(box) ?? []).map(chip => chip.title);
  const copies = visible.times[box] > 1 ? `${visible.times[box]} copies` : '';
  return [nameOf(visible, box), visible.detail[box], copies, ...lines, ...chips].filter(Boolean).join(', ');
}

function nameOf({ whole, label }: VisibleGraph, box: number): string {
  return whole.get(box) ?? label[box];
}

/** For each box to which lines lead, in words, where from. */
function linesTo(visible: VisibleGraph): ReadonlyMap<number, readonly string[]> {
  const makers = new Map<number, Set<number>>();
  visible.target.forEach((box, edge) => {
    makers.set(box, (makers.get(box) ?? new Set()).add(visible.source[edge]));
  });
  const lines = new Map<number, string[]>();
  for (const [box, from] of makers) {
    const names = [...new Set([...from].map(maker => nameOf(visible, maker)))];
    const more = names.length > MOST_READ ? [`${names.length - MOST_READ} more`] : [];
    lines.set(box, [`reads ${listed([...names.slice(0, MOST_READ), ...more])}`]);
  }
  for (const { source, target, values, shared = 0 } of visible.cables) {
    // Those that another cable counts, too, are told as such.
    const [many, what] = values > 0 ? [values, 'residual'] : [shared, 'shared residual'];
    if (many > 0) {
      const told = `${many} ${what}${many === 1 ? '' : 's'} of ${nameOf(visible, source)}`;
      lines.set(target, [...(lines.get(target) ?? []), told]);
    }
  }
  return lines;
}

function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), names[names.length - 1]].filter(Boolean).join(' and ');
}

/** Marks the item of the selected box. */
export function selectInTree(tree: HTMLElement, prefix: string, box: number): void {
  tree.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
  if (box >= 0) {
    tree.querySelector(`#${CSS.escape(prefix + box)}`)?.setAttribute('aria-selected', 'true');
  }
}
