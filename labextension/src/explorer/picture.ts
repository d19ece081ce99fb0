/**
 * The picture: a canvas with its camera and its selection. Draws once a frame and only when something changed; holds
 * no pixels while it is scrolled out of sight.
 */
import { boxAt, drawScene, fitCamera, type Camera } from '../draw/canvas.ts';
import type { Mark } from '../draw/marks.ts';
import { MARGIN, type Scene } from '../draw/scene.ts';
import type { Palette } from '../draw/theme.ts';
import { hold, pan, reveal, zoomAt } from './camera.ts';
import { element } from './elements.ts';
import { listen } from './gestures.ts';
import { between, DURATION } from './transition.ts';

export interface PictureEvents {
  select(box: number): void;
  toggle(box: number): void;
}

/** px of width that must be left free beside the details. */
const LEAST_FREE = 80;

export class Picture {
  readonly canvas = element('canvas', 'jv-canvas');
  private scene: Scene | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 1 };
  private selected = -1;
  private linked: readonly number[] = [];
  private marks: readonly Mark[] = [];
  private width = 0;
  private height = 0;
  private inSight = true;
  private frame = 0;
  private moving: { from: Scene; start: number } | null = null;
  /** Room at the lower end that the picture leaves free, for the legend. */
  private foot = 0;
  /** Width in px that the details cover at either side. */
  private cover = { left: 0, right: 0 };
  /** The boxes of the last two clicks: a double click is meant for what stood under the first. */
  private clicked: readonly [number, number] = [-1, -1];
  /**
   * True until the person moves the camera or selects: then the picture is fitted again when its space changes.
   * What is selected stays where it is on the screen, whatever room is given or taken.
   */
  private fitted = true;
  private readonly stopListening: () => void;
  private readonly resize: ResizeObserver;
  private readonly sight: IntersectionObserver;

  constructor(
    private readonly host: HTMLElement,
    private palette: Palette,
    events: PictureEvents
  ) {
    host.append(this.canvas);
    this.stopListening = listen(
      host,
      {
        pan: (dx, dy) => this.move(pan(this.camera, dx, dy)),
        zoom: (factor, x, y) => this.move(zoomAt(this.camera, factor, x, y)),
        click: (x, y) => {
          host.focus({ preventScroll: true });
          const box = this.at(x, y);
          this.clicked = [this.clicked[1], box];
          events.select(box);
        },
        doubleClick: () => events.toggle(this.clicked[0]),
        hover: (x, y) => {
          host.style.cursor = this.at(x, y) >= 0 ? 'pointer' : 'grab';
        }
      },
      () => document.activeElement === host
    );
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(host);
    // Half a window of warning, so that a picture is there before it is scrolled to.
    this.sight = new IntersectionObserver(entries => this.seen(entries[entries.length - 1].isIntersecting), {
      rootMargin: '50%'
    });
    this.sight.observe(host);
  }

  get zoom(): number {
    return this.camera.scale;
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.stopListening();
    this.resize.disconnect();
    this.sight.disconnect();
  }

  /** Shows a scene. `keep` is a box of the old scene and its counterpart in the new one, which stays where it is. */
  show(scene: Scene, keep?: { readonly before: number; readonly after: number }): void {
    const from = this.scene;
    this.scene = scene;
    this.marks = [];
    this.clicked = [-1, -1];
    if (from && keep) {
      const { layout } = from;
      this.camera = {
        ...this.camera,
        x: this.camera.x + scene.layout.x[keep.after] - layout.x[keep.before],
        y: this.camera.y + scene.layout.y[keep.after] - layout.y[keep.before]
      };
      this.fitted = false;
    }
    if (from && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
      // The old scene is put where the camera now sees it, so that what is kept does not jump.
      const moved = keep
        ? shifted(
            from,
            scene.layout.x[keep.after] - from.layout.x[keep.before],
            scene.layout.y[keep.after] - from.layout.y[keep.before]
          )
        : from;
      this.moving = { from: moved, start: performance.now() };
    }
    this.measure();
    this.draw();
  }

  setFoot(height: number): void {
    this.foot = height;
    this.canvas.style.height = height ? `calc(100% - ${height}px)` : '';
  }

  /** Tells what the details cover: what is revealed or fitted keeps clear of it. */
  setCover(left: number, right: number): void {
    // Where hardly anything would be left free, the whole width is used.
    const any = this.width - left - right >= LEAST_FREE;
    this.cover = any ? { left, right } : { left: 0, right: 0 };
  }

  /** Whether a box reaches into the `width` px at the right of the picture. */
  isUnder(box: number, width: number): boolean {
    if (!this.scene || !this.width) {
      return false;
    }
    const { layout } = this.scene;
    return (layout.x[box] + layout.width[box] - this.camera.x) * this.camera.scale > this.width - width;
  }

  select(box: number, linked: readonly number[] = []): void {
    this.selected = box;
    this.linked = linked;
    this.fitted &&= box < 0;
    this.draw();
  }

  /** What a pass of the compiler did to boxes of this scene. */
  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    this.draw();
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.draw();
  }

  fit(): void {
    this.fitted = true;
    if (this.scene && this.width && this.height) {
      const { left, right } = this.cover;
      const camera = fitCamera(this.scene, this.width - left - right, this.height);
      this.camera = { ...camera, x: camera.x - left / camera.scale };
      this.draw();
    }
  }

  zoomBy(factor: number): void {
    this.move(zoomAt(this.camera, factor, this.width / 2, this.height / 2));
  }

  /** Moves the camera as little as needed to have a box in view. */
  reveal(box: number): void {
    if (this.scene && this.width) {
      const { x, y, width, height } = this.scene.layout;
      const { left, right } = this.cover;
      const room = left / this.camera.scale;
      const free = reveal(
        pan(this.camera, -left, 0),
        { x: x[box], y: y[box], width: width[box], height: height[box] },
        this.width - left - right,
        this.height
      );
      const camera = { ...free, x: free.x - room };
      if (Math.abs(camera.x - this.camera.x) > 1e-6 || camera.y !== this.camera.y) {
        this.move(camera);
      }
    }
  }

  /** Middle of a box on the screen, relative to the picture; for tests and for what points at boxes. */
  locate(box: number): { x: number; y: number } | null {
    if (!this.scene || box < 0) {
      return null;
    }
    const { layout } = this.scene;
    return {
      x: (layout.x[box] + layout.width[box] / 2 - this.camera.x) * this.camera.scale,
      y: (layout.y[box] + Math.min(11, layout.height[box] / 2) - this.camera.y) * this.camera.scale
    };
  }

  private at(x: number, y: number): number {
    return this.scene && y < this.height
      ? boxAt(this.scene, this.camera.x + x / this.camera.scale, this.camera.y + y / this.camera.scale)
      : -1;
  }

  private move(camera: Camera): void {
    const { scene, width, height } = this;
    this.camera =
      scene && width && height
        ? hold(camera, { x: -MARGIN, y: -MARGIN, width: scene.width, height: scene.height }, width, height)
        : camera;
    this.fitted = false;
    this.draw();
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.host;
    this.width = clientWidth;
    this.height = clientHeight && Math.max(1, clientHeight - this.foot);
    if (this.fitted) {
      this.fit();
    } else {
      this.draw();
    }
  }

  private seen(inSight: boolean): void {
    this.inSight = inSight;
    if (inSight) {
      this.draw();
    } else {
      this.canvas.width = 0;
      this.canvas.height = 0;
    }
  }

  private draw(): void {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }
  }

  private paint(): void {
    const context = this.canvas.getContext('2d');
    if (!this.scene || !context || !this.inSight || !this.width || !this.height) {
      return;
    }
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    let scene = this.scene;
    let edges = 1;
    if (this.moving) {
      const t = Math.min(1, (performance.now() - this.moving.start) / DURATION);
      if (t < 1) {
        scene = { ...scene, layout: between(this.moving.from, scene, t) };
        edges = t * t * t;
        this.draw();
      } else {
        this.moving = null;
      }
    }
    drawScene(context, scene, this.camera, { width: this.width, height: this.height, ratio }, this.palette, {
      selected: this.selected,
      linked: this.linked,
      marks: this.marks,
      edges
    });
  }
}

function shifted(scene: Scene, dx: number, dy: number): Scene {
  const { layout } = scene;
  return { ...scene, layout: { ...layout, x: layout.x.map(x => x + dx), y: layout.y.map(y => y + dy) } };
}
