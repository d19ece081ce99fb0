/** The strips below the picture that tell what was measured, in the order in which one asks for it. */
import type { Document } from '../document/graph.ts';
import { CompilingStrip } from './compiling.ts';
import { MemoryStrip } from './memory.ts';
import { processesStrip } from './processes.ts';
import { RunStrip, type RunActions } from './run.ts';
import { valuesStrip } from './values.ts';

/** One for each kind of measure; hidden where nothing was measured. */
export function measuredStrips(document: Document, actions: RunActions): HTMLElement[] {
  return [
    new RunStrip(document, actions).root,
    new MemoryStrip(document, actions).root,
    valuesStrip(document, actions.show),
    new CompilingStrip(document, actions).root,
    processesStrip(document)
  ];
}
