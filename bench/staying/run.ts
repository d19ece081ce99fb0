/** Closes and opens every region of the documents of a folder and tells how much moved, as a table or with `--json`. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { decodePlain } from '../../labextension/src/document/decode.ts';
import type { Document, Graph } from '../../labextension/src/document/graph.ts';
import { measure } from '../../labextension/src/draw/text.ts';
import type { Layout } from '../../labextension/src/layout/input.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import { LayoutMemory } from '../../labextension/src/layout/memory.ts';
import { counterparts } from '../../labextension/src/view/counterparts.ts';
import { openEverything } from '../../labextension/src/view/first.ts';
import { rowsOf } from '../../labextension/src/view/outline.ts';
import { placesBefore, toLayout } from '../../labextension/src/view/place.ts';
import { show } from '../../labextension/src/view/view.ts';
import type { VisibleGraph } from '../../labextension/src/view/visible.ts';

interface Drawn {
  readonly visible: VisibleGraph;
  readonly layout: Layout;
  readonly milliseconds: number;
}

interface Moved {
  /** Part of the pairs outside the region that kept their order from left to right. */
  readonly kept: number;
  /** The furthest that a box moved, less what the region grew by, in px. */
  readonly beyond: number;
}

interface Course {
  boxes: number;
  readonly moved: Moved[];
  milliseconds: number;
}

/** Of a cell of a notebook: what is far higher is folded into columns. */
const ASPECT = 1.36;
/** Fewer pairs than this say nothing. */
const LEAST_PAIRS = 10;

function draw(
  document: Document,
  graph: Graph,
  open: ReadonlySet<number>,
  memory: LayoutMemory,
  before?: Drawn
): Drawn {
  const visible = show(document, graph, { open });
  const start = performance.now();
  const from = before && counterparts(document, before.visible, visible);
  const wishes = { aspect: ASPECT, ...(before && from ? placesBefore(from, before.layout) : {}) };
  return {
    visible,
    layout: layout(toLayout(visible, measure, wishes), memory),
    milliseconds: performance.now() - start
  };
}

/** How the boxes outside of `rows` moved, as seen from the box of the first of them. */
function compare(document: Document, rows: ReadonlySet<number>, before: Drawn, after: Drawn): Moved | null {
  const from = counterparts(document, before.visible, after.visible);
  const outside = [...from.keys()].filter(
    box => from[box] >= 0 && !within(before.visible, from[box], rows) && !within(after.visible, box, rows)
  );
  const middle = ({ layout: { x, width } }: Drawn, box: number): number => x[box] + width[box] / 2;
  let [kept, pairs] = [0, 0];
  outside.forEach((a, i) => {
    for (const b of outside.slice(i + 1)) {
      const was = middle(before, from[a]) - middle(before, from[b]);
      // A box is neither to the left nor to the right of what it stands in.
      if (Math.abs(was) > 1 && !isWithin(after.visible, a, b) && !isWithin(after.visible, b, a)) {
        pairs++;
        kept += was < 0 === middle(after, a) - middle(after, b) < 0 ? 1 : 0;
      }
    }
  });
  const anchor = after.visible.item.findIndex((item, box) => rows.has(item) && from[box] >= 0);
  if (pairs < LEAST_PAIRS || anchor < 0) {
    return null;
  }
  let [grownX, grownY] = [0, 0];
  after.visible.item.forEach((item, box) => {
    if (rows.has(item) && from[box] >= 0) {
      grownX += Math.abs(after.layout.width[box] - before.layout.width[from[box]]);
      grownY += Math.abs(after.layout.height[box] - before.layout.height[from[box]]);
    }
  });
  const movedX = (box: number): number => middle(after, box) - middle(before, from[box]);
  const movedY = (box: number): number => after.layout.y[box] - before.layout.y[from[box]];
  const beyond = outside.reduce(
    (most, box) =>
      Math.max(most, Math.abs(movedX(box) - movedX(anchor)) - grownX, Math.abs(movedY(box) - movedY(anchor)) - grownY),
    0
  );
  return { kept: kept / pairs, beyond };
}

function isWithin({ parent }: VisibleGraph, box: number, frame: number): boolean {
  let at = box;
  while (at > frame) {
    at = parent[at];
  }
  return at === frame;
}

