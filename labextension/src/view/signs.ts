/** Signs on chips of operations that give something else when their two operands are exchanged. */
import type { Document, Graph } from '../document/graph.ts';
import { attribute } from './label.ts';
import type { Chip } from './visible.ts';

/** As Python writes them, by what a jaxpr, StableHLO and HLO call the operation. */
const SIGNS = new Map([
  ['sub', '−'],
  ['subtract', '−'],
  ['div', '/'],
  ['divide', '/'],
  ['pow', '**'],
  ['power', '**'],
  ['rem', '%'],
  ['remainder', '%'],
  ['lt', '<'],
  ['le', '≤'],
  ['gt', '>'],
  ['ge', '≥']
]);

/** The sign between the two operands of a node; empty where the order of its operands says nothing. */
export function signOf(document: Document, graph: Graph, node: number): string {
  if (graph.firstOperand[node + 1] - graph.firstOperand[node] !== 2) {
    return '';
  }
  const op = document.strings[graph.op[node]];
  if (op !== 'compare') {
    return SIGNS.get(op) ?? '';
  }
  const direction =
    attribute(document, graph, node, 'direction') ?? attribute(document, graph, node, 'comparison_direction');
  return SIGNS.get(direction?.toLowerCase() ?? '') ?? '';
}

/** What is read as one operand of two: with the sign after the first, unless the second says it, and before the second. */
export function withSign(chip: Chip, sign: string, isFirst: boolean, secondToo: boolean): Chip {
  const text = isFirst ? (secondToo ? chip.text : `${chip.text} ${sign}`) : `${sign} ${chip.text}`;
  return { ...chip, text, title: `${isFirst ? 'first' : 'second'} operand: ${chip.title}` };
}
