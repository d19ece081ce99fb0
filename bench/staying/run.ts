/** Closes and opens every region of the documents of a folder, and of generated graphs, and tells how much moved. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { decodePlain } from '../../labextension/src/document/decode.ts';
import type { Document, Graph } from '../../labextension/src/document/graph.ts';
import { measure } from '../../labextension/src/draw/text.ts';
import type { LayoutInput } from '../../labextension/src/layout/input.ts';
import { layout } from '../../labextension/src/layout/layout.ts';
import { LayoutMemory } from '../../labextension/src/layout/memory.ts';
import { openEverything } from '../../labextension/src/view/opening.ts';
import { rowsOf } from '../../labextension/src/view/outline.ts';
import { placesBefore, toLayout, type Wishes } from '../../labextension/src/view/place.ts';
import { show } from '../../labextension/src/view/view.ts';
import type { Kind } from '../layout/graphs.ts';
import { generateNested, look } from './generated.ts';
import { boxesBefore, compare, type Boxes, type Drawn, type Moved } from './moved.ts';

interface Course {
  boxes: number;
  readonly moved: Moved[];
  milliseconds: number;
}

/** Of a cell of a notebook: what is far higher is folded into columns. */
const ASPECT = 1.36;
/** Operations of a generated graph: with its regions, some 300 boxes. */
const GENERATED = 270;
/** A graph that can be drawn with some of its regions open. */
interface Subject {
  readonly name: string;
  readonly open: ReadonlySet<number>;
  /** What opens and closes together. */
  readonly regions: readonly ReadonlySet<number>[];
  draw(open: ReadonlySet<number>, memory: LayoutMemory, before?: Drawn): Drawn;
}

function subjectOf(name: string, document: Document, graph: Graph): Subject {
  const rows = rowsOf(document, graph);
  const open = openEverything(rows, true);
  const { twin } = rows.outline;
  return {
    name,
    open,
    regions: [...open].map(row => new Set([row, twin[row]].filter(one => one >= 0))),
    draw(shown, memory, before) {
      const visible = show(document, graph, { open: shown });
      return drawn(visible, wishes => toLayout(visible, measure, { aspect: ASPECT, ...wishes }), memory, before);
    }
  };
}

function generatedSubject(kind: Kind, seed: number): Subject {
  const nested = generateNested(kind, GENERATED, seed);
  return {
    name: `generated ${kind} ${seed}`,
    open: new Set(nested.regions),
    regions: nested.regions.map(region => new Set([region])),
    draw(shown, memory, before) {
      const { boxes, input } = look(nested, shown);
      return drawn(boxes, wishes => ({ ...input, aspect: ASPECT, ...wishes }), memory, before);
    }
  };
}

function drawn(boxes: Boxes, inputOf: (wishes: Wishes) => LayoutInput, memory: LayoutMemory, before?: Drawn): Drawn {
  const start = performance.now();
  const wishes = before ? placesBefore(boxesBefore(before.boxes, boxes), before.layout) : {};
  return { boxes, layout: layout(inputOf(wishes), memory), milliseconds: performance.now() - start };
}

/** All that moves when one region after the other is closed and opened again. */
function reopened({ open, regions, draw }: Subject): Course {
  const memory = new LayoutMemory();
  const whole = draw(open, memory);
  const course: Course = { boxes: whole.boxes.item.length, moved: [], milliseconds: 0 };
  for (const rows of regions) {
    const closed = draw(without(open, rows), memory, whole);
    add(course, rows, whole, closed);
    add(course, rows, closed, draw(open, memory, closed));
  }
  return course;
}

/** The same for pictures that begin with the region closed. */
function opened({ open, regions, draw }: Subject): Course {
  const course: Course = { boxes: 0, moved: [], milliseconds: 0 };
  for (const rows of regions) {
    const memory = new LayoutMemory();
    const closed = draw(without(open, rows), memory);
    const after = draw(open, memory, closed);
    course.boxes = after.boxes.item.length;
    add(course, rows, closed, after);
  }
  return course;
}

function without(open: ReadonlySet<number>, rows: ReadonlySet<number>): Set<number> {
  return new Set([...open].filter(one => !rows.has(one)));
}

function add(course: Course, rows: ReadonlySet<number>, from: Drawn, to: Drawn): void {
  const found = compare(rows, from, to);
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

/** Every stage of the documents, then the generated graphs, whose boxes are about 300 with their regions. */
function* subjects(folder: string, first: number, count: number): Generator<Subject> {
  for (const file of readdirSync(folder).filter(name => name.endsWith('.json'))) {
    const document = decodePlain(JSON.parse(readFileSync(join(folder, file), 'utf8')));
    for (const { kind, graph } of document.programs[0].stages) {
      yield subjectOf(`${file.replace('.json', '')} ${kind}`, document, document.graphs[graph]);
    }
  }
  for (let i = 0; i < count; i++) {
    yield generatedSubject(i % 2 ? 'region' : 'flow', first + i);
  }
}

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    graphs: { type: 'string', default: '0' }
  },
  allowPositionals: true
});
const all: Told[] = [];
if (!values.json) {
  console.log(`${'graph'.padEnd(40)} boxes  moves    kept    least   px 50%     95%    most      ms`);
}
for (const subject of subjects(positionals[0], Number(values.seed), Number(values.graphs))) {
  for (const [name, courseOf] of [
    [subject.name, reopened],
    [`${subject.name}, opened first`, opened]
  ] as const) {
    const one = told(name, courseOf(subject));
    if (one.kept.length) {
      all.push(one);
      if (!values.json) {
        console.log(line(one));
      }
    }
  }
}
if (values.json) {
  console.log(JSON.stringify(all));
}
