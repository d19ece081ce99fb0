import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MARGIN, type Scene } from '../../draw/scene.ts';
import { settle } from './camera.ts';
import { Viewpoint } from './viewpoint.ts';

/** A scene of boxes of 100 by 20 px at the given places. */
function sceneOf(width: number, height: number, places: readonly (readonly [number, number])[]): Scene {
  const layout = {
    x: Float64Array.from(places, ([x]) => x),
    y: Float64Array.from(places, ([, y]) => y),
    width: new Float64Array(places.length).fill(100),
    height: new Float64Array(places.length).fill(20)
  };
  return { width, height, layout, visible: { shape: new Uint8Array(places.length) } } as unknown as Scene;
}

/** A viewpoint of `scene` in a space of 800 by 400 px. */
function viewOf(scene: Scene): Viewpoint {
  const view = new Viewpoint(() => undefined);
  view.scene = scene;
  view.cover = { ...view.cover, top: 0 };
  view.resize(800, 400, -1);
  return view;
}

/** What of the scene is seen beside what covers it, in px of the scene. */
function seen({ camera, width, height, cover }: Viewpoint): Record<'left' | 'right' | 'top' | 'bottom', number> {
  const { x, y, scale } = camera;
  return {
    left: x + cover.left / scale,
    right: x + (width - cover.right) / scale,
    top: y + cover.top / scale,
    bottom: y + height / scale
  };
}

test('what comes over a picture that nobody has moved is made room for, and all of it is seen', () => {
  const view = viewOf(
    sceneOf(780, 380, [
      [0, 0],
      [650, 300]
    ])
  );
  view.fitted = false; // a box was selected
  view.setCover(0, 250);
  view.cover = { ...view.cover, top: 30 };
  const to = view.settled(0);
  assert.ok(to);
  view.settle(to, 0);
  const { left, right, top, bottom } = seen(view);
  assert.ok(left <= -MARGIN + 1e-6 && right >= 780 - MARGIN - 1e-6, `${left} ${right}`);
  assert.ok(top <= -MARGIN + 1e-6 && bottom >= 380 - MARGIN - 1e-6, `${top} ${bottom}`);
  assert.equal(view.settled(0), null, 'it is at rest there');
  assert.equal(view.isOwn, false);
  view.setCover(0, 0);
  view.cover = { ...view.cover, top: 0 };
  const back = view.settled(-1);
  assert.ok(back?.fits);
  assert.equal(back.camera.scale, 1);
});

test('a small picture stays where it is while something is selected', () => {
  const view = viewOf(sceneOf(200, 200, [[40, 40]]));
  view.fitted = false;
  view.setCover(0, 250);
  assert.equal(view.settled(0), null);
});

test('what is seen whole is so in less room, though a box is selected, while its names can be made out', () => {
  const view = viewOf(sceneOf(700, 380, [[0, 0]]));
  view.fitted = false;
  const whole = (): boolean => {
    const { left, right } = seen(view);
    return left <= -MARGIN + 1e-6 && right >= 700 - MARGIN - 1e-6;
  };
  assert.ok(whole());
  view.resize(400, 400, 0);
  assert.ok(whole() && view.camera.scale < 0.66, String(view.camera.scale));
  view.resize(300, 400, 0);
  assert.ok(!whole());
  // What was seen in part is not made small for it.
  const part = viewOf(sceneOf(2000, 380, [[0, 0]]));
  part.fitted = false;
  part.camera = { x: 0, y: 0, scale: 1 };
  part.resize(700, 400, 0);
  assert.equal(part.camera.scale, 1);
});

test('a picture that the person has moved stays, whatever comes over it', () => {
  const view = viewOf(sceneOf(780, 380, [[0, 0]]));
  view.move({ x: 30, y: 10, scale: 1.2 });
  view.setCover(0, 250);
  assert.equal(view.settled(0), null);
  view.resize(500, 300, 0);
  assert.deepEqual(view.camera, { x: 30, y: 10, scale: 1.2 });
  assert.ok(view.isOwn);
});

