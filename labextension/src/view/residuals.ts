/** Which values a way back has kept for it: what goes across may also be a number, or an argument in another shape. */
import { BindingKind, type Document, type Graph } from '../document/graph.ts';
import { bordersOf } from './borders.ts';

/** Borders that a value is followed over. */
const MOST_BORDERS = 40;
/** What the regions of loops are: a turn of one gives a part of what is kept. */
const LOOP = /while|^scan$/;

/** Of values that go across, those that are kept, each once and where it is made; all where the document does not say it. */
export function keptOf(document: Document, graph: Graph): (values: Iterable<number>) => number[] {
  const said = document.residuals.find(one => document.graphs[one.graph] === graph);
  const makers = said && new Set(said.node);
  return values =>
    [...new Set([...values].map(value => madeAs(document, graph, value)))].filter(
      value => value >= 0 && (!makers || makers.has(graph.valueNode[value]))
    );
}

/** Of what several cables carry, the values that each counts, and how many it has that one before it counts. */
export function tallied<Carrier extends { readonly values: Iterable<number> }>(
  keptAmong: (values: Iterable<number>) => number[],
  cables: readonly Carrier[]
): Map<Carrier, { readonly kept: readonly number[]; readonly shared: number }> {
  const counted = new Set<number>();
  return new Map(
    cables.map(cable => {
      const all = keptAmong(cable.values);
      const kept = all.filter(value => !counted.has(value));
      kept.forEach(value => counted.add(value));
      return [cable, { kept, shared: all.length - kept.length }];
    })
  );
}

/** A value outside the bodies that it was handed into, and inside the call that gave it; -1 where that is a literal. */
function madeAs({ strings }: Document, graph: Graph, value: number): number {
  const borders = bordersOf(graph);
  for (let step = 0; step < MOST_BORDERS && value >= 0; step++) {
    const maker = graph.valueNode[value];
    const [leaving, ...branches] = borders.outOf.get(value) ?? [];
    if (borders.passes(maker)) {
      value = graph.bindingFrom[borders.into[maker]];
    } else if (leaving !== undefined && !branches.length && graph.bindingKind[leaving] === BindingKind.leave) {
      const result = graph.bindingFrom[leaving];
      if (LOOP.test(strings[graph.regionKind[graph.region[result]]])) {
        return value;
      }
      value = graph.operandSource[graph.firstOperand[result]];
    } else {
      return value;
    }
  }
  return value;
}
