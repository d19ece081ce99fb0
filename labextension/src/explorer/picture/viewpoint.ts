/**
 * Where the camera of a picture stands. All is in view at first, and is so again when the space changes; what opens or is
 * selected hardly moves; once the person has moved the camera, it stays where it is.
 */
import { fitCamera, type Camera } from '../../draw/canvas.ts';
import { MARGIN, type Scene } from '../../draw/scene.ts';
import type { Space } from '../../view/space.ts';
import { Shape } from '../../view/visible.ts';
import { comeNear, hold, inView, pan, READABLE, reveal, settle, settleOn, TELLING, type Rectangle } from './camera.ts';
import { TRAIL_HEIGHT } from './trail.ts';

/** px of width that must be left free beside the details. */
const LEAST_FREE = 80;
/** px of height that must be left free below what covers the upper end. */
const LEAST_HIGH = 40;
/** So much of a frame must be in view, in px of the scene: its title. */
const TITLE = { width: 160, height: 28 };

/** Where all stays where it is, it is seen at least this large against what the space would allow. */
const STILL = 0.7;

/** px of the scene around a box in which its marks stand. */
const AROUND = 12;

/** Px at the sides and at the top that stand over the picture. */
export interface Cover {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** Where a camera settles that nobody has moved; `fits` where all is in view and in the middle. */
export interface Settled {
  readonly camera: Camera;
  readonly fits: boolean;
}

/** How a camera stands, for the picture that takes the place of its own. */
export interface Stand {
  readonly camera: Camera;
  readonly fitted: boolean;
  readonly held: boolean;
}

export class Viewpoint {
  camera: Camera = { x: 0, y: 0, scale: 1 };
  scene: Scene | null = null;
  /** The space on the screen, and what of it the details and the trail cover. */
  width = 0;
  height = 0;
  cover: Cover = { left: 0, right: 0, top: TRAIL_HEIGHT };
  /** True while all is in view and in the middle, or was before it took a step. */
  fitted = true;
  /** True while all stands where it stood before such a step. */
  private still = false;
  /** True once the person has moved the camera. */
  private held = false;

  /** `changed` hears when the camera has moved. */
  constructor(private readonly changed: () => void) {}

  /** True where the camera stands as it would not by itself. */
  get isOwn(): boolean {
    return this.held || (!this.fitted && this.fitting()?.scale !== this.camera.scale);
  }

  get stand(): Stand {
    const { camera, fitted, held } = this;
    return { camera, fitted, held };
  }

  set stand({ camera, fitted, held }: Stand) {
    this.camera = camera;
    this.fitted = fitted;
    this.held = held;
  }

  fit(): void {
    this.fitted = true;
    this.held = this.still = false;
    const camera = this.fitting();
    if (camera) {
      this.camera = camera;
      this.changed();
    }
  }

  /** Has the camera where the person wants it. */
  move(camera: Camera): void {
    this.go(camera);
    this.held = true;
  }

  setCover(left: number, right: number): void {
    // Where hardly anything would be left free, the whole width is used.
    const any = this.width - left - right >= LEAST_FREE;
    this.cover = { ...this.cover, ...(any ? { left, right } : { left: 0, right: 0 }) };
  }

  /** The space is another. `box` is what stays where it is as far as that goes, -1 for none; null, nothing moves. */
  resize(width: number, height: number, box: number | null): void {
    const all = this.seesAll;
    this.width = width;
    this.height = height;
    if (this.fitted) {
      if (!this.stands) {
        this.fit();
      }
    } else if (!this.held && box !== null && width && height) {
      // What was seen whole is so in less room too, while its names can be made out.
      this.camera = this.settledAt(box, [], all ? TELLING : READABLE);
    }
    this.changed();
  }

  private get seesAll(): boolean {
    const { scene, camera, width, height, free } = this;
    const { left, top } = this.kept;
    return scene !== null && width > 0 && height > 0 && inView(pan(camera, -left, -top), areaOf(scene), free);
  }

