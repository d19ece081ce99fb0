/**
 * The ground of a large picture, kept as pixels while the camera moves: to move a copy costs far less than to draw tens
 * of thousands of boxes. While the scale changes, the copy is stretched, and beyond its end there is a coarser one of
 * the whole picture; whoever uses it has it drawn anew at rest.
 */
import { drawGround, type Camera, type Highlight, type Size } from './canvas.ts';
import { FAR_SCALE } from './far.ts';
import { MARGIN, type Scene } from './scene.ts';
import type { Palette } from './theme.ts';

/** Smaller pictures are drawn in each frame: it is as fast, and always sharp. */
const KEEP_FROM = 1_500;
/** How much is kept to each side of what is in view, as a part of the view. */
const AROUND = 0.3;
/** A copy is stretched by no more than this, up or down. */
const STRETCH = 2;

/** A part of the ground as pixels: `camera` and `size` say which. */
interface Copy {
  readonly canvas: HTMLCanvasElement;
  readonly scene: Scene;
  readonly palette: Palette;
  readonly faded: Uint8Array | null;
  readonly camera: Camera;
  readonly size: Size;
}

/** True where a copy is worth its room. */
export function isKept(scene: Scene, camera: Camera): boolean {
  return camera.scale < FAR_SCALE && scene.visible.count >= KEEP_FROM;
}

export class KeptGround {
  /** What is in view and around it. */
  private near: Copy | null = null;
  /** All of the ground, once it was in view: coarser, and there where the other does not reach. */
  private whole: Copy | null = null;

  /**
   * Draws the ground from copies, which are made where there are none. False where that is not sharp: nobody who moves
   * is held up, and at rest `refresh` has it drawn anew.
   */
  draw(
    context: CanvasRenderingContext2D,
    scene: Scene,
    camera: Camera,
    size: Size,
    palette: Palette,
    highlight: Highlight
  ): boolean {
    const isOf = (copy: Copy): boolean =>
      copy.scene === scene &&
      copy.size.ratio === size.ratio &&
      copy.palette === palette &&
      copy.faded === highlight.faded;
    if (this.whole && !isOf(this.whole)) {
      this.drop();
    } else if (this.near && !isOf(this.near)) {
      this.refresh();
    }
    const known = this.near && (this.whole || reaches(this.near, camera, size)) ? this.near : null;
    const near = known ?? this.make(scene, camera, size, palette, highlight);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, Math.ceil(size.width * size.ratio), Math.ceil(size.height * size.ratio));
    const enough = reaches(near, camera, size);
    if (this.whole && this.whole !== near && !enough) {
      paste(context, this.whole, camera, size);
    }
    paste(context, near, camera, size);
    return enough && near.camera.scale === camera.scale;
  }

  /** Has what is in view drawn anew. */
  refresh(): void {
    if (this.near !== this.whole) {
      release(this.near);
    }
    this.near = null;
  }

  /** Lets go of all copies, and of their room. */
  drop(): void {
    release(this.near);
    release(this.whole);
    this.near = this.whole = null;
  }

  private make(scene: Scene, camera: Camera, size: Size, palette: Palette, highlight: Highlight): Copy {
    const part = inScene(scene, camera, size, AROUND);
    const canvas = document.createElement('canvas');
    const made = {
      canvas,
      scene,
      palette,
      faded: highlight.faded,
      camera: { x: part.x, y: part.y, scale: camera.scale },
      size: { width: part.width * camera.scale, height: part.height * camera.scale, ratio: size.ratio }
    };
    canvas.width = Math.max(1, Math.ceil(made.size.width * size.ratio));
    canvas.height = Math.max(1, Math.ceil(made.size.height * size.ratio));
    drawGround(canvas.getContext('2d') as CanvasRenderingContext2D, scene, made.camera, made.size, palette, highlight);
    this.near = made;
    if (part.width >= scene.width && part.height >= scene.height) {
      this.whole = made;
    }
    return made;
  }
}

function release(copy: Copy | null): void {
  if (copy) {
    copy.canvas.width = 0;
    copy.canvas.height = 0;
  }
}

/** Whether a copy has all that is in view, at about its scale. */
function reaches({ scene, camera: own, size: room }: Copy, camera: Camera, size: Size): boolean {
  const stretch = camera.scale / own.scale;
  const [need, have] = [inScene(scene, camera, size, 0), inScene(scene, own, room, 0)];
  // A pixel of the screen may be lost in rounding.
  const slack = 1 / camera.scale;
  return (
    stretch <= STRETCH &&
    stretch >= 1 / STRETCH &&
    need.x >= have.x - slack &&
    need.y >= have.y - slack &&
    need.x + need.width <= have.x + have.width + slack &&
    need.y + need.height <= have.y + have.height + slack
  );
}

/** Draws what a copy has of what is in view: without change where the scale is the same, so that it stays sharp. */
function paste(context: CanvasRenderingContext2D, { canvas, camera: own }: Copy, camera: Camera, size: Size): void {
  const unit = camera.scale * size.ratio;
  const stretch = camera.scale / own.scale;
  const [x, y] = [(own.x - camera.x) * unit, (own.y - camera.y) * unit];
  if (stretch === 1) {
    context.drawImage(canvas, Math.round(x), Math.round(y));
  } else {
    context.drawImage(canvas, x, y, canvas.width * stretch, canvas.height * stretch);
  }
}

/** What of the scene is in view, with `around` of the view more to each side. */
function inScene(
  scene: Scene,
  { x, y, scale }: Camera,
  { width, height }: Size,
  around: number
): { x: number; y: number; width: number; height: number } {
  const [wide, high] = [width / scale, height / scale];
  const left = Math.max(-MARGIN, x - around * wide);
  const top = Math.max(-MARGIN, y - around * high);
  const right = Math.min(scene.width - MARGIN, x + (1 + around) * wide);
  const bottom = Math.min(scene.height - MARGIN, y + (1 + around) * high);
  return { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}
