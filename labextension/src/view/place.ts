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
    pin[box] = kind === NodeKind.argument ? Pin.top : kind === NodeKind.result ? Pin.bottom : Pin.free;
  }
  return {
    parent: visible.parent,
    width,
    height: new Float64Array(count).fill(BOX_HEIGHT),
    left,
    right,
    group: Uint8Array.from(shape, one => (one === Shape.frame ? 1 : 0)),
    pin,
    source: visible.source,
    target: visible.target,
    sourcePort: visible.sourcePort,
    targetPort: visible.targetPort
  };
}
