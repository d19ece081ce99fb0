/** Graphs of real programs: documents with every region open, as flat graphs for all engines. */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { decodePlain } from '../../labextension/src/document/decode.ts';
import { measure } from '../../labextension/src/draw/text.ts';
import type { LayoutInput } from '../../labextension/src/layout/input.ts';
import { openEverything } from '../../labextension/src/view/opening.ts';
import { rowsOf } from '../../labextension/src/view/outline.ts';
import { toLayout } from '../../labextension/src/view/place.ts';
import { show } from '../../labextension/src/view/view.ts';
import type { BenchGraph } from './graphs.ts';

export interface RealGraph {
  readonly flat: BenchGraph;
  /** What jaxviz draws: regions as groups, arguments at the top, results at the bottom. */
  readonly nested: LayoutInput;
}

/** All documents of a folder, as the Python side of this benchmark writes them. */
export function readDocuments(folder: string): RealGraph[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => readDocument(join(folder, name)))
    .sort((a, b) => a.flat.count - b.flat.count);
}

export function readDocument(path: string): RealGraph {
  // Without the outline, which would fold copies: all that the program has is laid out.
  const plain = JSON.parse(readFileSync(path, 'utf8')) as { outlines?: unknown };
  delete plain.outlines;
  const document = decodePlain(plain);
  const graph = document.graphs[0];
  const open = openEverything(rowsOf(document, graph), true);
  const nested = toLayout(show(document, graph, { open, all: true }), measure);
  return { nested, flat: flatten(basename(path, '.json'), nested) };
}

/** Without groups, and with the room for chips as part of their boxes. */
function flatten(name: string, nested: LayoutInput): BenchGraph {
  const boxes = Array.from(nested.parent.keys()).filter(box => !nested.group[box]);
  const place = new Map(boxes.map((box, i) => [box, i]));
  const edges = Array.from(nested.source.keys()).filter(
    edge => place.has(nested.source[edge]) && place.has(nested.target[edge])
  );
  return {
    name,
    count: boxes.length,
    width: Float64Array.from(boxes, box => nested.left[box] + nested.width[box] + nested.right[box]),
    height: Float64Array.from(boxes, box => nested.height[box]),
    source: Int32Array.from(edges, edge => place.get(nested.source[edge]) as number),
    target: Int32Array.from(edges, edge => place.get(nested.target[edge]) as number),
    port: Int32Array.from(edges, edge => nested.targetPort[edge])
  };
}
