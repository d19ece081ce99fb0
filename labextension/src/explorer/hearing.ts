/**
 * The keys that are pressed in the explorer. It takes every one, used or not: a notebook has commands on plain letters,
 * and `x` would cut the cell. Keys with ctrl, alt or command stay the host's; what the browser does with a key, as with
 * Tab, stays too.
 */
import { commandOf, type Command } from './keys.ts';
import { takenBySelf } from './ownKeys.ts';

export interface Hearing {
  readonly root: HTMLElement;
  /** True where keys that are pressed nowhere in particular are meant for the pictures. */
  readonly alone: boolean;
  /** The pictures, where every key is a command. */
  stages(): readonly HTMLElement[];
  /** Parts that take keys themselves: true for one that was theirs. */
  parts(): readonly { press(event: KeyboardEvent): boolean }[];
  obey(command: Command): void;
}

/** After a click on a button, a table or a text the pictures still have the letters and signs, which none uses itself. */
function leftOver({ target, key }: KeyboardEvent): boolean {
  const plain = (target as Element).matches('button:not([role]), summary, [role=grid], .jv-text');
  return plain && key.length === 1 && key !== ' ';
}

/** Hears until what is returned is called. */
export function hearKeys({ root, alone, stages, parts, obey }: Hearing): () => void {
  const hear = (event: KeyboardEvent): void => {
    const nowhere = alone && event.target === document.body;
    if ((!nowhere && !root.contains(event.target as Node)) || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    event.stopPropagation();
    if (parts().some(part => part.press(event)) || takenBySelf(event)) {
      event.preventDefault();
      return;
    }
    if (nowhere || stages().includes(event.target as HTMLElement) || leftOver(event)) {
      const command = commandOf(event);
      if (command) {
        event.preventDefault();
        obey(command);
      }
    } else if (event.key === 'Escape') {
      obey('leave');
      stages()[0].focus({ preventScroll: true });
    }
  };
  // JupyterLab hears keys on the way up to the document, Notebook 7 on the way down from it: only the window is before both.
  const window = document.defaultView;
  window?.addEventListener('keydown', hear, { capture: true });
  return () => window?.removeEventListener('keydown', hear, { capture: true });
}
