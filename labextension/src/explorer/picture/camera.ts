/** How the camera moves: pure functions from one camera to the next. */
import type { Camera } from '../../draw/canvas.ts';

const MOST_SCALE = 8;
const LEAST_SCALE = 0.02;
/** px of the picture that stay in view, however far it is moved. */
const HELD = 40;

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Moves the picture by px of the screen. */
export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

/** Zooms by a factor; the point (`x`, `y`) of the screen stays where it is. */
export function zoomAt(camera: Camera, factor: number, x: number, y: number): Camera {
  // A picture that was fitted below the least scale may stay there, but gets no smaller.
  const least = Math.min(LEAST_SCALE, camera.scale);
  const scale = Math.min(MOST_SCALE, Math.max(least, camera.scale * factor));
  return { scale, x: camera.x + x / camera.scale - x / scale, y: camera.y + y / camera.scale - y / scale };
}

/** The camera, held so that a part of the picture stays in view. */
export function hold(camera: Camera, picture: Rectangle, width: number, height: number): Camera {
  const along = (at: number, from: number, size: number, space: number): number => {
    const part = Math.min(HELD / camera.scale, size, space);
    return Math.min(from + size - part, Math.max(from + part - space, at));
  };
  return {
    scale: camera.scale,
    x: along(camera.x, picture.x, picture.width, width / camera.scale),
    y: along(camera.y, picture.y, picture.height, height / camera.scale)
  };
}

/** px of an end of the picture that are not worth being cut off. */
const NEAR = 40;
/** px of the scene that figures may be wrong by. */
const ROUNDING = 1e-6;

/** A picture that is seen whole at this scale can be read; at a smaller one, a part of it is shown instead. */
export const READABLE = 0.66;
/** Marks and colours still tell where something happened, and names can just be made out. */
export const TELLING = 0.5;

/** What a camera that nobody has moved stands over. */
export interface Sight {
  readonly picture: Rectangle;
  /** The space on the screen that nothing covers. */
  readonly window: { readonly width: number; readonly height: number };
  /** The scale at which all of the picture fits. */
  readonly whole: number;
  /** On the screen, what stays where it is as far as that goes. */
  readonly anchor: { readonly x: number; readonly y: number };
}

/**
 * The camera for a picture that nobody has moved: all of it is in view where it can be read then, and else no room is
 * left empty while something is cut off.
 */
export function settle(camera: Camera, sight: Sight, readable = READABLE): Camera {
  const { picture, window, whole, anchor } = sight;
  const scale = whole >= Math.min(readable, camera.scale * 0.8) ? whole : camera.scale;
  const at = {
    x: camera.x + anchor.x / camera.scale - anchor.x / scale,
    y: camera.y + anchor.y / camera.scale - anchor.y / scale
  };
  const along = (from: number, start: number, size: number, space: number): number => {
    const [one, other] = [start, start + size - space];
    const held = Math.min(Math.max(one, other), Math.max(Math.min(one, other), from));
    // A little of the beginning is not cut off, and neither is a little of the end.
    const near = [one, other].find(end => size > space && Math.abs(held - end) < NEAR / scale);
    return near ?? held;
  };
  return {
    scale,
    x: along(at.x, picture.x, picture.width, window.width / scale),
    y: along(at.y, picture.y, picture.height, window.height / scale)
  };
}

/**
 * The settled camera where `wanted` is to be seen: all of the picture where that cuts none of it off and marks can still
 * be told, else as much of it as holds all that is wanted, else the first.
 */
export function settleOn(
  wanted: readonly Rectangle[],
  camera: Camera,
  sight: Sight,
  readable: number = READABLE
): Camera {
  const { window } = sight;
  const sees = (at: Camera): boolean => wanted.every(area => inView(at, area, window));
  const found = [readable, TELLING].map(least => settle(camera, sight, least)).find(sees);
  if (found) {
    return found;
  }
  const near = settle(camera, sight);
  const all = around(wanted);
  const scale = Math.min(near.scale, window.width / all.width, window.height / all.height);
  if (scale < TELLING) {
    return reveal(near, wanted[0], window.width, window.height);
  }
  return settle(centre(all, scale, window), { ...sight, whole: scale });
}

/**
 * The camera for a picture too small for its names to be made out: as near as they are read, over all areas that are
 * `wanted` where these can be read together, else over the first. Null where the names are read already.
 */
export function comeNear(wanted: readonly Rectangle[], { scale }: Camera, window: Sight['window']): Camera | null {
  if (scale >= TELLING) {
    return null;
  }
  const all = around(wanted);
  const together = Math.min(READABLE, window.width / all.width, window.height / all.height);
  return together >= TELLING ? centre(all, together, window) : centre(wanted[0], READABLE, window);
}

/** The camera that has an area in the middle. */
function centre({ x, y, width, height }: Rectangle, scale: number, window: Sight['window']): Camera {
  return { scale, x: x + (width - window.width / scale) / 2, y: y + (height - window.height / scale) / 2 };
}

/** True where all of an area of the scene is in the window. */
export function inView({ x, y, scale }: Camera, area: Rectangle, { width, height }: Sight['window']): boolean {
  const [right, bottom] = [x + width / scale + ROUNDING, y + height / scale + ROUNDING];
  return (
    area.x >= x - ROUNDING && area.y >= y - ROUNDING && area.x + area.width <= right && area.y + area.height <= bottom
  );
}

function around(areas: readonly Rectangle[]): Rectangle {
  let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const area of areas) {
    [x, y] = [Math.min(x, area.x), Math.min(y, area.y)];
    [right, bottom] = [Math.max(right, area.x + area.width), Math.max(bottom, area.y + area.height)];
  }
  return { x, y, width: right - x, height: bottom - y };
}

/** Moves just so far that the rectangle of the scene is in view, with some room around it. */
export function reveal(camera: Camera, box: Rectangle, width: number, height: number): Camera {
  const room = 12 / camera.scale;
  const along = (at: number, size: number, from: number, space: number): number => {
    if (at - room < from || size + 2 * room > space) {
      return at - room < from || at - room > from + space ? at - room : from;
    }
    return at + size + room > from + space ? at + size + room - space : from;
  };
  return {
    scale: camera.scale,
    x: along(box.x, box.width, camera.x, width / camera.scale),
    y: along(box.y, box.height, camera.y, height / camera.scale)
  };
}
