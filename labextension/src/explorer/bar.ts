/** The bar on top: the program, its stages, and a few buttons. */
import { NodeKind, type Document } from '../document/graph.ts';
import { button, element } from './elements.ts';

export interface BarActions {
  fit(): void;
  openAll(): void;
  closeAll(): void;
  expand(): void;
  help(): void;
}

export interface Bar {
  readonly root: HTMLElement;
  /** Shows the buttons that open and close only where there is something to open. */
  setRegions(any: boolean): void;
  setExpanded(expanded: boolean): void;
}

export function makeBar(source: Document, actions: BarActions): Bar {
  const root = element('div', 'jv-bar');
  const program = source.programs[0];
  const name = element('span', 'jv-program', program?.name ?? 'program');
  name.title = program?.call ?? '';
  root.append(name);
  for (const stage of program?.stages ?? []) {
    const { kind } = source.graphs[stage.graph];
    const operations = kind.reduce((sum, one) => sum + (one === NodeKind.operation ? 1 : 0), 0);
    const chip = element('span', 'jv-stage jv-on', stage.kind);
    chip.append(element('small', '', ` ${operations}`));
    const times = Object.entries(stage.seconds).map(([what, seconds]) => `${what} ${secondsText(seconds)}`);
    chip.title = [`${operations} operation${operations === 1 ? '' : 's'}`, ...times].join(', ');
    root.append(chip);
  }
  root.append(element('span', 'jv-space'));
  const regions = [
    button('jv-button', 'open all', 'Open every region (e)', () => actions.openAll()),
    button('jv-button', 'close all', 'Close every region (c)', () => actions.closeAll())
  ];
  const expand = button('jv-button', 'expand', 'Use the whole window (w)', () => actions.expand());
  root.append(
    ...regions,
    button('jv-button', 'fit', 'Fit the picture (f)', () => actions.fit()),
    expand,
    button('jv-button', '?', 'Keys and marks (?)', () => actions.help())
  );
  return {
    root,
    setRegions: any => regions.forEach(one => (one.hidden = !any)),
    setExpanded: expanded => {
      expand.textContent = expanded ? 'back' : 'expand';
      expand.title = expanded ? 'Back into the page (Escape)' : 'Use the whole window (w)';
      expand.setAttribute('aria-label', expand.title);
    }
  };
}

export function secondsText(seconds: number): string {
  if (seconds >= 1) {
    return `${seconds.toPrecision(3)} s`;
  }
  return seconds >= 1e-3 ? `${(seconds * 1e3).toPrecision(3)} ms` : `${(seconds * 1e6).toPrecision(3)} us`;
}
