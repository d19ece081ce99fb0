/**
 * The ground of a large picture, kept as pixels while the camera moves: to move a copy costs far less than to draw tens
 * of thousands of boxes. While the scale changes, the copy is stretched; whoever uses it has it drawn anew at rest.
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

interface Kept {
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
  private readonly canvas = document.createElement('canvas');
  private kept: Kept | null = null;

  /** Draws the ground from the copy, which is made anew where it does not reach. False if it was stretched. */
  draw(
    context: CanvasRenderingContext2D,
    scene: Scene,
    camera: Camera,
    size: Size,
    palette: Palette,
    highlight: Highlight
  ): boolean {
    const same = this.kept?.palette === palette && this.kept.faded === highlight.faded;
    const known = same && this.fits(scene, camera, size) ? this.kept : null;
    const kept = known ?? this.make(scene, camera, size, palette, highlight);
    const unit = camera.scale * size.ratio;
    const stretch = camera.scale / kept.camera.scale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, Math.ceil(size.width * size.ratio), Math.ceil(size.height * size.ratio));
    const [x, y] = [(kept.camera.x - camera.x) * unit, (kept.camera.y - camera.y) * unit];
    if (stretch === 1) {
      context.drawImage(this.canvas, Math.round(x), Math.round(y));
      return true;
    }
    context.drawImage(this.canvas, x, y, this.canvas.width * stretch, this.canvas.height * stretch);
    return false;
  }

  /** Lets go of the copy, and of its room. */
  drop(): void {
    this.kept = null;
    this.canvas.width = 0;
    this.canvas.height = 0;
  }

  private fits(scene: Scene, camera: Camera, size: Size): boolean {
    const { kept } = this;
    if (!kept || kept.scene !== scene || kept.size.ratio !== size.ratio) {
      return false;
    }
    const stretch = camera.scale / kept.camera.scale;
    const [need, have] = [inScene(scene, camera, size, 0), inScene(scene, kept.camera, kept.size, 0)];
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

  private make(scene: Scene, camera: Camera, size: Size, palette: Palette, highlight: Highlight): Kept {
    const part = inScene(scene, camera, size, AROUND);
    const kept = {
      scene,
      palette,
      faded: highlight.faded,
      camera: { x: part.x, y: part.y, scale: camera.scale },
      size: { width: part.width * camera.scale, height: part.height * camera.scale, ratio: size.ratio }
    };
    this.kept = kept;
    this.canvas.width = Math.max(1, Math.ceil(kept.size.width * size.ratio));
    this.canvas.height = Math.max(1, Math.ceil(kept.size.height * size.ratio));
    const context = this.canvas.getContext('2d') as CanvasRenderingContext2D;
    drawGround(context, scene, kept.camera, kept.size, palette, highlight);
    return kept;
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
