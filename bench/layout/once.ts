/** One layout of a generated graph, for an engine that has nothing but the language. */
import { layout } from '../../labextension/src/layout/layout.ts';
import { generate, type Kind } from './graphs.ts';
import { toInput } from './input.ts';

/** Lays a graph out; gives the sum of all places, by which two engines are compared. */
function lay(kind: Kind, size: number, seed: number): number {
  const { x, y, route } = layout(toInput(generate(kind, size, seed), true));
  const sum = (column: Float64Array): number => column.reduce((all, value, i) => all + value * ((i % 97) + 1), 0);
  return sum(x) + sum(y) + sum(route);
}

Object.assign(globalThis, { lay });
