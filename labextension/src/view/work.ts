/**
 * How much operations do, roughly: what is open at first is chosen by that. A product of matrices tells more of a program
 * than a sum of two numbers, and what a loop does in each turn more than what is done once beside it.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { LOOPS } from './control.ts';
import { families, family } from './family.ts';

/** The elements of a result count by their logarithm: by their number, all but the largest would be nothing. */
const workOn = (elements: number): number => Math.log2(1 + elements);
/** A product of matrices counts as so many other operations. */
const PRODUCT = 2;
/** How often a loop turns is not known of all: each counts as if it did so often. */
const TURNS = 8;

/** Of each node by itself; 0 for what is no operation. */
export function workOf(document: Document, graph: Graph): Float64Array {
  const turns = turnsOf(document, graph);
  const [share, elements] = [shareOf(document), elementsOf(document)];
  const work = new Float64Array(graph.nodeCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    if (graph.kind[node] === NodeKind.operation) {
      const value = graph.firstValue[node];
      const made = value < graph.firstValue[node + 1] ? elements[graph.valueType[value]] : 1;
      work[node] = share[graph.op[node]] * workOn(Math.max(1, made) * turns[graph.region[node]]);
    }
  }
  return work;
}

/** How often what is in each region is done. */
function turnsOf({ strings }: Document, { op, region, regionOwner }: Graph): Float64Array {
  const turns = new Float64Array(regionOwner.length).fill(1);
  for (let inner = 1; inner < turns.length; inner++) {
    const owner = regionOwner[inner];
    turns[inner] = turns[region[owner]] * (LOOPS.has(strings[op[owner]]) ? TURNS : 1);
  }
  return turns;
}

/** As how many operations each counts, by its name. */
function shareOf({ strings }: Document): number[] {
  return strings.map(op => (families[family(op)].key === 'matmul' ? PRODUCT : 1));
}

/** How many elements are in what is of each type. */
function elementsOf({ types: { firstDim, dims } }: Document): Float64Array {
  const elements = new Float64Array(Math.max(0, firstDim.length - 1)).fill(1);
  for (let type = 0; type < elements.length; type++) {
    for (let dim = firstDim[type]; dim < firstDim[type + 1]; dim++) {
      elements[type] *= dims[dim];
    }
  }
  return elements;
}
