/**
 * From the JSON of a file or a cell output to a `Document`: unpack, check against the schema, turn columns into typed
 * arrays, check what a schema cannot say. Whatever is wrong ends in one `DocumentError` with one line for the person.
 */
import { buildGraph, buildOutline, offsets } from './build.ts';
import type { Document, Graph } from './graph.ts';
import { atOnce, inPieces } from './pause.ts';
import type { Document as PlainDocument } from './schema.generated.ts';
import { jsonFault } from './jsonFault.ts';
import { checkResiduals } from './residuals.ts';
import { checkCompiling, checkMeasures, checkMemory, checkProcesses, checkValues } from './measured.ts';
import { checkPasses } from './series.ts';
import { checkFindings, checkGraph, checkLinks, checkOutlines, checkTables } from './check.ts';
import { validate } from './validate.generated.js';

/** The newest version of the schema that this code reads. */
export const DOCUMENT_VERSION = 4;

/** Says in one line why a document cannot be shown. */
export class DocumentError extends Error {
  override name = 'DocumentError';
}

/** Decodes a document, packed or plain: an object, or the text of a file. */
export async function decode(content: unknown): Promise<Document> {
  const json = typeof content === 'string' ? parse(content) : content;
  const head = checkHead(json);
  if (typeof head.packed !== 'string') {
    return inPieces(decoding(json));
  }
  let text: string;
  try {
    text = await inflate(head.packed);
  } catch {
    throw new DocumentError('This jaxviz document is damaged: its packed part cannot be unpacked.');
  }
  return inPieces(unpacking(text));
}

/** The text of a file that came in base64, as whoever cannot know what is in it hands it over. */
export function textOf(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(base64));
  } catch {
    throw new DocumentError('This is no jaxviz document, or a damaged one: it has bytes that are no text.');
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  // `Uint8Array.from` takes thirty times as long.
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = characters.charCodeAt(i);
  }
  return bytes;
}

function* unpacking(text: string): Generator<void, Document> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new DocumentError('This jaxviz document is damaged: its packed part is no JSON.');
  }
  yield;
  return yield* decoding(json);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = jsonFault(text);
    throw new DocumentError(
      fault ? `line ${fault.line}, column ${fault.column}: ${fault.words}.` : `This is no JSON: ${String(error)}`
    );
  }
}

/** Decodes a document that is not packed. */
export function decodePlain(json: unknown): Document {
  return atOnce(decoding(json));
}

function* decoding(json: unknown): Generator<void, Document> {
  checkHead(json);
  if (!validate(json)) {
    const fault = validate.errors?.[0];
    const where = fault?.instancePath ? fault.instancePath.slice(1) : 'the document';
    throw new DocumentError(`This jaxviz document is damaged: ${where} ${fault?.message ?? 'is not as expected'}.`);
  }
  yield;
  try {
    return yield* build(json as PlainDocument);
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
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

function* build(plain: PlainDocument): Generator<void, Document> {
  const { types, files, frames, stacks } = plain;
  const graphs: Graph[] = [];
  for (const graph of plain.graphs) {
    graphs.push(buildGraph(graph));
    yield;
  }
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
    graphs,
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
    passes: plain.passes ?? [],
    findings: plain.findings ?? [],
    measures: plain.measures ?? [],
    memory: plain.memory ?? [],
    values: plain.values ?? [],
    compiling: plain.compiling ?? [],
    residuals: plain.residuals ?? [],
    processes: plain.processes ?? []
  };
  checkTables(document);
  for (const [index, graph] of document.graphs.entries()) {
    yield;
    checkGraph(document, graph, `graphs/${index}`);
  }
  yield;
  checkLinks(document);
  yield;
  checkOutlines(document);
  checkPasses(document);
  checkFindings(document);
  checkMeasures(document);
  checkMemory(document);
  checkValues(document);
  checkCompiling(document);
  checkResiduals(document);
  checkProcesses(document);
  return document;
}