function within({ item, parent }: VisibleGraph, box: number, rows: ReadonlySet<number>): boolean {
  for (let at = box; at >= 0; at = parent[at]) {
    if (rows.has(item[at])) {
      return true;
    }
  }
  return false;
}

/** All that moves when one region after the other is closed and opened again. */
function reopened(document: Document, graph: Graph, open: ReadonlySet<number>): Course {
  const memory = new LayoutMemory();
  const whole = draw(document, graph, open, memory);
  const course: Course = { boxes: whole.visible.count, moved: [], milliseconds: 0 };
  for (const rows of regions(document, graph, open)) {
    const closed = draw(document, graph, without(open, rows), memory, whole);
    add(course, document, rows, whole, closed);
    add(course, document, rows, closed, draw(document, graph, open, memory, closed));
  }
  return course;
}

/** The same for pictures that begin with the region closed. */
function opened(document: Document, graph: Graph, open: ReadonlySet<number>): Course {
  const course: Course = { boxes: 0, moved: [], milliseconds: 0 };
  for (const rows of regions(document, graph, open)) {
    const memory = new LayoutMemory();
    const closed = draw(document, graph, without(open, rows), memory);
    const after = draw(document, graph, open, memory, closed);
    course.boxes = after.visible.count;
    add(course, document, rows, closed, after);
  }
  return course;
}

/** Each open row, with the one that stands beside it. */
function regions(document: Document, graph: Graph, open: ReadonlySet<number>): Set<number>[] {
  const { twin } = rowsOf(document, graph).outline;
  return [...open].map(row => new Set([row, twin[row]].filter(one => one >= 0)));
}

function without(open: ReadonlySet<number>, rows: ReadonlySet<number>): Set<number> {
  return new Set([...open].filter(one => !rows.has(one)));
}

function add(course: Course, document: Document, rows: ReadonlySet<number>, from: Drawn, to: Drawn): void {
  const found = compare(document, rows, from, to);
  if (found) {
    course.moved.push(found);
    course.milliseconds += to.milliseconds;
  }
}

/** What is told of a course: parts that were kept, px beyond what the region took, from the least to the most. */
interface Told {
  readonly name: string;
  readonly boxes: number;
  readonly kept: readonly number[];
  readonly beyond: readonly number[];
  readonly milliseconds: number;
}

function told(name: string, { boxes, moved, milliseconds }: Course): Told {
  const sorted = (of: (one: Moved) => number): number[] => moved.map(of).sort((a, b) => a - b);
  return {
    name,
    boxes,
    kept: sorted(one => one.kept),
    beyond: sorted(one => one.beyond),
    milliseconds: milliseconds / moved.length
  };
}

function line({ name, boxes, kept, beyond, milliseconds }: Told): string {
  const mean = kept.reduce((sum, one) => sum + one, 0) / kept.length;
  const at = (part: number): string => beyond[Math.floor(part * (beyond.length - 1))].toFixed(0).padStart(8);
  return (
    `${name.padEnd(40)}${String(boxes).padStart(6)}${String(kept.length).padStart(7)}` +
    `${(100 * mean).toFixed(1).padStart(8)} %${(100 * kept[0]).toFixed(1).padStart(7)} %` +
    `${at(0.5)}${at(0.95)}${at(1)}${milliseconds.toFixed(1).padStart(8)}`
  );
}

const [folder, ...options] = process.argv.slice(2);
const asJson = options.includes('--json');
const all: Told[] = [];
if (!asJson) {
  console.log(`${'graph'.padEnd(40)} boxes  moves    kept    least   px 50%     95%    most      ms`);
}
for (const file of readdirSync(folder).filter(name => name.endsWith('.json'))) {
  const document = decodePlain(JSON.parse(readFileSync(join(folder, file), 'utf8')));
  document.programs[0].stages.forEach(({ kind, graph: index }) => {
    const graph = document.graphs[index];
    const open = openEverything(rowsOf(document, graph), true);
    const name = `${file.replace('.json', '')} ${kind}`;
    for (const [title, courseOf] of [
      [name, reopened],
      [`${name}, opened first`, opened]
    ] as const) {
      const one = told(title, courseOf(document, graph, open));
      if (one.kept.length) {
        all.push(one);
        if (!asJson) {
          console.log(line(one));
        }
      }
    }
  });
}
if (asJson) {
  console.log(JSON.stringify(all));
}
