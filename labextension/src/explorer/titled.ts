/** What a strip is about: the word alone, or with the name of the program where there are several. */
import type { Document } from '../document/graph.ts';

export function titled({ programs }: Document, word: string, program: number): string {
  return programs.length > 1 ? `${word} of ${programs[program].name}` : word;
}
