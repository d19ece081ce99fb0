/**
 * The web worker: gets `{ id, input }`, answers `{ id, layout, learned }` or `{ id, error }`. It may end at any time, so
 * what it remembers is kept by the page too, and told to the next one with its first job.
 */
import type { LayoutInput } from './input.ts';
import { layout } from './layout.ts';
import { LayoutMemory, type Told } from './memory.ts';

/** Of more boxes than this, what was learned is not told: it would take longer than it helps. */
const MOST_TOLD = 5_000;

interface Scope {
  onmessage: ((event: { data: { id: number; input: LayoutInput; learned?: Told } }) => void) | null;
  postMessage(message: unknown): void;
}

const memory = new LayoutMemory();
const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data: { id, input, learned } }) => {
  if (learned) {
    memory.learn(learned);
  }
  try {
    const made = layout(input, memory);
    scope.postMessage({ id, layout: made, learned: input.parent.length > MOST_TOLD ? [] : memory.tell('last') });
  } catch (error) {
    scope.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
