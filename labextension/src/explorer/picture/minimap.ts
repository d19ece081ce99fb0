/**
 * The minimap: the whole picture, small, with what is in view marked. It is there only while the picture is larger than
 * its window. A click or a drag moves the camera, and so do the arrow keys once it has the focus.
 */
import { drawGround, type Camera } from '../../draw/canvas.ts';
import { MARGIN, type Scene } from '../../draw/scene.ts';
import type { Palette } from '../../draw/theme.ts';
import { element } from '../elements.ts';
import type { Cover } from './viewpoint.ts';

/** Its largest size in px, and its distance from the corner. */
const MOST_WIDTH = 150;
const MOST_HEIGHT = 120;
const INSET = 10;
/** The picture must be so much larger than the window, and the window so much larger than the map. */
const LARGER = 1.25;
const ROOM = 2.2;
/** Programs of fewer boxes need none, however far the person has gone in. */
const LEAST_BOXES = 12;
/** Part of the window that an arrow key moves by. */
const STEP = 0.2;

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1]
};

/** The window onto the picture: px of the screen, what is covered of it, and what is kept free below it. */
export interface Window extends Cover {
  readonly width: number;
  readonly height: number;
  readonly bottom: number;
}

export class Minimap {
  readonly canvas = element('canvas', 'jv-minimap');
  /** The picture without the mark, drawn once. */
  private readonly still = document.createElement('canvas');
  private drawn: { scene: Scene; palette: Palette; ratio: number } | null = null;
  private scene: Scene | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 1 };
  private window: Window = { width: 0, height: 0, left: 0, right: 0, top: 0, bottom: 0 };
  /** Where in the mark it was taken, in px of the scene; null while nothing is dragged. */
  private grip: { x: number; y: number } | null = null;

  /** `show` has the camera show the given point of the scene in the middle of the window. */
  constructor(
    host: HTMLElement,
    private readonly show: (x: number, y: number) => void
  ) {
    const { canvas } = this;
    canvas.hidden = true;
    this.drop();
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'overview of the picture; arrow keys move what is in view');
    canvas.title = 'Overview: click or drag to move';
    canvas.addEventListener('pointerdown', event => this.take(event));
    canvas.addEventListener('pointermove', event => this.drag(event));
    canvas.addEventListener('pointerup', () => (this.grip = null));
    canvas.addEventListener('pointercancel', () => (this.grip = null));
    canvas.addEventListener('dblclick', event => event.stopPropagation());
    host.append(canvas);
  }

  /** Shows where the camera is; called whenever the picture is drawn. */
  update(scene: Scene, camera: Camera, window: Window, palette: Palette): void {
    this.scene = scene;
    this.camera = camera;
    this.window = window;
    const { canvas } = this;
    canvas.hidden = !isNeeded(scene, camera, window);
    if (canvas.hidden) {
      if (this.drawn) {
        this.drop();
      }
      return;
    }
    const ratio = globalThis.devicePixelRatio || 1;
    if (this.drawn?.scene !== scene || this.drawn.palette !== palette || this.drawn.ratio !== ratio) {
      this.drawStill(scene, palette, ratio);
    }
    canvas.style.right = `${window.right + INSET}px`;
    canvas.style.bottom = `${window.bottom + INSET}px`;
    this.mark(palette, ratio);
  }

  /** Keeps no pixels until it is drawn again. */
  drop(): void {
    for (const canvas of [this.still, this.canvas]) {
      canvas.width = 0;
      canvas.height = 0;
    }
    this.drawn = null;
  }

  /** Obeys an arrow key that was pressed on the map; false for any other. */
  hear(event: KeyboardEvent): boolean {
    const way = ARROWS[event.key];
    if (event.target !== this.canvas || !way) {
      return false;
    }
    const { x, y } = this.middle();
    const { width, height } = this.window;
    const { scale } = this.camera;
    this.move(x + (way[0] * STEP * width) / scale, y + (way[1] * STEP * height) / scale);
    return true;
  }

  private drawStill(scene: Scene, palette: Palette, ratio: number): void {
    const scale = Math.min(MOST_WIDTH / scene.width, MOST_HEIGHT / scene.height);
    const size = { width: scale * scene.width, height: scale * scene.height, ratio };
    for (const canvas of [this.still, this.canvas]) {
      canvas.width = Math.max(1, Math.round(size.width * ratio));
      canvas.height = Math.max(1, Math.round(size.height * ratio));
    }
    this.canvas.style.width = `${size.width}px`;
    this.canvas.style.height = `${size.height}px`;
    const context = this.still.getContext('2d');
    if (context) {
      drawGround(context, scene, { x: -MARGIN, y: -MARGIN, scale }, size, palette, {
        selected: -1,
        marks: [],
        linked: [],
        ways: null,
        faded: null,
        edges: 1,
        arrives: () => false
      });
    }
    this.drawn = { scene, palette, ratio };
  }

  /** Marks what is in view. */
  private mark(palette: Palette, ratio: number): void {
    const context = this.canvas.getContext('2d');
    if (!context || !this.scene) {
      return;
    }
    const { camera, window } = this;
    const unit = this.canvas.width / this.scene.width;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    const width = Math.max(4 * ratio, (window.width / camera.scale) * unit);
    const height = Math.max(4 * ratio, (window.height / camera.scale) * unit);
    const [x, y] = [(camera.x + MARGIN) * unit, (camera.y + MARGIN) * unit];
    context.fillStyle = palette.accent;
    context.globalAlpha = 0.12;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5 * ratio;
    context.strokeRect(x, y, width, height);
  }

  /** The middle of what is in view, in px of the scene. */
  private middle(): { x: number; y: number } {
    const { x, y, scale } = this.camera;
    return { x: x + this.window.width / scale / 2, y: y + this.window.height / scale / 2 };
  }

  /** The point of the scene under the pointer. */
  private under(event: PointerEvent): { x: number; y: number } {
    const { left, top, width } = this.canvas.getBoundingClientRect();
    const scale = width / (this.scene?.width ?? 1);
    return { x: (event.clientX - left) / scale - MARGIN, y: (event.clientY - top) / scale - MARGIN };
  }

  /** Has a point in the middle, or one so near that what is free of the window shows nothing beside the picture. */
  private move(x: number, y: number): void {
    if (this.scene) {
      const { scale } = this.camera;
      const { width, height, left, right, top } = this.window;
      this.show(
        held(x, this.scene.width, width / scale, left / scale, right / scale),
        held(y, this.scene.height, height / scale, top / scale, 0)
      );
    }
  }

  /** Takes the mark where it is pressed; a press beside it brings it there first. */
  private take(event: PointerEvent): void {
    event.stopPropagation();
    this.canvas.setPointerCapture(event.pointerId);
    const [point, middle] = [this.under(event), this.middle()];
    const { width, height } = this.window;
    const { scale } = this.camera;
    const within =
      Math.abs(point.x - middle.x) < width / scale / 2 && Math.abs(point.y - middle.y) < height / scale / 2;
    this.grip = within ? { x: point.x - middle.x, y: point.y - middle.y } : { x: 0, y: 0 };
    this.drag(event);
  }

  private drag(event: PointerEvent): void {
    event.stopPropagation();
    if (this.grip) {
      const { x, y } = this.under(event);
      this.move(x - this.grip.x, y - this.grip.y);
    }
  }
}

/** Whether the picture is larger than its window, and the window has room for a map. */
export function isNeeded(scene: Scene, { scale }: Camera, { width, height }: Window): boolean {
  const larger = scene.width * scale > LARGER * width || scene.height * scale > LARGER * height;
  const room = width > ROOM * MOST_WIDTH && height > ROOM * MOST_HEIGHT * 0.8;
  return larger && room && scene.visible.count >= LEAST_BOXES;
}

/** The middle of a window, so that the picture begins and ends at its ends or beyond, or is whole in it: along one axis. */
function held(middle: number, size: number, window: number, before: number, after: number): number {
  const [first, last] = [window / 2 - before - MARGIN, size - window / 2 + after - MARGIN];
  return Math.min(Math.max(first, last), Math.max(Math.min(first, last), middle));
}
