/** Keys that one element takes itself, such as a chart: the window hears all keys of the explorer first, and asks here. */

const takers = new WeakMap<EventTarget, (key: string) => boolean>();

/** `press` hears the keys that are pressed while the element has the focus, and is true for one that was its own. */
export function takesKeys(element: Element, press: (key: string) => boolean): void {
  takers.set(element, press);
}

/** Whether the element in which a key was pressed took it. */
export function takenBySelf({ target, key }: Pick<KeyboardEvent, 'target' | 'key'>): boolean {
  return (target && takers.get(target)?.(key)) ?? false;
}
