/** What a pointer that rests on a box is told: its whole name, which may be cut on the box, its type and its chips. */
import { stubCables } from '../draw/cables.ts';
import type { Scene } from '../draw/scene.ts';

/** The words for a box; empty for none. */
export function wordsFor(scene: Scene, box: number): string {
  if (box < 0) {
    return '';
  }
  const { visible } = scene;
  const name = visible.whole.get(box) ?? visible.label[box];
  const head = [name, visible.detail[box]].filter(Boolean).join('  ');
  return [head, ...(visible.chips.get(box) ?? []).map(({ title }) => title)].join('\n');
}

/** True where the picture looks different while the pointer is on a box. */
export function showsMore(scene: Scene, box: number): boolean {
  return stubCables(scene, box).length > 0;
}
