/** From the columns of a file to a graph or an outline with typed arrays, and with what follows from them. */
import type { Graph, Outline } from './graph.ts';
import type { Graph as PlainGraph, Outline as PlainOutline } from './schema.generated.ts';

export function buildGraph(plain: PlainGraph): Graph {
  const { nodes, values, operands, literals, regions, bindings, attributes } = plain;
  const nodeCount = nodes.kind.length;
  const firstValue = offsets(nodes.outputs);
  const region = Int32Array.from(nodes.region);
  const regionOwner = Int32Array.from(regions.owner);
  return {
    nodeCount,
    kind: Uint8Array.from(nodes.kind),
    op: Int32Array.from(nodes.op),
    name: Int32Array.from(nodes.name),
    region,
    stack: Int32Array.from(nodes.stack),
    scope: Int32Array.from(nodes.scope),
    firstValue,
    firstOperand: offsets(nodes.operands),
    valueType: Int32Array.from(values.type),
    valueNode: owners(firstValue),
    operandSource: Int32Array.from(operands.source),
    literalText: Int32Array.from(literals.text),
    literalType: Int32Array.from(literals.type),
    regionCount: regionOwner.length,
    regionOwner,
    regionKind: Int32Array.from(regions.kind),
    regionName: Int32Array.from(regions.name),
    ...regionIntervals(region, regionOwner),
    ...regionsByOwner(regionOwner, nodeCount),
    bindingKind: Uint8Array.from(bindings.kind),
    bindingFrom: Int32Array.from(bindings.from),
    bindingTo: Int32Array.from(bindings.to),
    attributeNode: Int32Array.from(attributes.node),
    attributeKey: Int32Array.from(attributes.key),
    attributeValue: Int32Array.from(attributes.value)
  };
}

/** Places are written as differences, which pack better. */
export function buildOutline(plain: PlainOutline): Outline {
  const rows = plain.back.length;
  const first = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    first[row] = (row > 0 ? first[row - 1] : 0) + plain.gap[row];
  }
  return {
    graph: plain.graph,
    parent: Int32Array.from(plain.back, (back, row) => row - back),
    kind: Uint8Array.from(plain.kind),
    name: Int32Array.from(plain.name),
    detail: Int32Array.from(plain.detail),
    variable: Int32Array.from(plain.variable),
    first,
    end: Int32Array.from(plain.size, (size, row) => (first[row] ?? 0) + size),
    closed: Uint8Array.from(plain.closed),
    count: Int32Array.from(plain.count),
    copy: Int32Array.from(plain.copy),
    like: Int32Array.from(plain.like, (back, row) => (back ? row - back : -1)),
    twin: Int32Array.from(plain.twin, (on, row) => (on ? row + on : -1)),
    region: Int32Array.from(plain.region),
    role: Uint8Array.from(plain.role)
  };
}

/** Running sums: entry i of the result is where group i begins. Negative counts stand for none. */
export function offsets(counts: readonly number[]): Int32Array {
  const result = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    result[i + 1] = result[i] + Math.max(0, counts[i]);
  }
  return result;
}

/** For each member of the groups given by `first`, its group. */
function owners(first: Int32Array): Int32Array {
  const result = new Int32Array(first[first.length - 1]);
  for (let group = 0; group + 1 < first.length; group++) {
    result.fill(group, first[group], first[group + 1]);
  }
  return result;
}

/** The nodes of each region, those of the regions inside it included. An empty region begins and ends after its owner. */
function regionIntervals(region: Int32Array, owner: Int32Array): { regionStart: Int32Array; regionEnd: Int32Array } {
  const regionStart = Int32Array.from(owner, node => node + 1);
  const regionEnd = regionStart.slice();
  const seen = new Uint8Array(owner.length);
  for (let node = 0; node < region.length; node++) {
    const r = region[node];
    if (r < 0 || r >= owner.length) {
      continue; // reported by the check
    }
    if (!seen[r]) {
      seen[r] = 1;
      regionStart[r] = node;
    }
    regionEnd[r] = node + 1;
  }
  for (let r = owner.length - 1; r > 0; r--) {
    const outer = region[owner[r]];
    if (outer >= 0 && outer < r) {
      regionEnd[outer] = Math.max(regionEnd[outer], regionEnd[r]);
    }
  }
  return { regionStart, regionEnd };
}

function regionsByOwner(owner: Int32Array, nodeCount: number): { firstRegion: Int32Array; ownedRegions: Int32Array } {
  const counts = new Array<number>(nodeCount).fill(0);
  for (const node of owner) {
    if (node >= 0 && node < nodeCount) {
      counts[node]++;
    }
  }
  const firstRegion = offsets(counts);
  const next = firstRegion.slice();
  const ownedRegions = new Int32Array(firstRegion[nodeCount]);
  owner.forEach((node, region) => {
    if (node >= 0 && node < nodeCount) {
      ownedRegions[next[node]++] = region;
    }
  });
  return { firstRegion, ownedRegions };
}
