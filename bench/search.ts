/** Types queries letter by letter into a large document, as a person would; ms for each keystroke, the median of three tries. */
import { readFileSync } from 'node:fs';
import { decodePlain } from '../labextension/src/document/decode.ts';
import { rowsOf } from '../labextension/src/view/outline.ts';
import { parseQuery } from '../labextension/src/view/query.ts';
import { findMatches, prepareSearch } from '../labextension/src/view/search.ts';
import { fadedBoxes } from '../labextension/src/view/faded.ts';
import { show } from '../labextension/src/view/view.ts';

const document = decodePlain(JSON.parse(readFileSync(process.argv[2], 'utf-8')));
const [graph] = document.graphs;
const rows = rowsOf(document, graph);
prepareSearch(document, graph);
const visible = show(document, graph, { open: new Set() });
console.log(`${graph.nodeCount} nodes, ${rows.count} rows of the outline, bar 50 ms a keystroke`);
console.log(
  `${'query'.padEnd(24)} ${'matches'.padStart(8)} ${'first'.padStart(8)} ${'median'.padStart(8)} ${'most'.padStart(8)}`
);
for (const query of ['tanh', '/^(dot|add)/', 'op:dot_general', 'line:32', 'type:f32[8,64]', 'bytes>1kB', 'fate:dead']) {
  const times: number[] = [];
  let matches = 0;
  for (let length = 1; length <= query.length; length++) {
    const tries = [1, 2, 3].map(() => {
      const start = performance.now();
      const { items } = findMatches(document, graph, parseQuery(query.slice(0, length)));
      fadedBoxes(rows, visible, items);
      matches = items.length;
      return performance.now() - start;
    });
    times.push(tries.sort((a, b) => a - b)[1]);
  }
  const [first] = times;
  times.sort((a, b) => a - b);
  const cells = [first, times[times.length >> 1], times[times.length - 1]].map(ms => ms.toFixed(1).padStart(8));
  console.log(`${query.padEnd(24)} ${String(matches).padStart(8)} ${cells.join(' ')}`);
}
