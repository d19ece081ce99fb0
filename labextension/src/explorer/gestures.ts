/**
 * Mouse, touch and wheel on the picture, told as what the person means: pan, zoom, click, double click.
 *
 * The wheel belongs to the page until the picture has been clicked: a notebook must scroll past its outputs. With ctrl
 * or command, and for a pinch on a touchpad, it always zooms.
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

/** Listens on `target`; returns what stops it. `active` says whether a plain wheel is meant for the picture. */
export function listen(target: HTMLElement, gestures: Gestures, active: () => boolean): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = false;
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
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { x, y } = local(event);
      gestures.zoom(2 ** (-event.deltaY * unit * ZOOM_PER_PIXEL * 2), x, y);
    } else if (active()) {
      event.preventDefault();
      gestures.pan(-event.deltaX * unit, -event.deltaY * unit);
    }
  });
  return () => stop.abort();
}
