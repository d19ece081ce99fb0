/** The line from a picture to the kernel that made it, over that kernel's list of programs. */
import { Stopped, type Asked, type KernelLine, type Rebuilt, type Told } from '../explorer/kernelLine.ts';
import type { KernelPrograms } from './kernelPrograms.ts';
import { application } from './preferences.ts';

export interface LineEnds {
  /** The kernel, if one is there now. */
  kernel(): KernelPrograms | undefined;
  /** The program in the kernel, as `Exploration.listed` names it: its session, and its place there. */
  readonly program: string;
  /** Shows the program with what was measured. */
  show(document: unknown): void;
  /** Opens another document beside what is there. */
  open(title: string, document: unknown): void;
}

export function kernelLine({ kernel, program, show, open }: LineEnds): KernelLine {
  const [key, id] = program.split(':');
  const begin = (question: Record<string, unknown>, told: Told): Asked<Readonly<Record<string, unknown>>> => {
    const there = kernel();
    if (!there) {
      throw new Stopped();
    }
    return there.begin({ ...question, id }, told);
  };
  return {
    missing: () => {
      const there = kernel();
      const { trans } = application;
      if (!id) {
        return trans.__('This picture is of no program in a kernel: explore the function with %jaxviz, and run that.');
      }
      if (!there) {
        return trans.__('There is no kernel: start one, and run the cell again.');
      }
      if (there.key !== key) {
        return trans.__('This picture is from before the kernel was started: run the cell again.');
      }
      return there.get(id) ? '' : trans.__('The kernel has no such program any more: run the cell again.');
    },
    run: told => {
      const { answer, stop } = begin({ type: 'run' }, told);
      return { answer: answer.then(({ document }) => show(document)), stop };
    },
    rebuild: (loop, told) => {
      const { answer, stop } = begin({ type: 'rebuild', loop }, told);
      const beside = (hear: Told): Asked<void> => {
        const both = begin({ type: 'beside', loop }, hear);
        return {
          answer: both.answer.then(({ document }) => open(application.trans.__('unrolled beside a loop'), document)),
          stop: both.stop
        };
      };
      return { answer: answer.then(found => rebuilt(found, beside)), stop };
    }
  };
}

function rebuilt({ rows, said, both }: Readonly<Record<string, unknown>>, beside: Rebuilt['beside']): Rebuilt {
  return { rows: rows as string[][], said: said as string[], ...(both ? { beside } : {}) };
}
