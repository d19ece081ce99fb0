/** Where the arrow keys lead: up and down along edges, left and right along the row. */
import type { Scene } from '../../draw/scene.ts';

export type Direction = 'up' | 'down' | 'left' | 'right';

/** The box that an arrow key leads to from `box`, or -1 where there is none. Without a box, the first one. */
export function walk(scene: Scene, box: number, direction: Direction): number {
  const { visible, layout } = scene;
  if (visible.count === 0) {
    return -1;
  }
  if (box < 0) {
    return 0;
  }
  const middle = (one: number): number => layout.x[one] + layout.width[one] / 2;
  const nearest = (boxes: readonly number[], distance: (one: number) => number): number =>
    boxes.reduce((best, one) => (best < 0 || distance(one) < distance(best) ? one : best), -1);
  const sideways = (one: number): number => Math.abs(middle(one) - middle(box));
  if (direction === 'up' || direction === 'down') {
    const [here, there] = direction === 'up' ? [visible.target, visible.source] : [visible.source, visible.target];
    const joined: number[] = [];
    here.forEach((one, edge) => {
      if (one === box) {
        joined.push(there[edge]);
      }
    });
    if (joined.length) {
      return nearest(joined, sideways);
    }
    // A frame leads to what stands in it, a box without edges to the frame around it.
    return direction === 'down' ? visible.parent.indexOf(box) : visible.parent[box];
  }
  const sign = direction === 'left' ? -1 : 1;
  const others: number[] = [];
  for (let one = 0; one < visible.count; one++) {
    if (visible.parent[one] === visible.parent[box] && sign * (middle(one) - middle(box)) > 0.5) {
      others.push(one);
    }
  }
  // Rows matter more than distance: what stands beside is what the eye expects.
  return nearest(others, one => sideways(one) + 6 * Math.abs(layout.y[one] - layout.y[box]));
}
