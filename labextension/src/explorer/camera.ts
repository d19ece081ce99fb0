/** How the camera moves: pure functions from one camera to the next. */
import type { Camera } from '../draw/canvas.ts';

const MOST_SCALE = 4;
const LEAST_SCALE = 0.01;

/** Moves the picture by px of the screen. */
export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

/** Zooms by a factor; the point (`x`, `y`) of the screen stays where it is. */
export function zoomAt(camera: Camera, factor: number, x: number, y: number): Camera {
  const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, camera.scale * factor));
  return { scale, x: camera.x + x / camera.scale - x / scale, y: camera.y + y / camera.scale - y / scale };
}

/** Moves just so far that the rectangle of the scene is in view, with some room around it. */
export function reveal(
  camera: Camera,
  box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  width: number,
  height: number
): Camera {
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
