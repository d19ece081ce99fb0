/** The bar on top: the program, its stages, and a few buttons. */
import { NodeKind, type Document, type Graph, type Stage } from '../../document/graph.ts';
import { canRun, programName } from '../../document/programs.ts';
import { kernelCount } from '../../view/kernels.ts';
import { timeText } from '../../view/measures.ts';
import { BarMenu } from './barMenu.ts';
import { button, describe, element } from '../elements.ts';
import { hasSource } from '../source/lines.ts';
import type { Command } from '../keys.ts';

export interface BarActions {
  obey(command: Command): void;
  stage(index: number): void;
  /** Shows another program of the document. */
  program(number: number): void;
}

export interface Bar {
  readonly root: HTMLElement;
  /** Shows the buttons that open and close only where there is something to open. */
  setRegions(any: boolean): void;
  setExpanded(expanded: boolean): void;
  setStage(index: number): void;
  setSource(shown: boolean): void;
  /** While the kernel does something for the picture. */
  setWorking(busy: boolean): void;
  setKernels(shown: boolean): void;
  /** While two pictures stand side by side. */
  setBeside(shown: boolean): void;
}

/** Stages as people write them, in the order of their making. */
const STAGES: Readonly<Record<string, string>> = {
  jaxpr: 'jaxpr',
  stablehlo: 'StableHLO',
  hlo: 'HLO',
  passes: 'passes'
};

const RUN = 'Run it on the device: how long it takes, and each operation in it (r)';

export interface BarParts {
  readonly document: Document;
  /** The number of the program. */
  readonly program: number;
  readonly actions: BarActions;
  /** The slider, which stands between StableHLO and HLO. */
  readonly passes: HTMLElement;
  /** What stands before the buttons. */
  readonly tools: readonly HTMLElement[];
  /** Stages that the kernel still works on. */
  readonly coming: readonly string[];
}

/** The bar of one program of a document, whose least needed parts fold where there is no room. */
export function makeBar({ document: source, program: number, actions, passes, tools, coming }: BarParts): Bar {
  const bar = element('div', 'jv-bar');
  const program = source.programs[number];
  bar.append(programPicker(source, number, actions));
  const python = hasSource(source)
    ? button('jv-stage jv-python', 'Python', 'The source, line by line (1)', () => actions.obey('source'))
    : button('jv-stage jv-python', 'text', 'The stage as text, line by line (1)', () => actions.obey('source'));
  const stages = (program?.stages ?? []).map((stage, index) => {
    const chip = button('jv-stage', STAGES[stage.kind] ?? stage.kind, '', () => actions.stage(index));
    const said = countText(source, source.graphs[stage.graph], stage.kind);
    chip.append(element('small', '', ` ${said.short}`));
    chip.title = [said.long, ...costs(stage)].join(', ');
    chip.setAttribute('aria-label', `${STAGES[stage.kind] ?? stage.kind}: ${chip.title}`);
    return chip;
  });
  const missing = Object.entries(program?.missing ?? {}).map(([kind, reason]) => {
    const chip = element('span', 'jv-stage jv-missing', STAGES[kind] ?? kind);
    chip.title = `not there: ${reason}`;
    chip.tabIndex = 0;
    chip.setAttribute('aria-label', `${STAGES[kind] ?? kind} is not there: ${reason}`);
    return chip;
  });
  const awaited = coming.filter(kind => kind in STAGES).map(kind => awaitedStage(STAGES[kind]));
  const run = button('jv-stage jv-run-stage', '', '', () => actions.obey('run'));
  const took = source.measures.find(measures => measures.program === number)?.seconds.median;
  const runs = canRun(source, number);
  const tell = (busy: boolean): void => tellRun(run, busy, took, runs);
  tell(false);
  run.disabled = !runs;
  run.hidden = program?.error !== undefined || (!runs && took === undefined);
  bar.append(python, ...stages, ...missing, ...awaited, run);
  bar.insertBefore(passes, stages[(program?.stages ?? []).findIndex(({ kind }) => kind === 'hlo')] ?? null);
  bar.append(element('span', 'jv-space'));
  if (program?.target) {
    const target = element('span', 'jv-target', program.target.name);
    target.title = [`compiled for ${program.target.label}, without one`, ...program.target.limits].join('\n');
    target.tabIndex = 0;
    target.setAttribute('aria-label', target.title);
    bar.append(target);
  }
  const make = (text: string, title: string, command: Command): HTMLElement =>
    button('jv-button', text, title, () => actions.obey(command));
  const openAll = make('open all', 'All equations (e)', 'openAll');
  const closeAll = make('close all', 'Close everything (x)', 'closeAll');
  const expand = make('expand', 'Use the whole window (w)', 'expand');
  expand.classList.add('jv-expand');
  const kernels = make('kernels', 'What runs as one kernel (k)', 'kernels');
  kernels.setAttribute('aria-pressed', 'false');
  kernels.hidden = !program?.stages.some(({ kind }) => kind === 'hlo');
  const search = make('search', 'Search (/)', 'search');
  const compare = make('compare', 'Another stage or program beside this one (d)', 'compare');
  const fit = make('fit', 'Fit the picture (f)', 'fit');
  const link = make('link', 'Copy this view as a link (l)', 'copy');
  const save = make('export', 'Save the picture or the program as a file (s)', 'export');
  const help = make('?', 'Keys and marks (?)', 'help');
  help.classList.add('jv-help-opener');
  bar.append(...tools, kernels, search, openAll, closeAll, compare, fit, link, save, expand, help);
  // A key that changes the stage leaves the focus in the picture.
  const heard = element('span', 'jv-heard');
  heard.setAttribute('role', 'status');
  bar.append(heard);
  const wide = [link, save, kernels, closeAll, compare];
  const menu = new BarMenu(
    bar,
    [
      ...[...wide, fit, openAll, search, ...tools].map(one => ({ element: one, wide: wide.includes(one) })),
      ...[help, expand].map(one => ({ element: one, wide: false, late: true }))
    ],
    expand
  );
  const press = (one: HTMLElement, on: boolean): void => {
    if (one.classList.contains('jv-on') !== on) {
      one.classList.toggle('jv-on', on);
      one.setAttribute('aria-pressed', String(on));
      menu.fit();
    }
  };
  return {
    root: menu.root,
    setRegions: any => {
      if (openAll.hidden === any) {
        openAll.hidden = closeAll.hidden = !any;
        menu.fit();
      }
    },
    setExpanded: expanded => {
      expand.textContent = expanded ? 'back' : 'expand';
      describe(expand, expanded ? 'Back into the page (Escape)' : 'Use the whole window (w)');
      menu.fit();
    },
    setStage: index => {
      stages.forEach((chip, at) => {
        chip.classList.toggle('jv-on', at === index);
        chip.setAttribute('aria-pressed', String(at === index));
      });
      // Passes say by themselves which one is shown.
      heard.textContent = stages[index]?.getAttribute('aria-label') ?? '';
    },
    setKernels: shown => press(kernels, shown),
    setBeside: shown => press(compare, shown),
    setWorking: tell,
    setSource: shown => {
      python.classList.toggle('jv-on', shown);
      python.setAttribute('aria-pressed', String(shown));
    }
  };
}

