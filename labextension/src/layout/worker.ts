/** The web worker: gets `{ id, input }`, answers `{ id, layout }` or `{ id, error }`. */
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { LayoutMemory } from './memory.ts';

interface Scope {
  onmessage: ((event: { data: { id: number; input: LayoutInput } }) => void) | null;
  postMessage(message: unknown): void;
}

const memory = new LayoutMemory();
const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data: { id, input } }) => {
  try {
    scope.postMessage({ id, layout: layout(input, memory) });
  } catch (error) {
    scope.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
