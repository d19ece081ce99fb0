/** A tree of arguments as lines that open: for each branch how much is in it, for each leaf its type and a way to it. */
import { bytesText } from '../../view/words.ts';
import { button, element } from '../elements.ts';
import { isBranch, nodesIn, type Branch, type Leaf } from './pathTree.ts';

/** A tree of no more arrays than this is open at first. */
const FEW = 8;
/** So many lines of one branch are made; nobody reads more. */
const MOST_LINES = 400;

/** `current` is the node that the details are about; what it is in is open. */
export function makePathTree(tree: Branch, current: number, select: (node: number) => void): HTMLElement {
  const root = branchOf(tree, current, select, true);
  root.classList.add('jv-paths');
  return root;
}

function branchOf(tree: Branch, current: number, select: (node: number) => void, open: boolean): HTMLElement {
  const made = element('details', 'jv-path-branch');
  const title = element('summary', '');
  title.append(element('code', '', tree.step), element('small', '', `${tree.count} arrays, ${bytesText(tree.bytes)}`));
  title.title = tree.step;
  made.append(title);
  // What is closed is made when it opens: a model has thousands of arrays.
  const fill = (): void => {
    if (made.open && made.childElementCount === 1) {
      const lines = tree.inside.slice(0, MOST_LINES).map(one => {
        const inner = isBranch(one) && (tree.count <= FEW || nodesIn(one).includes(current));
        return isBranch(one) ? branchOf(one, current, select, inner) : leafOf(one, current, select);
      });
      made.append(...lines);
      if (tree.inside.length > MOST_LINES) {
        made.append(element('small', '', `and ${tree.inside.length - MOST_LINES} more`));
      }
    }
  };
  made.addEventListener('toggle', fill);
  made.open = open;
  fill();
  return made;
}

function leafOf({ step, path, node, type, bytes }: Leaf, current: number, select: (node: number) => void): HTMLElement {
  const line = element('div', 'jv-path-leaf');
  const name = node === current ? element('b', '', step) : button('jv-link', step, `Go to ${path}`, () => select(node));
  if (node === current) {
    name.setAttribute('aria-current', 'true');
  }
  const size = element('small', '', bytesText(bytes));
  line.append(name, element('code', '', type), size);
  return line;
}
