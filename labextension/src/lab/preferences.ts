/**
 * What the plugins know and the renderer of cells, which JupyterLab gives neither settings nor services, has to know too.
 */
import { nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import type { KernelLine } from '../explorer/kernelLine.ts';
import type { SourceSpot } from '../explorer/source/source.ts';

/** What the person has chosen in the settings. */
export interface Preferences {
  /** Kind of the stage that is shown first. */
  stage: string;
  /** What boxes are coloured by at first. */
  colour: string;
  /** Height of the picture in a cell, in px; 0 lets the picture decide. */
  height: number;
  /** Documents of more characters are shown when they are asked for. */
  largest: number;
}

export const preferences: Preferences = { stage: '', colour: '', height: 0, largest: 0 };

/** What is to be done when the person has chosen otherwise. */
export const onChoice = new Set<() => void>();

/** Takes what the person has chosen; pictures follow. */
export function choose(chosen: Preferences): void {
  const before = JSON.stringify(preferences);
  Object.assign(preferences, chosen);
  if (JSON.stringify(preferences) !== before) {
    onChoice.forEach(act => act());
  }
}

/** What the application can do for an output; little until it can. */
export const application: {
  /** Sentences in the language of the person. */
  trans: TranslationBundle;
  /** Shows a line of the source of the program in an output. */
  goToLine?: (output: Node, spot: SourceSpot) => void;
  /** Has the keys go back to the cell that an output stands in. */
  toCell?: (output: Node) => void;
  /** The line to the kernel of the notebook that an output stands in. `show` shows the program with what was measured. */
  kernelLine?: (output: Node, program: string, show: (document: unknown) => void) => KernelLine;
} = { trans: nullTranslator.load('') };