/** The button of a run says how long one takes, in seconds, once that was measured. */
function tellRun(run: HTMLElement, busy: boolean, took: number | undefined, runs: boolean): void {
  run.textContent = busy ? 'stop' : 'run';
  if (busy) {
    describe(run, 'Stop what the kernel does for this picture (r)');
  } else if (took === undefined) {
    describe(run, RUN);
  } else {
    run.append(element('small', '', ` ${timeText(took)}`));
    describe(
      run,
      `What a run takes, the median of several; ${runs ? 'run it again (r)' : 'it is of a file, and cannot be run here'}`
    );
  }
}

/** A stage that is not there yet. */
function awaitedStage(name: string): HTMLElement {
  const chip = element('span', 'jv-stage jv-awaited', name);
  chip.title = 'JAX is at work on it: it comes by itself while the cell runs';
  chip.tabIndex = 0;
  chip.setAttribute('aria-label', `${name} is not there yet: ${chip.title}`);
  const dots = element('span', 'jv-dots', '…');
  dots.setAttribute('aria-hidden', 'true');
  chip.append(dots);
  return chip;
}

/** The name of the program; where the document has several, a choice of them. */
function programPicker(source: Document, number: number, actions: BarActions): HTMLElement {
  const { programs } = source;
  if (programs.length < 2) {
    const name = element('span', 'jv-program', programs[number]?.name || 'program');
    name.title = programs[number]?.call ?? '';
    return name;
  }
  const picker = element('select', 'jv-select jv-program');
  picker.setAttribute('aria-label', 'program');
  programs.forEach((program, index) => {
    const option = element('option', '', programName(source, index));
    option.value = String(index);
    option.title = program.call;
    picker.append(option);
  });
  picker.value = String(number);
  picker.title = `${programs[number].call}: one of ${programs.length} programs`;
  picker.addEventListener('change', () => actions.program(Number(picker.value)));
  return picker;
}

/** What is counted of a stage: operations, and for optimized HLO what runs as one piece. */
function countText(source: Document, graph: Graph, kind: string): { short: string; long: string } {
  const operations = graph.kind.reduce((sum, one) => sum + (one === NodeKind.operation ? 1 : 0), 0);
  const long = `${operations} operation${operations === 1 ? '' : 's'}`;
  if (kind !== 'hlo') {
    return { short: String(operations), long };
  }
  const kernels = kernelCount(source, graph);
  const text = `${kernels} kernel${kernels === 1 ? '' : 's'}`;
  return { short: text, long: `${text}, ${long}` };
}

function costs(stage: Stage): string[] {
  return Object.entries(stage.seconds).map(([what, seconds]) => `${what} ${secondsText(seconds)}`);
}

export function secondsText(seconds: number): string {
  if (seconds >= 1) {
    return `${seconds.toPrecision(3)} s`;
  }
  return seconds >= 1e-3 ? `${(seconds * 1e3).toPrecision(3)} ms` : `${(seconds * 1e6).toPrecision(3)} us`;
}
