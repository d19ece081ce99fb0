/**
 * The picture: a canvas with what is selected on it, seen from a `Viewpoint`. Draws once a frame and only when something changed; holds
 * no pixels while it is scrolled out of sight.
 */
import { badgeAt } from '../../draw/badge.ts';
import { boxAt, drawMarks, drawScene, type Camera, type Highlight, type Size } from '../../draw/canvas.ts';
import { FAR_SCALE } from '../../draw/far.ts';
import { isKept, KeptGround } from '../../draw/kept.ts';
import type { Mark } from '../../draw/marks.ts';
import { showsMore, wordsFor } from './hovering.ts';
import type { Scene } from '../../draw/scene.ts';
import type { Palette } from '../../draw/theme.ts';
import type { Space } from '../../view/space.ts';
import { pan, zoomAt } from './camera.ts';
import { element } from '../elements.ts';
import { listen } from './gestures.ts';
import { Minimap } from './minimap.ts';
import { between, cameraBetween, DURATION } from './transition.ts';
import type { EarlierPicture } from '../versions/earlier.ts';
import type { SavedCamera } from '../versions/saved.ts';
import { Viewpoint, type Settled, type Cover, type Stand } from './viewpoint.ts';

export interface PictureEvents {
  /** `more` where the click asks for what lies between the last selection and this one. */
  select(box: number, more: boolean): void;
  toggle(box: number): void;
  /** The badge of a stack was clicked. */
  spread(box: number): void;
  /** The camera was moved. */
  moved?(): void;
  /** The pointer is on another box, or on none: -1. */
  hovered?(box: number): void;
}

/** More boxes than this do not move to their new places: they are there at once. */
const MOST_MOVING = 4_000;
/** ms at rest after which a stretched picture is drawn anew. */
const REST = 120;
/** The way to what is shown now: from which picture, and which box of it each box was. */
interface Moving {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly from: Int32Array;
  readonly start: number;
  /** True where only the camera moves. */
  readonly same?: boolean;
}

export class Picture {
  readonly canvas = element('canvas', 'jv-canvas');
  private scene: Scene | null = null;
  private readonly view = new Viewpoint(() => this.draw());
  /** What was seen in the explorer before, until the next scene is shown. */
  private earlier: EarlierPicture | null = null;
  private selected = -1;
  private linked: readonly number[] = [];
  /** The box under the pointer, or -1. */
  private hovered = -1;
  private pointed: readonly number[] = [];
  private marks: readonly Mark[] = [];
  private faded: Uint8Array | null = null;
  private ways: Uint8Array | null = null;
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
  /** Until what is covered is made room for. */
  private settling: ReturnType<typeof setTimeout> | undefined;
  /** The boxes of the last two clicks: a double click is meant for what stood under the first. */
  private clicked: readonly [number, number] = [-1, -1];
  private readonly stopListening: () => void;
  private readonly resize: ResizeObserver;
  private readonly sight: IntersectionObserver;

