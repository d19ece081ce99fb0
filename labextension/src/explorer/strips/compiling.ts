/**
 * The strip that tells what compiling cost: in one line, opened for the timeline, for where tracing spent its time, for
 * the passes and functions that cost most, and for the curve of a loop over its number of turns.
 */
import type { Compiling, Document } from '../../document/graph.ts';
import { shareText, timeText } from '../../view/measures.ts';
import { bar } from './bars.ts';
import { turnsCurve } from './curve.ts';
import { element } from '../elements.ts';
import { fold } from './fold.ts';
import { sourceFiles, type SourceLine } from '../source/lines.ts';
import { titled } from './titled.ts';

/** So many rows of a list are shown, those that cost most. */
const LISTED = 6;
/** A pass that takes a smaller share of compiling is not worth a row. */
const LEAST_SHARE = 0.002;
/** Narrower than these shares of the whole, a part of the timeline has no room for its time, or for its name. */
const TIMED_SHARE = 0.14;
const NAMED_SHARE = 0.05;

export interface CompilingActions {
  /** Shows nodes of a graph. */
  show(graph: number, nodes: readonly number[]): void;
}

export class CompilingStrip {
  readonly root = element('section', 'jv-compiling');

  constructor(
    private readonly source: Document,
    private readonly actions: CompilingActions,
    compiling: Compiling | undefined = source.compiling[0]
  ) {
    this.root.hidden = !compiling;
    this.root.setAttribute('aria-label', 'compile cost');
    if (compiling) {
      this.fill(compiling);
    }
  }

  private fill(compiling: Compiling): void {
    const [first, ...rest] = compiling.words;
    const { parts, more } = fold(
      `${titled(this.source, 'compile', compiling.program)}: ${first ?? ''}`,
      'What compiling cost'
    );
    const words = element('ul', 'jv-run-words');
    words.append(...rest.map(text => element('li', '', text)));
    more.append(timeline(compiling), words, ...this.traced(compiling), ...passes(compiling), ...functions(compiling));
    if (compiling.curve) {
      more.append(turnsCurve(compiling.curve));
    }
    this.root.replaceChildren(...parts);
  }

  /** The lines of Python in which tracing spent its time. */
  private traced({ program, lines, steps }: Compiling): HTMLElement[] {
    const whole = steps.seconds[steps.kind.indexOf('trace')] ?? 0;
    const at = this.source.programs[program].stages.find(({ kind }) => kind === 'jaxpr')?.graph;
    if (at === undefined || !whole || !lines.seconds.length) {
      return [];
    }
    const known = new Map<string, SourceLine>();
    for (const file of sourceFiles(this.source, this.source.graphs[at])) {
      file.lines.forEach(line => known.set(`${file.path}:${line.number}`, line));
    }
    const rows = lines.seconds.slice(0, LISTED).map((seconds, row) => {
      const line = known.get(`${lines.file[row]}:${lines.line[row]}`);
      const text = line ? line.text.trim() : (lines.file[row].split(/[\\/]/).pop() ?? '');
      const shown = bar(
        `${lines.line[row]}  ${text}`,
        timeText(seconds),
        seconds / whole,
        shareText(Math.min(seconds, whole), whole),
        line?.nodes.length ? 'button' : 'div'
      );
      if (line?.nodes.length) {
        shown.title = 'Show what this line became';
        shown.addEventListener('click', () => this.actions.show(at, line.nodes));
      }
      return shown;
    });
    return list('where tracing spent its time, with all that is called from there', rows);
  }
}

/** The steps as bars over time, each below the one that it is a part of. */
function timeline({ steps }: Compiling): HTMLElement {
  const end = Math.max(...steps.start.map((start, row) => start + steps.seconds[row]));
  const figure = element('figure', 'jv-timeline');
  const depths = steps.parent.map((_, row) => depthOf(steps.parent, row));
  const rows = Array.from({ length: Math.max(...depths) + 1 }, () => element('div', 'jv-timeline-row'));
  steps.name.forEach((name, row) => {
    const share = steps.seconds[row] / end;
    const said = `${name}: ${timeText(steps.seconds[row])}, ${shareText(steps.seconds[row], end)}`;
    const shown = share > TIMED_SHARE ? said : share > NAMED_SHARE ? name : '';
    const part = element('span', `jv-timeline-part jv-timeline-${steps.kind[row]}`, shown);
    part.style.left = `${(100 * steps.start[row]) / end}%`;
    part.style.width = `${100 * share}%`;
    part.title = said;
    part.tabIndex = 0;
    part.setAttribute('role', 'img');
    part.setAttribute('aria-label', said);
    rows[depths[row]].append(part);
  });
  figure.append(...rows);
  const caption = element('figcaption', '', `from the call to code that can run: ${timeText(end)}`);
  figure.append(caption);
  return figure;
}

function depthOf(parents: readonly number[], row: number): number {
  let depth = 0;
  for (let at = parents[row]; at >= 0; at = parents[at]) {
    depth++;
  }
  return depth;
}

function passes({ passes: all, steps }: Compiling): HTMLElement[] {
  const whole = steps.seconds[steps.kind.indexOf('optimize')] ?? 0;
  const rows = all.name
    .map((name, row) => ({ name, seconds: all.seconds[row], runs: all.runs[row] }))
    .filter(({ seconds }) => seconds > LEAST_SHARE * whole)
    .slice(0, LISTED)
    .map(({ name, seconds, runs }) =>
      bar(runs > 1 ? `${name} ×${runs}` : name, timeText(seconds), seconds / whole, shareText(seconds, whole))
    );
  return list('the passes of the optimizer that took most', rows);
}

function functions({ functions: all }: Compiling): HTMLElement[] {
  const seconds = all.name.map((_, row) => all.trace[row] + all.lower[row] + all.compile[row]);
  const most = Math.max(...seconds);
  const rows = all.name.slice(0, LISTED).map((name, row) => {
    const count = all.calls[row] > 1 ? `${name} ×${all.calls[row]}` : name;
    const shown = bar(count, timeText(seconds[row]), seconds[row] / most, `${all.equations[row]} eqns`);
    shown.title = `traced ${timeText(all.trace[row])}, lowered ${timeText(all.lower[row])}, compiled ${timeText(all.compile[row])}`;
    return shown;
  });
  return list('functions jitted inside, each compiled by itself', rows);
}

function list(title: string, rows: readonly HTMLElement[]): HTMLElement[] {
  if (!rows.length) {
    return [];
  }
  const table = element('div', 'jv-run-lines');
  table.append(...rows);
  return [element('h4', 'jv-strip-title', title), table];
}
