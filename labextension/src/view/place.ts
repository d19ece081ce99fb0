/** From what is visible to what the layout works on: sizes of boxes, room for chips, what stands at the top or the bottom. */
import { NodeKind } from '../document/graph.ts';
import { Pin, type LayoutInput } from '../layout/input.ts';
import { BOX_HEIGHT, boxWidth, chipsWidth, frameTitleWidth, type Measure } from './sizes.ts';
import { Shape, type VisibleGraph } from './visible.ts';

export function toLayout(visible: VisibleGraph, measure: Measure): LayoutInput {
  const { graph, count, shape } = visible;
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  for (const [box, chips] of visible.chips) {
    const texts = (side: string) => chips.filter(chip => chip.side === side).map(chip => chip.text);
    left[box] = chipsWidth(measure, texts('left'));
    right[box] = chipsWidth(measure, texts('right'));
  }
  const width = new Float64Array(count);
  const pin = new Uint8Array(count);
  for (let box = 0; box < count; box++) {
    const [label, detail] = [visible.label[box], visible.detail[box]];
    width[box] =
      shape[box] === Shape.frame
        ? frameTitleWidth(measure, label, detail)
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
  // What runs upward is laid out downward from its end to its beginning.
  const turned = (edge: number): boolean =>
    visible.upward[visible.source[edge]] === 1 && visible.upward[visible.target[edge]] === 1;
  const ends = (here: Int32Array, there: Int32Array): Int32Array =>
    here.map((one, edge) => (turned(edge) ? there[edge] : one));
  return {
    parent: visible.parent,
    width,
    height: new Float64Array(count).fill(BOX_HEIGHT),
    left,
    right,
    group: Uint8Array.from(shape, one => (one === Shape.frame ? 1 : 0)),
    pin,
    source: ends(visible.source, visible.target),
    target: ends(visible.target, visible.source),
    sourcePort: ends(visible.sourcePort, visible.targetPort),
    targetPort: ends(visible.targetPort, visible.sourcePort)
  };
}
