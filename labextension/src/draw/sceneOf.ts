/** The scene of a sketch with some rows open, for tests. */
import { decodePlain } from '../document/decode.ts';
import type { Sketch } from '../document/sketch.ts';
import { layout } from '../layout/layout.ts';
import { toLayout } from '../view/place.ts';
import { show } from '../view/view.ts';
import { makeScene, type Scene } from './scene.ts';
import { measure } from './text.ts';

export function sceneOf(sketch: Sketch, open: readonly number[] = []): Scene {
  const document = decodePlain(sketch.plain());
  const visible = show(document, document.graphs[0], { open: new Set(open) });
  return makeScene(visible, layout(toLayout(visible, measure)));
}
