/**
 * The picture: a canvas with its camera and its selection. Draws once a frame and only when something changed; holds
 * no pixels while it is scrolled out of sight.
 */
import { badgeAt } from '../draw/badge.ts';
import { boxAt, drawMarks, drawScene, fitCamera, type Camera, type Highlight, type Size } from '../draw/canvas.ts';
import { FAR_SCALE } from '../draw/far.ts';
import { isKept, KeptGround } from '../draw/kept.ts';
import type { Mark } from '../draw/marks.ts';
import { showsMore, wordsFor } from './hovering.ts';
import { MARGIN, type Scene } from '../draw/scene.ts';
import type { Palette } from '../draw/theme.ts';
import { hold, pan, reveal, zoomAt, type Rectangle } from './camera.ts';
import { Shape } from '../view/visible.ts';
import { element } from './elements.ts';
import { listen } from './gestures.ts';
import { Minimap } from './minimap.ts';
import { between, cameraBetween, DURATION } from './transition.ts';

export interface PictureEvents {
  /** `more` where the click asks for what lies between the last selection and this one. */
  select(box: number, more: boolean): void;
  toggle(box: number): void;
  /** The badge of a stack was clicked. */
  spread(box: number): void;
  /** The camera was moved. */
  moved?(): void;
}

/** More boxes than this do not move to their new places: they are there at once. */
const MOST_MOVING = 4_000;
/** ms at rest after which a stretched picture is drawn anew. */
const REST = 120;
/** px of width that must be left free beside the details. */
const LEAST_FREE = 80;

/** The way to what is shown now: from which picture, and which box of it each box was. */
interface Moving {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly from: Int32Array;
  readonly start: number;
}

/** So much of a frame must be in view, in px of the scene: its title. */
const TITLE = { width: 160, height: 28 };

