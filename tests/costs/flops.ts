/** Prints for each document that is named what the explorer says that its last stage computes. */
import { readFileSync } from 'node:fs';
import { decodePlain } from '../../labextension/src/document/decode.ts';
import { figuredOf, wholeOf } from '../../labextension/src/view/measures.ts';

for (const path of process.argv.slice(2)) {
  const document = decodePlain(JSON.parse(readFileSync(path, 'utf-8')));
  const graph = document.graphs[document.graphs.length - 1];
  const figured = figuredOf(document, graph, 'flops');
  console.log(figured ? wholeOf(figured, 'flops') : -1);
}