test('a camera that nobody had moved settles anew in another room, from where it stood', () => {
  const scene = sceneOf(780, 380, [[300, 100]]);
  const view = viewOf(scene);
  view.settleFrom({ x: -14, y: -198, scale: 0.5 }, 0);
  assert.equal(view.camera.scale, 1);
  const { left, right } = seen(view);
  assert.ok(left <= -MARGIN + 1e-6 && right >= 780 - MARGIN - 1e-6, `${left} ${right}`);
  // What was shown in part, because it could not be read otherwise, is so again.
  const part = viewOf(sceneOf(4000, 3000, [[2000, 1500]]));
  part.settleFrom({ x: 1900, y: 1400, scale: 1 }, 0);
  assert.deepEqual(part.camera, { x: 1900, y: 1400, scale: 1 });
});

test('where the next picture is another, all of it is seen, though a box is selected', () => {
  const before = sceneOf(700, 380, [[500, 100]]);
  const view = viewOf(before);
  view.fitted = false;
  const after = (view.scene = sceneOf(900, 380, [[20, 100]]));
  view.goOn(before, Int32Array.of(0), 0);
  const { left, right } = seen(view);
  assert.ok(left <= -MARGIN + 1e-6 && right >= after.width - MARGIN - 1e-6, `${left} ${right}`);
});

test('what would be too small to be read is shown in part, with what was opened where it was', () => {
  const before = sceneOf(700, 380, [[300, 100]]);
  const view = viewOf(before);
  view.fitted = false;
  const was = view.locate(0);
  view.scene = sceneOf(4000, 3000, [[2000, 1500]]);
  view.goOn(before, Int32Array.of(0), 0);
  assert.equal(view.camera.scale, 1);
  assert.deepEqual(view.locate(0), was);
  assert.ok(view.isOwn);
});

test('what is marked is in view, though a box is selected and all of the picture is too large to be read', () => {
  const beside = sceneOf(700, 380, [[100, 100]]);
  const marked = (width: number, ...at: number[]): Viewpoint => {
    const view = viewOf(beside);
    view.fitted = false;
    view.scene = sceneOf(width, 380, [[100, 100], ...at.map(x => [x, 200] as const)]);
    view.goOn(
      beside,
      Int32Array.of(0, ...at.map(() => -1)),
      0,
      Array.from(at.keys(), box => box + 1)
    );
    return view;
  };
  const has = (view: Viewpoint, x: number): boolean => seen(view).left <= x && seen(view).right >= x + 100;
  // Marks can be told at a scale that is too small for words.
  const whole = marked(1500, 1300);
  assert.ok(has(whole, 100) && has(whole, 1300));
  assert.ok(has(marked(6000, 5000), 5000));
  assert.equal(marked(6000, 5000).camera.scale, 1);
  const both = marked(6000, 4000, 5000);
  assert.ok(has(both, 4000) && has(both, 5000) && both.camera.scale >= 0.5);
  // Of what is far apart, the first is seen.
  assert.ok(has(marked(6000, 2000, 5900), 2000));
  // What is in view already moves nothing.
  assert.deepEqual(marked(6000, 300).locate(0), marked(6000).locate(0));
});

test('whoever goes to boxes of a picture that is too small to be read comes near them', () => {
  const from = (width: number, ...at: number[]): Viewpoint => {
    const view = viewOf(
      sceneOf(
        width,
        380,
        at.map(x => [x, 200] as const)
      )
    );
    view.setCover(0, 250);
    view.fit();
    return view;
  };
  const sees = ({ camera }: Viewpoint, x: number): boolean => camera.x <= x && camera.x + 550 / camera.scale >= x + 100;
  const far = from(40_000, 30_000);
  assert.ok(far.camera.scale < 0.02);
  assert.equal(far.comeTo([0]), true);
  assert.ok(far.camera.scale > 0.6 && sees(far, 30_000));
  // It stays there when the details come.
  assert.equal(far.settled(0), null);
  assert.equal(far.comeTo([0]), false);
  // Several are seen together as far as they can be read together.
  const close = from(40_000, 30_000, 30_700);
  close.comeTo([0, 1]);
  assert.ok(close.camera.scale >= 0.5 && sees(close, 30_000) && sees(close, 30_700));
  const apart = from(40_000, 30_000, 36_000);
  apart.comeTo([0, 1]);
  assert.ok(apart.camera.scale > 0.6 && sees(apart, 30_000));
  // What can be read is brought into view as it is.
  const near = from(800, 300);
  const { scale } = near.camera;
  near.comeTo([0]);
  assert.equal(near.camera.scale, scale);
});

