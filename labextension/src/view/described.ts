/** What a picture shows in words, for whoever cannot see it: its boxes by their names, frames with what is in them. */
import { NodeKind } from '../document/graph.ts';
import type { VisibleGraph } from './visible.ts';

/** Characters after which nobody listens. */
const MOST = 600;

/** The same of a picture of a stage, such as `jaxpr`. */
export function described(kind: string, visible: VisibleGraph): string {
  const operations = visible.graph.kind.reduce((sum, one) => sum + (one === NodeKind.operation ? 1 : 0), 0);
  const inside = new Map<number, number[]>();
  visible.parent.forEach((parent, box) => {
    inside.set(parent, [...(inside.get(parent) ?? []), box]);
  });
  const names = (boxes: readonly number[]): string => boxes.map(named).join(', ');
  const named = (box: number): string => {
    const name = visible.whole.get(box) ?? visible.label[box];
    const times = visible.times[box] > 1 && !visible.spread[box] ? ` x${visible.times[box]}` : '';
    const inner = inside.get(box);
    return `${name}${times}${inner ? ` (${names(inner)})` : ''}`;
  };
  return cut(`${kind} with ${operations} operations: ${names(inside.get(-1) ?? [])}`);
}

function cut(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, text.lastIndexOf(', ', MOST))}, …`;
}
