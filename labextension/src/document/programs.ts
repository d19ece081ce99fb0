/** Which program of a document a graph belongs to, and names of graphs that stay good while views are saved. */
import type { Document, Links, Passes, Program, Stage } from './graph.ts';
import { placeOf } from './states.ts';

/** Begins the name of a stage that is a pass, before the number of its graph. */
const PASS = 'pass-';
/** Stands between the kind of a stage and the number of its program, where that is not the first. */
const OF = '@';

/** The number of the program that a graph belongs to; the first for one of which that is not known. */
export function programOf(document: Document, graph: number): number {
  const place = placeOf(document, graph);
  const at = place ? place.passes.graph : graph;
  // The same graph in another fold has the same columns.
  const { kind } = document.graphs[at];
  const found = document.programs.findIndex(({ stages }) =>
    stages.some(stage => stage.graph === at || document.graphs[stage.graph]?.kind === kind)
  );
  return Math.max(0, found);
}

/** The passes of a program, where the document holds them. */
export function passesOf(document: Document, program: number): Passes | undefined {
  return document.passes.find(({ graph }) => programOf(document, graph) === program);
}

/** True for a function; what a compiler or a profiler wrote into a file has none that could be run. */
export function canRun({ programs }: Document, number: number): boolean {
  return programs[number]?.stages.some(({ kind }) => kind === 'jaxpr') ?? false;
}

/** How a program is told from others by the same name: by the device that it was compiled for. */
export function programName({ programs }: Document, number: number): string {
  const { name, call, target } = programs[number];
  const same = programs.filter(other => other.name === name);
  if (same.length < 2) {
    return name;
  }
  if (new Set(same.map(other => other.target?.name)).size === same.length) {
    return `${name}, ${target ? target.label : 'this device'}`;
  }
  return new Set(same.map(other => other.call)).size === same.length ? call : `${name} ${number + 1}`;
}

/** A name for a graph that says its stage: `jaxpr`, `hlo@1` of the second program, `pass-7`. */
export function graphName(document: Document, graph: number, stage: Stage | undefined): string {
  const program = programOf(document, graph);
  return stage ? `${stage.kind}${program ? OF + program : ''}` : `${PASS}${graph}`;
}

/** What a name of a graph stands for: its number for a pass, else its program and stage; the first for an unknown one. */
export function graphNamed(document: Document, name: string): number | { program: number; stage: Stage } {
  const pass = name.startsWith(PASS) ? Number(name.slice(PASS.length)) : -1;
  if (document.graphs[pass]) {
    return pass;
  }
  const [kind, number] = name.split(OF);
  const program = document.programs[Number(number)] ? Number(number) : 0;
  const { stages } = document.programs[program];
  return { program, stage: stages.find(stage => stage.kind === kind) ?? stages[0] };
}

/** Links between the stages of different programs: what makes a document a comparison. */
export function comparedLinks(document: Document): readonly Links[] {
  return document.programs.length < 2
    ? []
    : document.links.filter(({ from, to }) => programOf(document, from) !== programOf(document, to));
}

export function stagesOf(document: Document): { program: number; of: Program; stage: Stage }[] {
  return document.programs.flatMap((of, program) => of.stages.map(stage => ({ program, of, stage })));
}
