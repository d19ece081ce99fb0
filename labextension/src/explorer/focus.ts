/**
 * The keyboard focus stays in the explorer. What a button does may draw it anew, hide it or take it away; the browser
 * lets the focus fall to the page then, where the next letter is a command of the host: in a notebook, `x` cuts the cell.
 */

/** An element that has the focus, and the way to it from each element around it, the nearest first. */
interface Held {
  readonly element: Element;
  readonly around: readonly { readonly home: Element; readonly way: readonly number[] }[];
}

/**
 * Has what takes the place of an element that goes with the focus in it take the focus; where nothing does, `otherwise`
 * is called. Until what is returned is called.
 */
export function keepFocus(root: HTMLElement, otherwise: () => void): () => void {
  let held: Held | null = null;
  const look = (): void => {
    if (!held || !root.isConnected || !isGone(root, held.element)) {
      return;
    }
    const { element } = held;
    const next = successor(held, root);
    held = null;
    // What the button did may have moved the focus already.
    const now = focused(root);
    if (now && now !== document.body && now !== element) {
      return;
    }
    if (next) {
      next.focus({ preventScroll: true });
    } else {
      otherwise();
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden', 'disabled'] });
  root.addEventListener('focusin', ({ target }) => {
    held = hold(root, target as Element);
  });
  root.addEventListener('focusout', ({ target }) => {
    // Some browsers tell of an element that is about to go, too: whether it is gone is known a little later.
    queueMicrotask(() => {
      if (held?.element === target && !isGone(root, target as Element) && focused(root) !== target) {
        held = null;
      }
    });
  });
  return () => observer.disconnect();
}

/** Moves an element to another home; the focus, which the browser takes from what is moved, stays in it. */
export function moveWithFocus(element: Element, home: Element): void {
  const held = element.isConnected ? focused(element) : null;
  home.append(element);
  if (held && element.contains(held)) {
    (held as HTMLElement).focus({ preventScroll: true });
  }
}

function focused(root: Element): Element | null {
  return (root.getRootNode() as Document | ShadowRoot).activeElement;
}

function hold(root: Element, element: Element): Held {
  const around: { home: Element; way: readonly number[] }[] = [];
  let way: readonly number[] = [];
  for (let at = element; at !== root && at.parentElement; at = at.parentElement) {
    way = [[...at.parentElement.children].indexOf(at), ...way];
    around.push({ home: at.parentElement, way });
  }
  return { element, around };
}

function isGone(root: Element, element: Element): boolean {
  return !root.contains(element) || element.matches(':disabled') || root.contains(element.closest('[hidden]'));
}

/** What looks the same and stands where an element stood, in the nearest around it that is still there. */
function successor({ element, around }: Held, root: Element): HTMLElement | undefined {
  const there = around.find(({ home }) => root.contains(home));
  const found = there?.way.reduce<Element | undefined>((at, step) => at?.children[step], there.home);
  const alike = found && found.tagName === element.tagName && found.className === element.className;
  return alike && !isGone(root, found) ? (found as HTMLElement) : undefined;
}
