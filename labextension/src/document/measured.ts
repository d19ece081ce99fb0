/** Checks what a schema cannot say of measures: programs and nodes that are there, and columns of one length. */
import type { Document } from './graph.ts';
import type { Figures } from './schema.generated.ts';

/** The columns of figures that a node may have. */
export const FIGURES = ['seconds', 'shared', 'count', 'flops', 'bytes'] as const;
export type Figure = (typeof FIGURES)[number];

export function checkMeasures(document: Document): void {
  document.measures.forEach((measures, index) => {
    const program = document.programs[measures.program];
    if (!program) {
      throw new RangeError(`measures/${index}/program is ${measures.program}, a program that is not there`);
    }
    const { byDevice } = measures;
    if (byDevice) {
      checkColumns(`measures/${index}/byDevice`, [byDevice.device, byDevice.computing, byDevice.waiting]);
    }
    for (const [kind, figures] of Object.entries(measures.figures)) {
      const path = `measures/${index}/figures/${kind}`;
      const stage = program.stages.find(one => one.kind === kind);
      if (!stage) {
        throw new RangeError(`${path} is no stage of the program`);
      }
      checkFigures(path, figures, document.graphs[stage.graph].nodeCount);
    }
  });
}

function checkFigures(path: string, figures: Figures, nodes: number): void {
  const wrong = figures.node.find(node => node >= nodes);
  if (wrong !== undefined) {
    throw new RangeError(`${path}/node names node ${wrong} of ${nodes}`);
  }
  for (const figure of FIGURES) {
    const column = figures[figure];
    if (column && column.length !== figures.node.length) {
      throw new RangeError(`${path}/${figure} has ${column.length} entries, expected ${figures.node.length}`);
    }
  }
}

/** Checks that the memory of a program names steps and nodes that are there. */
export function checkMemory(document: Document): void {
  document.memory.forEach((memory, index) => {
    const path = `memory/${index}`;
    const stage = document.programs[memory.program]?.stages.find(({ kind }) => kind === 'hlo');
    if (!stage) {
      throw new RangeError(`${path}/program is ${memory.program}, which has no HLO`);
    }
    const { nodeCount } = document.graphs[stage.graph];
    const { step, live, node, size, first, last } = memory;
    if (live.length !== step.length || [size, first, last].some(({ length }) => length !== node.length)) {
      throw new RangeError(`${path} should have columns of one length`);
    }
    if ([...step, ...node].some(one => one >= nodeCount) || [...first, ...last].some(one => one >= step.length)) {
      throw new RangeError(`${path} names a node or a step that is not there`);
    }
  });
}

/** Checks that values are of nodes that are there, with a row in every column. */
export function checkValues(document: Document): void {
  document.values.forEach((values, index) => {
    const path = `values/${index}`;
    const stage = document.programs[values.program]?.stages.find(({ kind }) => kind === 'jaxpr');
    if (!stage) {
      throw new RangeError(`${path}/program is ${values.program}, which has no jaxpr`);
    }
    const { nodeCount, firstValue } = document.graphs[stage.graph];
    const { node, bad, least, most, mean, deviation, count, nan, infinite, zero, denormal, histogram } = values;
    const { result = node.map(() => 0), name = node.map(() => '') } = values;
    const columns = [least, most, mean, deviation, count, nan, infinite, zero, denormal, histogram, result, name];
    if (columns.some(({ length }) => length !== node.length)) {
      throw new RangeError(`${path} should have columns of one length`);
    }
    if (result.some((one, row) => one > 0 && one >= firstValue[node[row] + 1] - firstValue[node[row]])) {
      throw new RangeError(`${path}/result names a result that its node does not have`);
    }
    if (bad >= nodeCount || node.some(one => one >= nodeCount)) {
      throw new RangeError(`${path} names a node that is not there`);
    }
  });
}

/** Checks that what compiling cost is of a program that is there, with a row in every column. */
export function checkCompiling(document: Document): void {
  document.compiling.forEach((compiling, index) => {
    const path = `compiling/${index}`;
    if (!document.programs[compiling.program]) {
      throw new RangeError(`${path}/program is ${compiling.program}, a program that is not there`);
    }
    const { steps, passes, functions, lines, curve } = compiling;
    for (const table of [steps, passes, functions, lines]) {
      checkColumns(path, Object.values(table) as unknown[][]);
    }
    if (curve) {
      const { turns, loop, loopRun, unrolled, unrolledRun } = curve;
      checkColumns(`${path}/curve`, [turns, loop, loopRun, unrolled, unrolledRun]);
    }
    if (steps.parent.some((parent, row) => parent >= row)) {
      throw new RangeError(`${path}/steps names a step that does not come before`);
    }
  });
}

/** Checks that what processes recorded has a row in every column. */
export function checkProcesses(document: Document): void {
  document.processes.forEach(({ compiled, runs, index, count }, number) => {
    checkColumns(`processes/${number}/compiled`, Object.values(compiled) as unknown[][]);
    checkColumns(`processes/${number}/runs`, Object.values(runs) as unknown[][]);
    if (index >= count) {
      throw new RangeError(`processes/${number} is process ${index} of ${count}`);
    }
  });
}

function checkColumns(path: string, columns: readonly (readonly unknown[])[]): void {
  if (columns.some(({ length }) => length !== columns[0].length)) {
    throw new RangeError(`${path} should have columns of one length`);
  }
}
