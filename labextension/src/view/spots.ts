/** The line of the person's own code that a call stack comes from. */
import type { Document } from '../document/graph.ts';

/** A line of a file: its row in the document's files, and its number. */
export interface Spot {
  readonly file: number;
  readonly line: number;
}

/** Innermost place in the person's own code of a call stack; null for one that is a library's from end to end. */
export function ownSpot(document: Document, stack: number): Spot | null {
  const { frames, files, stacks } = document;
  for (let at = stack; at >= 0; at = stacks.parent[at]) {
    const frame = stacks.frame[at];
    if (!files.library[frames.file[frame]]) {
      return { file: frames.file[frame], line: frames.line[frame] };
    }
  }
  return null;
}
