/**
 * The picture of a cell that is run again stays below it, dimmed, until the next one is there: to trace a large program
 * takes a while, and the page would jump up in that time and down again.
 */
import { element } from '../explorer/elements.ts';
import { opening } from '../explorer/picture/inPlace.ts';

/** ms for which a picture that nobody followed stays once its cell has been run: the last output may be on its way. */
const PATIENCE = 400;

/** Where an output stood in its cell: px at either side. */
export interface Sides {
  readonly left: number;
  readonly right: number;
}

interface Stay {
  readonly root: HTMLElement;
  readonly name: string;
  readonly end: () => void;
}

export class Staying {
  private readonly stays = new Map<Element, Set<Stay>>();

  /**
   * Has the parts of a picture that its output left stay at the end of a cell, if that is run again now; false where it is
   * not. `end` is called once they are not needed; `words` tell of what is seen.
   */
  keep(
    { cell, name }: { readonly cell: Element; readonly name: string },
    nodes: readonly ChildNode[],
    { left, right }: Sides,
    words: string,
    end: () => void
  ): boolean {
    if (!isRunning(cell) || !cell.isConnected) {
      return false;
    }
    const [root, picture] = [element('div', 'jv-staying'), element('div', 'jv-staying-picture')];
    // Nothing of it answers: what it would change is gone with the output.
    picture.inert = true;
    picture.append(...nodes);
    root.append(picture, opening(words).root);
    root.style.margin = `0 ${right}px 0 ${left}px`;
    cell.append(root);
    const stay = { root, name, end };
    const others = this.stays.get(cell);
    if (others) {
      others.add(stay);
    } else {
      this.stays.set(cell, new Set([stay]));
      this.endOnceRun(cell);
    }
    return true;
  }

  /** True where a picture stays in a cell. */
  has(cell: Element): boolean {
    return this.stays.has(cell);
  }

  /** What stays of a picture makes room for the next one of its function; of all, where that is not there. */
  makeRoom(cell: Element, name: string): void {
    const stays = [...(this.stays.get(cell) ?? [])];
    const own = stays.find(stay => stay.name === name);
    for (const stay of own ? [own] : stays) {
      this.end(cell, stay);
    }
  }

  /** The picture goes on in another output: what is left of it here is only its frame. */
  release(nodes: readonly ChildNode[]): void {
    for (const [cell, stays] of this.stays) {
      for (const stay of stays) {
        if (nodes.some(node => stay.root.contains(node))) {
          this.drop(cell, stay);
        }
      }
    }
  }

  private endOnceRun(cell: Element): void {
    const observer = new MutationObserver(() => {
      if (!isRunning(cell)) {
        observer.disconnect();
        setTimeout(() => {
          for (const stay of this.stays.get(cell) ?? []) {
            this.end(cell, stay);
          }
        }, PATIENCE);
      }
    });
    observer.observe(cell, { childList: true, characterData: true, subtree: true });
  }

  private end(cell: Element, stay: Stay): void {
    this.drop(cell, stay);
    stay.end();
  }

  private drop(cell: Element, stay: Stay): void {
    const stays = this.stays.get(cell);
    stay.root.remove();
    stays?.delete(stay);
    if (!stays?.size) {
      this.stays.delete(cell);
    }
  }
}

/** JupyterLab and Notebook say it by the prompt alone. */
function isRunning(cell: Element): boolean {
  return cell.querySelector('.jp-InputArea-prompt')?.textContent?.includes('*') === true;
}