test('less space while something is selected shows all in it', () => {
  const view = viewOf(sceneOf(700, 400, [[0, 300]]));
  view.fitted = false;
  view.resize(800, 360, 0);
  assert.ok(seen(view).bottom >= 400 - MARGIN - 1e-6);
  // While a second click may come, nothing moves.
  const { camera } = view;
  view.resize(800, 300, null);
  assert.equal(view.camera, camera);
});

test('a settled camera leaves no room empty while something is cut, and moves no further once it is there', () => {
  const size = fc.integer({ min: 40, max: 5000 });
  const place = fc.integer({ min: -6000, max: 6000 });
  const scale = fc.double({ min: 0.05, max: 1, noNaN: true });
  fc.assert(
    fc.property(place, place, scale, size, size, size, size, (x, y, at, width, height, wide, high) => {
      const picture = { x: -MARGIN, y: -MARGIN, width, height };
      const window = { width: wide, height: high };
      const whole = Math.min(1, wide / width, high / height);
      const anchor = { x: wide / 2, y: high / 2 };
      const camera = settle({ x, y, scale: at }, { picture, window, whole, anchor });
      for (const [from, start, length, space] of [
        [camera.x, picture.x, width, wide / camera.scale],
        [camera.y, picture.y, height, high / camera.scale]
      ]) {
        const cut = from > start + 1e-6 || from + space < start + length - 1e-6;
        const empty = from < start - 1e-6 || from + space > start + length + 1e-6;
        assert.ok(!(cut && empty));
      }
      const again = settle(camera, { picture, window, whole, anchor });
      assert.ok(Math.hypot(again.x - camera.x, again.y - camera.y) < 1e-6 && again.scale === camera.scale);
    })
  );
});

test('a picture that is covered nearly whole from above is fitted to all of its height', () => {
  const view = viewOf(sceneOf(780, 380, [[0, 0]]));
  view.cover = { left: 0, right: 0, top: 420 };
  view.fit();
  assert.ok(view.camera.scale > 0.9, String(view.camera.scale));
});

test('what a step leaves alone stays where it is on the screen, where all is in view with it', () => {
  const before = sceneOf(500, 240, [
    [0, 0],
    [200, 100],
    [400, 200]
  ]);
  const view = viewOf(before);
  const places = [0, 1, 2].map(box => view.locate(box));
  const after = sceneOf(560, 240, [
    [60, 0],
    [260, 100],
    [460, 200],
    [0, 100]
  ]);
  step(view, before, after, [0, 1, 2, -1]);
  assert.deepEqual(
    [0, 1, 2].map(box => view.locate(box)),
    places
  );
  assert.equal(view.settled(-1), null, 'it is at rest there');
  assert.equal(view.isOwn, false, 'nobody has moved it');
  // What does not fit in any more is seen all the same.
  const large = sceneOf(1600, 240, [[1500, 0]]);
  step(view, after, large, [0]);
  assert.equal(view.camera.scale, 0.5);
  // Nothing stays small for good.
  step(view, large, before, [0, -1, -1]);
  assert.equal(view.camera.scale, 1);
});

/** Goes on to the state after, as a picture does. */
function step(view: Viewpoint, before: Scene, after: Scene, from: readonly number[]): void {
  view.scene = after;
  view.goOn(before, Int32Array.from(from), -1, [], true);
  view.resize(800, 400, -1);
}
