/** How the details of a part name what is outside of it: as the parts that a person sees, not by equations in them. */
import { RowKind, type Document, type Graph } from '../../document/graph.ts';
import { rowLabel, type Rows } from '../../view/outline.ts';
import { linkTo, type Link } from './details.ts';

/** Rows that only hold what a person sees. */
const PLAIN: ReadonlySet<number> = new Set([
  RowKind.program,
  RowKind.phase,
  RowKind.statement,
  RowKind.stack,
  RowKind.copy,
  RowKind.part
]);

/** Links to the largest parts that hold these nodes but nothing of `row`; one for each part, where a node has one. */
export function linksOutside(
  document: Document,
  graph: Graph,
  rows: Rows,
  row: number,
  nodes: Iterable<number>
): Link[] {
  const found = new Map<number, Link>();
  const own = phaseOf(rows, row);
  for (const node of new Set(nodes)) {
    const part = largestOutside(rows, row, node);
    const key = part < 0 ? -1 - node : part;
    if (!found.has(key)) {
      const phase = part < 0 ? own : phaseOf(rows, part);
      const other = phase > 0 && phase !== own ? `${rowLabel(document, graph, rows, phase)} ` : '';
      found.set(
        key,
        part < 0
          ? linkTo(document, graph, node)
          : { node, row: part, text: other + rowLabel(document, graph, rows, part) }
      );
    }
  }
  return [...found.values()];
}

/** The outermost row around a node that a person sees as one part and that does not hold `row`; -1 for none. */
function largestOutside({ outline, leaf }: Rows, row: number, node: number): number {
  let found = -1;
  for (let at = leaf[node]; at > 0 && !holds(outline, at, row); at = outline.parent[at]) {
    found = PLAIN.has(outline.kind[at]) ? found : at;
  }
  return found;
}

function holds({ first, end }: Rows['outline'], at: number, row: number): boolean {
  return first[at] <= first[row] && end[row] <= end[at];
}

/** The innermost phase around a row; 0 for none. */
function phaseOf({ outline }: Rows, row: number): number {
  let at = row;
  while (at > 0 && outline.kind[at] !== RowKind.phase) {
    at = outline.parent[at];
  }
  return at;
}