  /**
   * Another scene is shown: the box `stay`, or the one in the middle, stays where it is on the screen. `from` gives for
   * each box the one of `before` that it was, or -1. The boxes `wanted` are what is to be seen of it, the first before
   * the others. `still` where what did not change stays where it is, even if all is in view.
   */
  goOn(before: Scene, from: Int32Array, stay: number, wanted: readonly number[] = [], still = false): void {
    const { scene } = this;
    const box = stay >= 0 && from[stay] >= 0 ? stay : this.fitted ? -1 : this.middlemost(before, from);
    if (box < 0 || !scene) {
      this.fitted = true;
      this.still = still;
      if (still) {
        this.step(before, from);
      }
      return;
    }
    const [was, is] = [middleOfTop(before, from[box]), middleOfTop(scene, box)];
    this.camera = { ...this.camera, x: this.camera.x + is.x - was.x, y: this.camera.y + is.y - was.y };
    this.fitted = false;
    if (!this.held && this.width && this.height) {
      this.camera = this.settledAt(box, wanted);
    }
    if (this.held || !wanted.length) {
      this.revealTitle(box);
    }
  }

  /** Has most of the boxes where they were on the screen, as far as all stays in view with it. */
  private step(before: Scene, from: Int32Array): void {
    const { scene, camera } = this;
    const fit = this.fitting();
    if (scene && fit) {
      const { x, y } = commonShift(before, scene, from);
      const { left, top } = this.kept;
      const moved = pan({ ...camera, x: camera.x + x, y: camera.y + y }, -left, -top);
      const whole = Math.min(camera.scale, fit.scale);
      const anchor = { x: this.free.width / 2, y: this.free.height / 2 };
      this.camera = pan(settle(moved, { picture: areaOf(scene), window: this.free, whole, anchor }, 0), left, top);
    }
  }

  /** True where all stands as before a step, is in view, and not much smaller than it could be. */
  private get stands(): boolean {
    const { scene, camera, free, still, fitted } = this;
    const fit = this.fitting();
    if (!still || !fitted || !scene || !fit) {
      return false;
    }
    const { left, top } = this.kept;
    return camera.scale >= STILL * fit.scale && inView(pan(camera, -left, -top), areaOf(scene), free);
  }

  /** Where the camera settles; null where it may stay. `selected` is what stays where it is as far as that goes. */
  settled(selected: number): Settled | null {
    const fit = this.fitting();
    if (this.held || !fit || this.stands) {
      return null;
    }
    const near = this.settledAt(selected);
    const fits = selected < 0 && fit.scale === near.scale;
    const camera = fits ? fit : near;
    const moves = Math.hypot(camera.x - this.camera.x, camera.y - this.camera.y) > 0.5;
    return moves || camera.scale !== this.camera.scale ? { camera, fits } : null;
  }

  settle({ camera, fits }: Settled, selected: number): void {
    this.camera = camera;
    this.fitted = fits;
    this.revealTitle(selected);
    this.changed();
  }

  /** Stands where it settles by itself after it stood elsewhere, as in another room. */
  settleFrom(camera: Camera, selected: number): void {
    this.go(camera);
    this.held = this.still = false;
    const to = this.settled(selected);
    if (to) {
      this.settle(to, selected);
    }
  }

  /** Moves as little as needed to have a box in view; false where it is. */
  reveal(box: number): boolean {
    return this.revealPart(box, Infinity, Infinity);
  }

  /**
   * Has the first of these boxes in view where its name can be read, and the others as far as that goes; false where that
   * is so.
   */
  comeTo(boxes: readonly number[]): boolean {
    const { scene, width, height, camera, held } = this;
    if (!scene || !width || !height || !boxes.length) {
      return false;
    }
    const { left, top } = this.kept;
    const near = comeNear(
      boxes.map(box => titleOf(scene, box)),
      camera,
      this.free
    );
    if (!near) {
      return this.reveal(boxes[0]);
    }
    this.go(pan(near, left, top));
    this.held = held;
    return true;
  }

  /** Middle of a box on the screen, relative to the picture. */
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

  /** The place in the scene of one on the screen; null below the picture. */
  at(x: number, y: number): { x: number; y: number } | null {
    const { camera } = this;
    return y < this.height ? { x: camera.x + x / camera.scale, y: camera.y + y / camera.scale } : null;
  }

  /** Whether a box reaches into the `width` px at the right of the picture. */
  isUnder(box: number, width: number): boolean {
    if (!this.scene || !this.width) {
      return false;
    }
    const { layout } = this.scene;
    return (layout.x[box] + layout.width[box] - this.camera.x) * this.camera.scale > this.width - width;
  }

