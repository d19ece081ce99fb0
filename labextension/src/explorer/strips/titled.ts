/** What a strip is about: the word alone, or with the name of the program where there are several. */
import type { Document } from '../../document/graph.ts';
import { programName } from '../../document/programs.ts';

export function titled(document: Document, word: string, program: number): string {
  return document.programs.length > 1 ? `${word} of ${programName(document, program)}` : word;
}
