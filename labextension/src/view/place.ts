/** From what is visible to what the layout works on: sizes of boxes, room for chips, what stands at the top or the bottom. */
import { NodeKind } from '../document/graph.ts';
import { Pin, type Layout, type LayoutInput } from '../layout/input.ts';
import { BOX_HEIGHT, boxWidth, chipsWidth, frameTitleWidth, type Measure } from './sizes.ts';
import { Shape, type VisibleGraph } from './visible.ts';

/** px between a phase and the one that mirrors it, for what stands on the cables. */
const CABLE_ROOM = 100;

/** What the layout is told beside the boxes themselves; see `LayoutInput`. */
export type Wishes = Pick<LayoutInput, 'aspect' | 'before' | 'stood'>;

/** px beside the title of a stack for the number of its copies. */
const BADGE_ROOM = 36;

export function toLayout(visible: VisibleGraph, measure: Measure, wishes: Wishes = {}): LayoutInput {
  const { graph, count, shape } = visible;
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  for (const [box, chips] of visible.chips) {
    const texts = (side: string) => chips.filter(chip => chip.side === side).map(chip => chip.text);
    left[box] = chipsWidth(measure, texts('left'));
    right[box] = chipsWidth(measure, texts('right'));
  }
  // Between a phase and the one that mirrors it, room for the words on what goes across.
  for (const [, mirror] of visible.beside) {
    left[mirror] += visible.cables.length ? CABLE_ROOM : 0;
  }
  const width = new Float64Array(count);
  const pin = new Uint8Array(count);
  for (let box = 0; box < count; box++) {
    const [label, detail] = [visible.label[box], visible.detail[box]];
    width[box] =
      shape[box] === Shape.frame
        ? frameTitleWidth(measure, label, detail) + (visible.times[box] > 1 ? BADGE_ROOM : 0)
        : boxWidth(measure, label, detail, visible.closed[box] === 1);
    const kind = graph.kind[visible.node[box]];
    const [first, last] = visible.upward[box] ? [Pin.bottom, Pin.top] : [Pin.top, Pin.bottom];
    pin[box] =
      visible.item[box] >= 0
        ? Pin.free
        : kind === NodeKind.argument
          ? first
          : kind === NodeKind.result
            ? last
            : Pin.free;
  }
  for (const box of visible.beside.flat()) {
    pin[box] = Pin.ordered;
  }
  // What runs upward is laid out downward from its end to its beginning.
  const turned = (edge: number): boolean =>
    visible.upward[visible.source[edge]] === 1 && visible.upward[visible.target[edge]] === 1;
  const ends = (here: Int32Array, there: Int32Array): Int32Array =>
    here.map((one, edge) => (turned(edge) ? there[edge] : one));
  const ties = tie(visible);
  return {
    parent: visible.parent,
    width,
    height: new Float64Array(count).fill(BOX_HEIGHT),
    left,
    right,
    group: Uint8Array.from(shape, one => (one === Shape.frame ? 1 : 0)),
    pin,
    source: Int32Array.from([...ends(visible.source, visible.target), ...ties.map(([from]) => from)]),
    target: Int32Array.from([...ends(visible.target, visible.source), ...ties.map(([, to]) => to)]),
    sourcePort: Int32Array.from([...ends(visible.sourcePort, visible.targetPort), ...ties.map(() => 0)]),
    targetPort: Int32Array.from([...ends(visible.targetPort, visible.sourcePort), ...ties.map(() => 0)]),
    ...(visible.beside.length ? { level: visible.twin } : {}),
    ...wishes
  };
}

/** Where each box stood in the picture before, as the layout wants it: `from` gives its box there, or -1. */
export function placesBefore(from: Int32Array, { x, width, row, column, shelf, above, below }: Layout): Wishes {
  const known = (places: Int32Array): Int32Array => from.map(box => (box < 0 ? -1 : places[box]));
  const pixels = (sizes: Float64Array): Float64Array => Float64Array.from(from, box => (box < 0 ? NaN : sizes[box]));
  return {
    before: Float64Array.from(from, box => (box < 0 ? NaN : x[box] + width[box] / 2)),
    stood: {
      width: pixels(width),
      above: pixels(above),
      below: pixels(below),
      row: known(row),
      column: known(column),
      shelf: known(shelf)
    }
  };
}

/**
 * The same places but for those of the program's results: these are words at the ends of lines, and stand where the lines
 * come out, which may be elsewhere in another state of the program.
 */
export function withoutResults({ graph, node, parent }: VisibleGraph, { before, ...others }: Wishes): Wishes {
  const isResult = (box: number): boolean => parent[box] < 0 && graph.kind[node[box]] === NodeKind.result;
  return { ...others, before: before?.map((x, box) => (isResult(box) ? NaN : x)) };
}

/**
 * Edges that are not drawn, after those that are: what comes before one of two frames that stand side by side comes
 * before the other too, so that both find their place in the same row.
 */
function tie({ beside, source, target, parent }: VisibleGraph): [number, number][] {
  const ties: [number, number][] = [];
  const inside = (frame: number, box: number): boolean => {
    let at = box;
    while (at > frame) {
      at = parent[at];
    }
    return at === frame;
  };
  for (const [left, right] of beside) {
    const before = new Set<number>();
    for (let edge = 0; edge < source.length; edge++) {
      const [from, to] = [source[edge], target[edge]];
      if ((inside(left, to) || inside(right, to)) && !inside(left, from) && !inside(right, from)) {
        before.add(from);
      }
    }
    for (const frame of [left, right]) {
      ties.push(...[...before].map((box): [number, number] => [box, frame]));
    }
  }
  return ties;
}
