/**
 * Mouse, touch and wheel on the picture, told as what the person means: pan, zoom, click, double click.
 *
 * Where the picture is one of many things on a page, the wheel belongs to the page until the picture has been clicked: a
 * notebook must scroll past its outputs. Then the wheel of a mouse zooms, as on a map, and two fingers on a touchpad pan.
 * With ctrl or command, and for a pinch on a touchpad, it always zooms.
 */

export interface Gestures {
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
  /** `more` while shift is held. */
  click(x: number, y: number, more: boolean): void;
  doubleClick(x: number, y: number): void;
  hover(x: number, y: number): void;
}

/** px that a pointer may move before a press is a drag. */
const STILL = 4;
const ZOOM_PER_PIXEL = 1 / 400;
/** Wheels that count in lines or pages, in px. */
const LINE = 16;
const PAGE = 400;
/** A notch of a mouse's wheel, in the units in which browsers that tell them count notches. */
const NOTCH = 120;
/** A notch moves at least so many px; what begins with less is a touchpad. */
const LEAST_NOTCH = 40;
/** ms after which a wheel that turns again may be another one. */
const PAUSE = 250;

/** Listens on `target`; returns what stops it. `active` says whether a plain wheel is meant for the picture. */
export function listen(target: HTMLElement, gestures: Gestures, active: () => boolean): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = false;
  let [isMouse, lastWheel] = [false, -Infinity];
  const stop = new AbortController();
  const on = <Kind extends keyof HTMLElementEventMap>(
    kind: Kind,
    does: (event: HTMLElementEventMap[Kind]) => void
  ): void => target.addEventListener(kind, does, { signal: stop.signal, passive: false });
  const local = (event: MouseEvent): { x: number; y: number } => {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  on('pointerdown', event => {
    if (event.button !== 0) {
      return;
    }
    // A release outside the picture is heard as well.
    target.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, local(event));
    moved = pointers.size > 1;
  });
  on('pointermove', event => {
    if (event.buttons === 0) {
      pointers.delete(event.pointerId); // released where nobody told
    }
    const before = pointers.get(event.pointerId);
    const now = local(event);
    if (!before) {
      gestures.hover(now.x, now.y);
      return;
    }
    if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < STILL) {
      return;
    }
    moved = true;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const [was, is] = [
        Math.hypot(before.x - other.x, before.y - other.y),
        Math.hypot(now.x - other.x, now.y - other.y)
      ];
      gestures.zoom(is / Math.max(1, was), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else {
      gestures.pan(now.x - before.x, now.y - before.y);
    }
    pointers.set(event.pointerId, now);
  });
  on('pointerup', event => {
    const known = pointers.delete(event.pointerId);
    if (known && !moved) {
      const { x, y } = local(event);
      gestures.click(x, y, event.shiftKey);
    }
  });
  on('pointercancel', event => pointers.delete(event.pointerId));
  on('dblclick', event => {
    const { x, y } = local(event);
    gestures.doubleClick(x, y);
  });
  on('wheel', event => {
    const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? PAGE : 1;
    const pinches = event.ctrlKey || event.metaKey;
    // Two fingers that grow fast may look like a notch: a turn ends as what it began as.
    isMouse = event.timeStamp - lastWheel > PAUSE ? isNotch(event) : isMouse;
    lastWheel = event.timeStamp;
    if (!pinches && !active()) {
      return;
    }
    event.preventDefault();
    if (pinches || (isMouse && event.deltaX === 0)) {
      const { x, y } = local(event);
      gestures.zoom(2 ** (-event.deltaY * unit * ZOOM_PER_PIXEL * (pinches ? 2 : 1)), x, y);
    } else {
      gestures.pan(-event.deltaX * unit, -event.deltaY * unit);
    }
  });
  return () => stop.abort();
}

/** True for a wheel with notches, which is a mouse's: counted in lines or pages, or in px that are whole notches. */
function isNotch(event: WheelEvent): boolean {
  const { wheelDeltaY } = event as { readonly wheelDeltaY?: number };
  const notches = (wheelDeltaY ?? event.deltaY) / NOTCH;
  return (
    event.deltaX === 0 &&
    (event.deltaMode !== 0 || (Math.abs(event.deltaY) >= LEAST_NOTCH && Number.isInteger(notches)))
  );
}
