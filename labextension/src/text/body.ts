/** The bodies of a graph in the order in which they are written: what stands in a region itself, and what in its regions. */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { firstAttribute, VARIABLE } from '../view/label.ts';

/** What stands in a region itself, in the order of the program. */
export interface Body {
  readonly constants: readonly number[];
  readonly parameters: readonly number[];
  readonly operations: readonly number[];
  readonly results: readonly number[];
}

/** The nodes of a region without those of the regions in it. `asOperations`: constants stand where they are made. */
export function bodyOf(graph: Graph, region: number, asOperations = false): Body {
  const constants: number[] = [];
  const parameters: number[] = [];
  const operations: number[] = [];
  const results: number[] = [];
  const lists = [operations, parameters, results, asOperations ? operations : constants];
  for (let node = graph.regionStart[region]; node < graph.regionEnd[region]; node = behind(graph, node)) {
    lists[graph.kind[node]].push(node);
  }
  return { constants, parameters, operations, results };
}

/** The node after one and all that is in its regions. */
function behind(graph: Graph, node: number): number {
  const last = graph.firstRegion[node + 1] - 1;
  return last >= graph.firstRegion[node] ? graph.regionEnd[graph.ownedRegions[last]] : node + 1;
}

export function regionsOf(graph: Graph, node: number): Int32Array {
  return graph.ownedRegions.subarray(graph.firstRegion[node], graph.firstRegion[node + 1]);
}

/** The values that a node makes. */
export function valuesOf(graph: Graph, node: number): number[] {
  const first = graph.firstValue[node];
  return Array.from({ length: graph.firstValue[node + 1] - first }, (_, index) => first + index);
}

/** What a node reads: values, and literals as -1 - i. */
export function operandsOf(graph: Graph, node: number): Int32Array {
  return graph.operandSource.subarray(graph.firstOperand[node], graph.firstOperand[node + 1]);
}

/** The attributes of a node, by key and value. */
export function attributesOf({ strings }: Document, graph: Graph, node: number): [string, string][] {
  const { attributeNode, attributeKey, attributeValue } = graph;
  const found: [string, string][] = [];
  for (let i = firstAttribute(graph, node); i < attributeNode.length && attributeNode[i] === node; i++) {
    const key = strings[attributeKey[i]];
    if (key !== VARIABLE) {
      found.push([key, strings[attributeValue[i]]]);
    }
  }
  return found;
}

export function isOperation(graph: Graph, node: number): boolean {
  return graph.kind[node] === NodeKind.operation;
}
