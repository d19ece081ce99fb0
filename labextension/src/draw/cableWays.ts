/**
 * The way of a cable around the boxes between its ends: out of its row where a box stands there, into the free height
 * between two rows, and across to the other side only where no box is in the way.
 */
import type { Ends, Solid } from './cablePlaces.ts';

/** From the middle of a row to the middle of the free height below or above it. */
const LANE = 17;
/** px between a cable and a box that it passes. */
const CLEAR = 3;
/** px in which a cable leaves its row. */
const TURN = 12;
/** A cable that cannot be laid around everything after so many tries goes straight. */
const TRIES = 12;
/** px from one place to the next at which boxes are looked for. */
const SAMPLE = 4;
const MOST_SAMPLES = 400;
/** Less than `CLEAR`, so that a way that keeps clear of a box does not hit it. */
const SLACK = 2;

interface Obstacles {
  readonly boxes: readonly Solid[];
  readonly source: number;
  readonly target: number;
}

/** Points of the way, x, y, ...: from each to the next it runs as `bend` says. `gap` parts the two sides. */
export function wayAround(
  { x1, y1, x2, y2 }: Ends,
  gap: number,
  boxes: readonly Solid[],
  { source, target }: { readonly source: number; readonly target: number }
): number[] {
  const straight = [x1, y1, x2, y2];
  if (x1 >= gap || x2 <= gap) {
    return straight;
  }
  const obstacles = { boxes, source, target };
  const out = leave(x1, y1, gap, y2, obstacles, 1);
  const into = leave(x2, y2, gap, y1, obstacles, -1);
  const [fromY, toY] = [out[out.length - 1], into[into.length - 1]];
  let [fromX, toX] = [out[out.length - 2], into[into.length - 2]];
  for (let tries = 0; tries < TRIES; tries++) {
    const hit = firstHit(fromX, fromY, toX, toY, obstacles);
    if (!hit) {
      return [...extended(out, fromX, fromY), ...reversed(extended(into, toX, toY))];
    }
    if ((hit.left + hit.right) / 2 < gap) {
      fromX = hit.right + CLEAR;
    } else {
      toX = hit.left - CLEAR;
    }
    if (fromX >= gap || toX <= gap) {
      break;
    }
  }
  return straight;
}

/** Out of a row to the point from which the other side can be reached; `way` is 1 to the right, -1 to the left. */
function leave(x: number, y: number, gap: number, otherY: number, obstacles: Obstacles, way: 1 | -1): number[] {
  const beside = between(x, gap, y, obstacles);
  if (!beside.length) {
    return [x, y];
  }
  const near = way > 0 ? Math.min(...beside.map(box => box.left)) : Math.max(...beside.map(box => box.right));
  const far = way > 0 ? Math.max(...beside.map(box => box.right)) : Math.min(...beside.map(box => box.left));
  const turn = x + way * Math.min(TURN, Math.abs(near - x));
  const towards = otherY < y ? -1 : 1;
  for (const lane of [y + towards * LANE, y - towards * LANE]) {
    if (!between(turn, far + way * TURN, lane, obstacles).length) {
      return [x, y, turn, lane, far + way * CLEAR, lane];
    }
  }
  return [x, y];
}

/** Boxes that a level line from one place to another touches. */
function between(fromX: number, toX: number, y: number, { boxes, source, target }: Obstacles): Solid[] {
  const [left, right] = [Math.min(fromX, toX), Math.max(fromX, toX)];
  return boxes.filter(
    other =>
      other.box !== source &&
      other.box !== target &&
      other.left < right &&
      other.right > left &&
      other.top - CLEAR < y &&
      other.bottom + CLEAR > y
  );
}

/** The first box on a bent line. */
function firstHit(x1: number, y1: number, x2: number, y2: number, { boxes, source, target }: Obstacles): Solid | null {
  const samples = Math.min(MOST_SAMPLES, Math.ceil(Math.abs(x2 - x1) / SAMPLE));
  for (let sample = 0; sample <= samples; sample++) {
    const x = x1 + ((x2 - x1) * sample) / Math.max(1, samples);
    const y = bend(x1, y1, x2, y2, x);
    const hit = boxes.find(
      other =>
        other.box !== source &&
        other.box !== target &&
        other.left - SLACK < x &&
        other.right + SLACK > x &&
        other.top - SLACK < y &&
        other.bottom + SLACK > y
    );
    if (hit) {
      return hit;
    }
  }
  return null;
}

function extended(points: readonly number[], x: number, y: number): number[] {
  return points.at(-2) === x ? [...points] : [...points, x, y];
}

function reversed(points: readonly number[]): number[] {
  const found: number[] = [];
  for (let i = points.length - 2; i >= 0; i -= 2) {
    found.push(points[i], points[i + 1]);
  }
  return found;
}

/** The height at `x` of the curve between two points that leaves and arrives level: a Bézier curve, solved by halving. */
export function bend(x1: number, y1: number, x2: number, y2: number, x: number): number {
  if (y1 === y2 || x1 === x2) {
    return y1;
  }
  const share = Math.min(1, Math.max(0, (x - x1) / (x2 - x1)));
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const t = (low + high) / 2;
    const at = 1.5 * (1 - t) * (1 - t) * t + 1.5 * (1 - t) * t * t + t * t * t;
    if (at < share) {
      low = t;
    } else {
      high = t;
    }
  }
  const t = (low + high) / 2;
  return y1 + (y2 - y1) * (3 * (1 - t) * t * t + t * t * t);
}