export class Picture {
  readonly canvas = element('canvas', 'jv-canvas');
  private scene: Scene | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 1 };
  private selected = -1;
  private linked: readonly number[] = [];
  /** The box under the pointer, or -1. */
  private hovered = -1;
  private marks: readonly Mark[] = [];
  private faded: Uint8Array | null = null;
  private ways: Uint8Array | null = null;
  private width = 0;
  private height = 0;
  private inSight = true;
  private frame = 0;
  private moving: Moving | null = null;
  private readonly kept = new KeptGround();
  private readonly minimap: Minimap;
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** What was drawn last, which may be on its way. */
  private drawn: { readonly scene: Scene; readonly camera: Camera } | null = null;
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
    private readonly events: PictureEvents
  ) {
    host.append(this.canvas);
    this.minimap = new Minimap(host, (x, y) => this.moveTo(x, y));
    this.stopListening = listen(
      host,
      {
        pan: (dx, dy) => this.move(pan(this.camera, dx, dy)),
        zoom: (factor, x, y) => this.move(zoomAt(this.camera, factor, x, y)),
        click: (x, y, more) => {
          host.focus({ preventScroll: true });
          const badge = this.badgeAt(x, y);
          if (badge >= 0) {
            this.clicked = [-1, -1];
            events.spread(badge);
            return;
          }
          const box = this.at(x, y);
          this.clicked = [this.clicked[1], box];
          events.select(box, more);
        },
        doubleClick: () => events.toggle(this.clicked[0]),
        hover: (x, y) => {
          const box = this.at(x, y);
          host.style.cursor = box >= 0 || this.badgeAt(x, y) >= 0 ? 'pointer' : 'grab';
          this.hover(box);
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

  /** Where the person has moved the camera; null for a picture that fits. */
  get placed(): Camera | null {
    return this.fitted ? null : this.camera;
  }

  /** Moves the camera to where it was when a view was saved. */
  place(camera: Camera): void {
    this.moveCamera(camera);
  }

  get zoom(): number {
    return this.camera.scale;
  }

  /** True where nothing moves and all that changed is drawn, or nobody sees it. */
  get atRest(): boolean {
    return this.frame === 0 && (this.moving === null || !this.inSight);
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
    this.kept.drop();
    this.stopListening();
    this.resize.disconnect();
    this.sight.disconnect();
  }

  /**
   * Shows a scene. `from` gives for each box the one of the scene before that it was, or -1. The box `stay` stays where
   * it is on the screen; without one the camera stays, or fits as long as the person has not moved it.
   */
  show(scene: Scene, from?: Int32Array, stay = -1): void {
    const before = this.scene;
    this.scene = scene;
    this.kept.drop();
    this.marks = [];
    this.hovered = -1;
    this.clicked = [-1, -1];
    if (before && from) {
      const few = Math.max(scene.visible.count, before.visible.count) <= MOST_MOVING;
      const known = this.drawn?.scene.visible === before.visible;
      if (this.drawn && known && few && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
        this.moving = { ...this.drawn, from, start: performance.now() };
      }
      this.stayOn(before, from, stay >= 0 && from[stay] >= 0 ? stay : this.fitted ? -1 : this.middlemost(before, from));
    }
    this.measure();
    this.draw();
  }

  /** Moves the camera with a box, so that it stays where it is on the screen; fits where there is none. */
  private stayOn(before: Scene, from: Int32Array, box: number): void {
    if (box < 0 || !this.scene) {
      this.fitted = true;
      return;
    }
    const [was, is] = [middleOfTop(before, from[box]), middleOfTop(this.scene, box)];
    this.camera = { ...this.camera, x: this.camera.x + is.x - was.x, y: this.camera.y + is.y - was.y };
    this.fitted = false;
    this.revealTitle(box);
  }

  /** The box that was nearest to the middle of the screen, of those that are still there; -1 for none. */
  private middlemost(before: Scene, from: Int32Array): number {
    const { x, y, scale } = this.camera;
    const [middleX, middleY] = [x + this.width / scale / 2, y + this.height / scale / 2];
    let [best, least] = [-1, Infinity];
    from.forEach((old, box) => {
      if (old >= 0 && before.visible.shape[old] !== Shape.frame) {
        const place = middleOfTop(before, old);
        const distance = Math.hypot(place.x - middleX, place.y - middleY);
        if (distance < least) {
          [best, least] = [box, distance];
        }
      }
    });
    return best;
  }

  setFoot(height: number): void {
    if (height !== this.foot) {
      this.foot = height;
      this.canvas.style.height = height ? `calc(100% - ${height}px)` : '';
      this.measure();
    }
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

  private hover(box: number): void {
    const { scene, hovered } = this;
    if (!scene || box === hovered) {
      return;
    }
    this.hovered = box;
    this.canvas.title = wordsFor(scene, box);
    if (showsMore(scene, hovered) || showsMore(scene, box)) {
      this.draw();
    }
  }

  /** What a pass of the compiler did to boxes of this scene. */
  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    this.draw();
  }

  /** Shows the same scene in other colours. */
  recolour(scene: Scene): void {
    this.scene = scene;
    this.measure();
    this.draw();
  }

  /** Lets boxes step back, one of `Fade` for each, and lights edges, one of `Way` for each. */
  relate(faded: Uint8Array | null, ways: Uint8Array | null): void {
    this.faded = faded;
    this.ways = ways;
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
    if (this.scene && box >= 0) {
      const { x, y, width, height } = this.scene.layout;
      this.revealArea({ x: x[box], y: y[box], width: width[box], height: height[box] });
    }
  }

  private revealTitle(box: number): void {
    if (this.scene) {
      const { x, y, width, height } = this.scene.layout;
      const [most, high] = [Math.min(width[box], TITLE.width), Math.min(height[box], TITLE.height)];
      this.revealArea({ x: x[box], y: y[box], width: most, height: high });
    }
  }

  private revealArea(area: Rectangle): void {
    if (this.width) {
      const { left, right } = this.cover;
      const room = left / this.camera.scale;
      const free = reveal(pan(this.camera, -left, 0), area, this.width - left - right, this.height);
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

  /** Obeys a key that is meant for a part of the picture; false for any other. */
  press(event: KeyboardEvent): boolean {
    const taken = this.minimap.hear(event);
    if (taken) {
      event.preventDefault();
    }
    return taken;
  }

  /** Has a point of the scene in the middle. */
  private moveTo(x: number, y: number): void {
    const { scale } = this.camera;
    this.move({ scale, x: x - this.width / scale / 2, y: y - this.height / scale / 2 });
  }

  private badgeAt(x: number, y: number): number {
    const { scene, camera } = this;
    // Badges are not drawn where words could not be read.
    return scene && y < this.height && camera.scale >= FAR_SCALE
      ? badgeAt(scene, camera.x + x / camera.scale, camera.y + y / camera.scale)
      : -1;
  }

  private move(camera: Camera): void {
    this.moveCamera(camera);
    this.events.moved?.();
  }

  private moveCamera(camera: Camera): void {
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
      this.kept.drop();
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
    const t = this.moving ? (performance.now() - this.moving.start) / DURATION : 1;
    if (t >= 1) {
      this.moving = null;
    }
    const { moving } = this;
    const scene = moving ? { ...this.scene, layout: between(moving.scene, this.scene, moving.from, t) } : this.scene;
    const camera = moving ? cameraBetween(moving.camera, this.camera, t) : this.camera;
    this.drawn = { scene, camera };
    const size = { width: this.width, height: this.height, ratio };
    const highlight = {
      selected: this.selected,
      hovered: moving ? -1 : this.hovered,
      linked: this.linked,
      marks: this.marks,
      faded: this.faded?.length === scene.visible.count ? this.faded : null,
      ways: this.ways?.length === scene.visible.source.length ? this.ways : null,
      edges: moving ? t * t * t : 1,
      arrives: (box: number) => moving !== null && moving.from[box] < 0
    };
    const { width: wide, height: high } = this;
    const window = { width: wide, height: high, right: this.cover.right, bottom: this.foot };
    this.minimap.update(this.scene, this.camera, window, this.palette);
    if (!moving && isKept(scene, camera)) {
      this.paintKept(context, scene, size, highlight);
      return;
    }
    this.kept.refresh();
    drawScene(context, scene, camera, size, this.palette, highlight);
    if (moving) {
      this.draw();
    }
  }

  /** Draws from a copy while the camera moves, and anew when it rests at another scale. */
  private paintKept(context: CanvasRenderingContext2D, scene: Scene, size: Size, highlight: Highlight): void {
    const sharp = this.kept.draw(context, scene, this.camera, size, this.palette, highlight);
    drawMarks(context, scene, this.camera, size, this.palette, highlight);
    clearTimeout(this.resting);
    if (!sharp) {
      this.resting = setTimeout(() => {
        this.kept.refresh();
        this.draw();
      }, REST);
    }
  }
}

/** What stays in place of a box that opens: the frame grows to both sides and down. */
function middleOfTop({ layout }: Scene, box: number): { x: number; y: number } {
  return { x: layout.x[box] + layout.width[box] / 2, y: layout.y[box] };
}
