/** What a picture can ask of the kernel that made it. The host has the line; without one, pictures say what they lack. */
import type { Document } from '../document/graph.ts';
import { canRun } from '../document/programs.ts';

/** Something that was asked for, and takes its time. */
export interface Asked<Answer> {
  readonly answer: Promise<Answer>;
  stop(): void;
}

/** Hears, in words, how far it is. */
export type Told = (words: string) => void;

/** What an unrolled loop costs beside the same as a loop of JAX. */
export interface Rebuilt {
  /** What each costs, with a head; empty where it cannot be rebuilt. */
  readonly rows: readonly (readonly string[])[];
  readonly said: readonly string[];
  /** Has both put side by side, where there are two. The host shows them. */
  beside?(told: Told): Asked<void>;
}

export interface KernelLine {
  /** Why nothing can be asked now, in words; empty where it can. */
  missing(): string;
  /** Runs the program. The host shows it with what was measured. */
  run(told: Told): Asked<void>;
  /** Writes an unrolled loop as a loop of JAX, by its number among the findings of such loops. */
  rebuild(loop: number, told: Told): Asked<Rebuilt>;
}

/** What a kernel says that was stopped. */
export class Stopped extends Error {
  override name = 'Stopped';
}

/** The line of a document: of what is only a file, none whatever the host has. */
export function lineFor(document: Document, line: KernelLine | undefined): KernelLine {
  if (!document.programs.some((_, number) => canRun(document, number))) {
    return noLine('A file of the compiler has no function that could be run: explore the function itself for that.');
  }
  return (
    line ??
    noLine(
      'There is no kernel here, and this needs one: %jaxviz --run fn(args) in a notebook runs a program and times it.'
    )
  );
}

/** A line where there is none: `reason` says what to do instead. */
export function noLine(reason: string): KernelLine {
  const refuse = (): never => {
    throw new Error(reason);
  };
  return { missing: () => reason, run: refuse, rebuild: refuse };
}