  /** The camera that has all in view and in the middle; null while there is nothing or no space for it. */
  private fitting(): Camera | null {
    const { scene, width, height } = this;
    if (!scene || !width || !height) {
      return null;
    }
    const { left, top } = this.kept;
    const { free } = this;
    return pan(fitCamera(scene, free.width, free.height), left, top);
  }

  /** What is kept clear; where that would leave hardly any height, all of it is used. */
  private get kept(): Cover {
    const { cover, height } = this;
    return height - cover.top < LEAST_HIGH ? { ...cover, top: 0 } : cover;
  }

  /** The space on the screen that nothing covers. */
  private get free(): Space {
    const { left, right, top } = this.kept;
    return { width: this.width - left - right, height: this.height - top };
  }

  /** The camera as it should be where the person has not moved it; the box stays where it is as far as that goes. */
  private settledAt(box: number, wanted: readonly number[] = [], readable?: number): Camera {
    const { scene, camera, free } = this;
    if (!scene) {
      return camera;
    }
    const { left, top } = this.kept;
    const whole = fitCamera(scene, free.width, free.height).scale;
    const place = this.locate(box);
    const anchor = place ? { x: place.x - left, y: place.y - top } : { x: free.width / 2, y: free.height / 2 };
    const sight = { picture: areaOf(scene), window: free, whole, anchor };
    const areas = wanted.map(one => titleOf(scene, one));
    return pan(settleOn(areas, pan(camera, -left, -top), sight, readable), left, top);
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

  private revealTitle(box: number): void {
    if (this.isOwn) {
      this.revealPart(box, TITLE.width, TITLE.height);
    }
  }

  /** Has the upper left part of a box in view, of at most that size. */
  private revealPart(box: number, most: number, mostHigh: number): boolean {
    const { scene, width, camera, held, free } = this;
    if (!scene || !width || box < 0) {
      return false;
    }
    const { layout } = scene;
    const [wide, tall] = [Math.min(layout.width[box], most), Math.min(layout.height[box], mostHigh)];
    const area = { x: layout.x[box], y: layout.y[box], width: wide, height: tall };
    const { left, top } = this.kept;
    const to = pan(reveal(pan(camera, -left, -top), area, free.width, free.height), left, top);
    if (Math.abs(to.x - camera.x) < 1e-6 && Math.abs(to.y - camera.y) < 1e-6) {
      return false;
    }
    this.go(to);
    this.held = held;
    return true;
  }

  private go(camera: Camera): void {
    const { scene, width, height } = this;
    this.camera = scene && width && height ? hold(camera, areaOf(scene), width, height) : camera;
    this.fitted = false;
    this.changed();
  }
}

function areaOf(scene: Scene): Rectangle {
  return { x: -MARGIN, y: -MARGIN, width: scene.width, height: scene.height };
}

/** The upper left part of a box, with what is written at its corner. */
function titleOf({ layout }: Scene, box: number): Rectangle {
  return {
    x: layout.x[box] - AROUND,
    y: layout.y[box] - AROUND,
    width: Math.min(layout.width[box], TITLE.width) + 2 * AROUND,
    height: Math.min(layout.height[box], TITLE.height) + 2 * AROUND
  };
}

/** How far most of the boxes that were there before have moved in the scene. */
function commonShift({ layout: was }: Scene, { layout: is }: Scene, from: Int32Array): { x: number; y: number } {
  const middle = ({ x, width }: Scene['layout'], box: number): number => x[box] + width[box] / 2;
  const known = [...from.keys()].filter(box => from[box] >= 0);
  return {
    x: commonest(known.map(box => middle(is, box) - middle(was, from[box]))),
    y: commonest(known.map(box => is.y[box] - was.y[from[box]]))
  };
}

/** The number that is there most often, to the px; of several, the one nearest to 0. */
function commonest(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) {
    const whole = Math.round(number);
    counts.set(whole, (counts.get(whole) ?? 0) + 1);
  }
  const [most = 0] = [...counts].sort(([a, m], [b, n]) => n - m || Math.abs(a) - Math.abs(b))[0] ?? [];
  return most;
}

/** What stays in place of a box that opens: the frame grows to both sides and down. */
function middleOfTop({ layout }: Scene, box: number): { x: number; y: number } {
  return { x: layout.x[box] + layout.width[box] / 2, y: layout.y[box] };
}
