/**
 * Edges that are too long to be drawn among the boxes: only their ends are, and the whole way when one of the boxes that
 * it joins is selected.
 */
import { routeOf, type Painter, type Scene } from './scene.ts';

/** px of an edge that are drawn at each end. */
const STUB = 8;

/** Paints the ends. Several edges at one side of a box share one. */
export function paintStubs(painter: Painter, scene: Scene, drawn: (box: number) => boolean = () => true): void {
  const { visible } = scene;
  const leaving = new Set<number>();
  const coming = new Set<number>();
  for (let edge = 0; edge < visible.source.length; edge++) {
    if (isStub(scene, edge)) {
      leaving.add(visible.source[edge]);
      coming.add(visible.target[edge]);
    }
  }
  for (const box of leaving) {
    if (drawn(box)) {
      const [x, y] = lowerEnd(scene, box);
      painter.route('stub', Float64Array.of(x, y, x, y + STUB));
    }
  }
  for (const box of coming) {
    if (drawn(box)) {
      const [x, y] = upperEnd(scene, box);
      painter.route('stub', Float64Array.of(x, y - STUB, x, y));
    }
  }
}

/** The way of an edge: its route, or a straight curve from box to box for one of which only the ends are drawn. */
export function wayOf(scene: Scene, edge: number): Float64Array {
  const { visible } = scene;
  return isStub(scene, edge)
    ? Float64Array.of(...lowerEnd(scene, visible.source[edge]), ...upperEnd(scene, visible.target[edge]))
    : routeOf(scene.layout, edge);
}

function isStub({ visible, layout }: Scene, edge: number): boolean {
  return layout.routeStart[edge] === layout.routeStart[edge + 1] && visible.source[edge] !== visible.target[edge];
}

function lowerEnd({ layout }: Scene, box: number): [number, number] {
  return [Math.round(layout.x[box] + 0.75 * layout.width[box]), layout.y[box] + layout.height[box]];
}

function upperEnd({ layout }: Scene, box: number): [number, number] {
  return [Math.round(layout.x[box] + 0.75 * layout.width[box]), layout.y[box]];
}
