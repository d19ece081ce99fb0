/**
 * What a pointer that rests on a box is told: its whole name, which may be cut on the box, its type, its chips, and the
 * kernel that it runs in while kernels are shown, with the bytes that have no room in the picture.
 */
import { stubCables } from '../../draw/cables.ts';
import type { Scene } from '../../draw/scene.ts';

/** The words for a box; empty for none. */
export function wordsFor(scene: Scene, box: number): string {
  if (box < 0) {
    return '';
  }
  const { visible } = scene;
  const name = visible.whole.get(box) ?? visible.label[box];
  const head = [name, visible.detail[box]].filter(Boolean).join('  ');
  const chips = (visible.chips.get(box) ?? []).map(({ title }) => title);
  const kernels = scene.hulls
    .filter(({ boxes }) => boxes.includes(box))
    .map(({ label, note }) => (note ? `kernel ${label}: ${note}` : `kernel ${label}`));
  return [head, ...chips, ...kernels].join('\n');
}

/** True where the picture looks different while the pointer is on a box. */
export function showsMore(scene: Scene, box: number): boolean {
  return stubCables(scene, box).length > 0;
}
