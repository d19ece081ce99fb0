/** What each key and each button of the bar does. */
import { closeRegion, closeWhole, openWhole, setOrigin, showKernels, spread, step, toggle } from './acts.ts';
import type { Beside } from './compare/beside.ts';
import type { Colours } from './picture/colours.ts';
import type { Exports } from './exports.ts';
import type { Keeping } from './versions/keeping.ts';
import type { Command } from './keys.ts';
import type { Pane } from './picture/pane.ts';
import type { PassSlider } from './bar/passes.ts';
import type { Reading } from './source/reading.ts';
import type { OperationTable } from './table/table.ts';

export interface Commanded {
  /** The picture that the keys are meant for. */
  readonly pane: Pane;
  readonly passes: PassSlider;
  readonly colours: Colours;
  readonly keeping: Keeping;
  readonly exports: Exports;
  readonly beside: Beside;
  readonly reading: Reading;
  readonly table: OperationTable;
  showStage(kind: string): void;
  showHelp(): void;
  search(): void;
  run(): void;
  expand(): void;
  leave(): void;
}

/** `at` gives the parts at the time of the command: the picture with the focus may be another one then. */
export function commandsOf(at: Commanded): Readonly<Record<Command, () => void>> {
  return {
    up: () => step(at.pane, 'up'),
    down: () => step(at.pane, 'down'),
    left: () => step(at.pane, 'left'),
    right: () => step(at.pane, 'right'),
    toggle: () => toggle(at.pane, at.pane.viewing.selected),
    closeRegion: () => closeRegion(at.pane),
    spread: () => spread(at.pane, at.pane.viewing.selected),
    kernels: () => showKernels(at.pane, !at.pane.viewing.kernels),
    passes: () => at.passes.enter(),
    passBefore: () => at.passes.step(-1),
    passAfter: () => at.passes.step(1),
    leave: () => at.leave(),
    source: () => at.reading.toggle(),
    text: () => at.reading.toggleText(),
    jaxpr: () => at.showStage('jaxpr'),
    stablehlo: () => at.showStage('stablehlo'),
    hlo: () => at.showStage('hlo'),
    fit: () => at.pane.fit(),
    zoomIn: () => at.pane.picture.zoomBy(1.25),
    zoomOut: () => at.pane.picture.zoomBy(0.8),
    openAll: () => openWhole(at.pane, !at.pane.viewing.openings.all),
    closeAll: () => closeWhole(at.pane),
    expand: () => at.expand(),
    path: () => setOrigin(at.pane, at.pane.viewing.origin === null ? at.pane.viewing.selected : null),
    colour: () => at.colours.next(),
    copy: () => at.keeping.copy(),
    export: () => at.exports.toggle(),
    search: () => at.search(),
    table: () => at.table.toggle(),
    run: () => at.run(),
    compare: () => at.beside.toggle(),
    nextDifference: () => at.beside.next(1),
    differenceBefore: () => at.beside.next(-1),
    help: () => at.showHelp()
  };
}
