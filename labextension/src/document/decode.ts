/**
 * From the JSON of a file or a cell output to a `Document`: unpack, check against the schema, turn columns into typed
 * arrays, check what a schema cannot say. Whatever is wrong ends in one `DocumentError` with one line for the person.
 */
import { checkFindings, checkGraph, checkLinks, checkOutlines, checkTables } from './check.ts';
import type { Document, Graph, Outline } from './graph.ts';
import type { Document as PlainDocument, Graph as PlainGraph, Outline as PlainOutline } from './schema.generated.ts';
import { validate } from './validate.generated.js';

/** The newest version of the schema that this code reads. */
export const DOCUMENT_VERSION = 1;

/** Says in one line why a document cannot be shown. */
export class DocumentError extends Error {
  override name = 'DocumentError';
}

/** Decodes a document, packed or plain: an object, or the text of a file. */
export async function decode(content: unknown): Promise<Document> {
  const json = typeof content === 'string' ? parse(content, 'it') : content;
  const head = checkHead(json);
  if (typeof head.packed !== 'string') {
    return decodePlain(json);
  }
  let text: string;
  try {
    text = await inflate(head.packed);
  } catch {
    throw new DocumentError('This jaxviz document is damaged: its packed part cannot be unpacked.');
  }
  return decodePlain(parse(text, 'its packed part'));
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError(`This jaxviz document is damaged: ${what} is no JSON.`);
  }
}

/** Decodes a document that is not packed. */
export function decodePlain(json: unknown): Document {
  checkHead(json);
  if (!validate(json)) {
    const fault = validate.errors?.[0];
    const where = fault?.instancePath ? fault.instancePath.slice(1) : 'the document';
    throw new DocumentError(`This jaxviz document is damaged: ${where} ${fault?.message ?? 'is not as expected'}.`);
  }
  const plain = json as PlainDocument;
  try {
    return build(plain);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new DocumentError(`This jaxviz document is damaged: ${error.message}.`);
    }
    throw error;
  }
}

function checkHead(json: unknown): { packed?: unknown } {
  if (typeof json !== 'object' || json === null || (json as { format?: unknown }).format !== 'jaxviz') {
    throw new DocumentError('This is no jaxviz document: "format" should be "jaxviz".');
  }
  const { version } = json as { version?: unknown };
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new DocumentError('This jaxviz document is damaged: "version" should be a whole number from 1.');
  }
  if (version > DOCUMENT_VERSION) {
    throw new DocumentError(
      `This document has version ${version}, made by a newer jaxviz; the one installed here reads up to version ${DOCUMENT_VERSION}: pip install --upgrade jupyterlab-jaxviz`
    );
  }
  return json as { packed?: unknown };
}

async function inflate(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

function build(plain: PlainDocument): Document {
  const { types, files, frames, stacks } = plain;
  const document: Document = {
    version: plain.version,
    producer: plain.producer,
    strings: plain.strings,
    types: {
      text: Int32Array.from(types.text),
      dtype: Int32Array.from(types.dtype),
      rank: Int32Array.from(types.rank),
      firstDim: offsets(types.rank),
      dims: Int32Array.from(types.dims),
      bytes: Float64Array.from(types.bytes),
      weak: Uint8Array.from(types.weak)
    },
    files: {
      path: Int32Array.from(files.path),
      label: Int32Array.from(files.label),
      library: Uint8Array.from(files.library),
      start: Int32Array.from(files.start),
      text: Int32Array.from(files.text)
    },
    frames: {
      file: Int32Array.from(frames.file),
      function: Int32Array.from(frames.function),
      line: Int32Array.from(frames.line),
      column: Int32Array.from(frames.column),
      endLine: Int32Array.from(frames.endLine),
      endColumn: Int32Array.from(frames.endColumn)
    },
    stacks: { frame: Int32Array.from(stacks.frame), parent: Int32Array.from(stacks.parent) },
    graphs: plain.graphs.map(buildGraph),
    programs: plain.programs,
    links: (plain.links ?? []).map(links => ({
      ...links,
      source: Int32Array.from(links.source),
      target: Int32Array.from(links.target),
      kind: Uint8Array.from(links.kind)
    })),
    fates: (plain.fates ?? []).map(fates => ({
      graph: fates.graph,
      kind: Uint8Array.from(fates.kind),
      where: Int32Array.from(fates.where),
      by: Int32Array.from(fates.by)
    })),
    outlines: (plain.outlines ?? []).map(buildOutline),
    findings: plain.findings ?? []
  };
  checkTables(document);
  document.graphs.forEach((graph, index) => checkGraph(document, graph, `graphs/${index}`));
  checkLinks(document);
  checkOutlines(document);
  checkFindings(document);
  return document;
}

function buildGraph(plain: PlainGraph): Graph {
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
function buildOutline(plain: PlainOutline): Outline {
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
function offsets(counts: readonly number[]): Int32Array {
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