  constructor(
    private readonly host: HTMLElement,
    private palette: Palette,
    private readonly events: PictureEvents,
    ownsWheel: () => boolean = () => false
  ) {
    host.append(this.canvas);
    this.minimap = new Minimap(host, (x, y) => this.moveTo(x, y));
    this.stopListening = listen(
      host,
      {
        pan: (dx, dy) => this.moved(pan(this.view.camera, dx, dy)),
        zoom: (factor, x, y) => this.moved(zoomAt(this.view.camera, factor, x, y)),
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
      () => document.activeElement === host || ownsWheel()
    );
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(host);
    // Half a window of warning, so that a picture is there before it is scrolled to; of a notebook too, which scrolls by
    // itself inside of the page.
    const ahead = { rootMargin: '50%', scrollMargin: '50%' };
    this.sight = new IntersectionObserver(entries => this.seen(entries[entries.length - 1].isIntersecting), ahead);
    this.sight.observe(host);
  }

  /** Where the camera stands that was moved; null for a picture that fits. */
  get placed(): SavedCamera | null {
    const { camera, held } = this.view.stand;
    return this.view.isOwn ? { ...camera, ...(held ? {} : { settled: true }) } : null;
  }

  /** Moves the camera to where it was when a view was saved, or to where it settles now from there. */
  place({ settled, ...camera }: SavedCamera): void {
    if (settled) {
      this.view.settleFrom(camera, this.selected);
    } else {
      this.view.move(camera);
    }
  }

  get stand(): Stand {
    return this.view.stand;
  }

  /** What is shown next takes the place of the picture of another explorer. */
  follow(earlier: EarlierPicture): void {
    this.earlier = earlier;
  }

  get zoom(): number {
    return this.view.camera.scale;
  }

  /** True where nothing moves and all that changed is drawn, or nobody sees it. */
  get atRest(): boolean {
    return this.frame === 0 && this.settling === undefined && (this.moving === null || !this.inSight);
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
    clearTimeout(this.settling);
    this.kept.drop();
    this.stopListening();
    this.resize.disconnect();
    this.sight.disconnect();
  }

  /**
   * Shows a scene. `from` gives for each box the one of the scene before that it was, or -1. The box `stay` stays where
   * it is on the screen; without one the camera stays, or fits as long as the person has not moved it. What is marked is
   * in view then.
   */
  show(scene: Scene, marks: readonly Mark[], from?: Int32Array, stay = -1, still = false): void {
    const { earlier } = this;
    const before = earlier?.scene ?? this.scene;
    if (earlier) {
      this.earlier = null;
      this.measure();
      this.view.stand = earlier.stand;
    }
    this.scene = this.view.scene = scene;
    this.kept.drop();
    this.marks = marks;
    this.hovered = -1;
    this.pointed = [];
    this.clicked = [-1, -1];
    // The camera stays with what is selected: by its box of this scene, not by its number in the one before.
    this.selected = from && this.selected >= 0 ? from.indexOf(this.selected) : -1;
    if (before && from) {
      const few = Math.max(scene.visible.count, before.visible.count) <= MOST_MOVING;
      const known = this.drawn?.scene.visible === before.visible;
      if (this.drawn && known && few && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
        this.moving = { ...this.drawn, from, start: performance.now() };
      }
      this.view.goOn(before, from, stay, boxesOf(scene, marks), still);
    }
    this.measure();
    this.draw();
  }

  /** Makes room for what came over the picture or went, where the person has not moved the camera; in `wait` ms. */
  private settleIn(wait: number): void {
    clearTimeout(this.settling);
    this.settling = undefined;
    const to = this.view.settled(this.selected);
    if (to && wait) {
      this.settling = setTimeout(() => this.settleIn(0), wait);
    } else if (to) {
      this.glide(to);
    }
  }

  /** Moves the camera so that the eye can follow. */
  private glide(to: Settled): void {
    this.setOut();
    this.view.settle(to, this.selected);
    this.events.moved?.();
  }

  /** The camera goes from where it was drawn last to where it stands now. */
  private setOut(): void {
    const { drawn, scene } = this;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (scene && drawn?.scene.visible === scene.visible && scene.visible.count <= MOST_MOVING && !still) {
      const from = Int32Array.from({ length: scene.visible.count }, (_, box) => box);
      this.moving = { ...drawn, from, start: performance.now(), same: true };
    }
  }

  setFoot(height: number): void {
    // While the host changes its style sheets, nothing has a size: what was there is right then.
    if (height !== this.foot && (this.host.clientWidth || !this.foot)) {
      this.foot = height;
      this.canvas.style.height = height ? `calc(100% - ${height}px)` : '';
      this.measure();
    }
  }

  /** Tells what the details cover: what is revealed or fitted keeps clear of it, at once or in `wait` ms. */
  setCover(left: number, right: number, wait = 0): void {
    this.view.setCover(left, right);
    this.settleIn(wait);
  }

  /** What the details and the line at the top cover of it, in px. */
  get covered(): Cover {
    return this.view.cover;
  }

  /** What the details leave free of the space for a picture. */
  free({ width, height }: Space): Space {
    const { left, right } = this.view.cover;
    return { width: width - left - right, height };
  }

  /** Tells what the line at the top covers. */
  setTop(top: number): void {
    this.view.cover = { ...this.view.cover, top };
  }

  /** Whether a box reaches into the `width` px at the right of the picture. */
  isUnder(box: number, width: number): boolean {
    return this.view.isUnder(box, width);
  }

  select(box: number, linked: readonly number[] = []): void {
    this.selected = box;
    this.linked = linked;
    this.view.fitted &&= box < 0;
    this.draw();
  }

  /** Marks boxes that something outside of the picture points to. */
  point(boxes: readonly number[]): void {
    if (boxes.length || this.pointed.length) {
      this.pointed = boxes;
      this.draw();
    }
  }

  private hover(box: number): void {
    const { scene, hovered } = this;
    if (!scene || box === hovered) {
      return;
    }
    this.hovered = box;
    this.canvas.title = wordsFor(scene, box);
    this.events.hovered?.(box);
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
    this.scene = this.view.scene = scene;
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
    this.view.fit();
  }

  zoomBy(factor: number): void {
    const { camera, width, height } = this.view;
    this.moved(zoomAt(camera, factor, width / 2, height / 2));
  }

  /** Moves the camera as little as needed to have a box in view. */
  reveal(box: number): void {
    if (this.view.reveal(box)) {
      this.events.moved?.();
    }
  }

  /** Moves the camera to boxes that somebody goes to: as little as needed, but so near that the first can be read. */
  comeTo(boxes: readonly number[]): void {
    const { zoom } = this;
    if (this.view.comeTo(boxes)) {
      if (this.zoom !== zoom) {
        this.setOut();
      }
      this.events.moved?.();
    }
  }

  /** Middle of a box on the screen, relative to the picture; for tests and for what points at boxes. */
  locate(box: number): { x: number; y: number } | null {
    return this.view.locate(box);
  }

  private at(x: number, y: number): number {
    const place = this.view.at(x, y);
    return this.scene && place ? boxAt(this.scene, place.x, place.y) : -1;
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
    const { camera, width, height } = this.view;
    const { scale } = camera;
    this.moved({ scale, x: x - width / scale / 2, y: y - height / scale / 2 });
  }

  private badgeAt(x: number, y: number): number {
    const place = this.view.at(x, y);
    // Badges are not drawn where words could not be read.
    return this.scene && place && this.view.camera.scale >= FAR_SCALE ? badgeAt(this.scene, place.x, place.y) : -1;
  }

  private moved(camera: Camera): void {
    this.view.move(camera);
    this.events.moved?.();
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.host;
    if (!clientWidth && this.view.width) {
      return;
    }
    // What stands where it was clicked stays there until it is sure that it was no double click.
    const keeps = this.settling !== undefined;
    this.view.resize(clientWidth, clientHeight && Math.max(1, clientHeight - this.foot), keeps ? null : this.selected);
  }

  private seen(inSight: boolean): void {
    this.inSight = inSight;
    if (inSight) {
      this.draw();
    } else {
      this.canvas.width = 0;
      this.canvas.height = 0;
      this.minimap.drop();
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
    const { width: wide, height: high } = this.view;
    if (!this.scene || !context || !this.inSight || !wide || !high) {
      return;
    }
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    // Of a part of a pixel more, as half of an odd width has, the browser would stretch and so blur it.
    this.canvas.style.width = `${width / ratio}px`;
    this.canvas.style.height = `${height / ratio}px`;
    const t = this.moving ? (performance.now() - this.moving.start) / DURATION : 1;
    if (t >= 1) {
      this.moving = null;
    }
    const { moving } = this;
    const scene = moving ? { ...this.scene, layout: between(moving.scene, this.scene, moving.from, t) } : this.scene;
    const camera = moving ? cameraBetween(moving.camera, this.view.camera, t) : this.view.camera;
    this.drawn = { scene, camera };
    const size = { width: wide, height: high, ratio };
    const highlight = {
      selected: this.selected,
      hovered: moving ? -1 : this.hovered,
      linked: this.pointed.length ? [...this.linked, ...this.pointed] : this.linked,
      marks: this.marks,
      faded: this.faded?.length === scene.visible.count ? this.faded : null,
      ways: this.ways?.length === scene.visible.source.length ? this.ways : null,
      edges: moving && !moving.same ? t * t * t : 1,
      arrives: (box: number) => moving !== null && moving.from[box] < 0
    };
    const window = { width: wide, height: high, ...this.view.cover, bottom: this.foot };
    this.minimap.update(this.scene, this.view.camera, window, this.palette);
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
    const sharp = this.kept.draw(context, scene, this.view.camera, size, this.palette, highlight);
    drawMarks(context, scene, this.view.camera, size, this.palette, highlight);
    clearTimeout(this.resting);
    if (!sharp) {
      this.resting = setTimeout(() => {
        this.kept.refresh();
        this.draw();
      }, REST);
    }
  }
}

/** The boxes that are marked, in the order of reading. */
export function boxesOf({ layout }: Scene, marks: readonly Mark[]): number[] {
  const { x, y } = layout;
  return marks.map(({ box }) => box).sort((a, b) => y[a] - y[b] || x[a] - x[b]);
}
