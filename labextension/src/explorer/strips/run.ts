/** The strip that tells of a run: how long it took in one line, opened for where the time went. */
import type { Document, Graph, Measures } from '../../document/graph.ts';
import { measuredOf, shareText, timeText, wholeOf, whyLonger } from '../../view/measures.ts';
import { bar } from './bars.ts';
import type { Ways } from '../going.ts';
import { button, element } from '../elements.ts';
import { fold } from './fold.ts';
import { roofline } from './roofline.ts';
import { timedLines, type TimedLine } from '../source/lines.ts';
import { stackedRows } from './stacked.ts';
import { titled } from './titled.ts';

export interface RunActions extends Ways {
  /** Colours the picture by time. */
  colour(): void;
}

/** So many lines of the source are listed, those that took most. */
const LISTED = 6;
/** More devices than this have no bar each. */
const DEVICES = 16;

export class RunStrip {
  readonly root = element('section', 'jv-run');

  constructor(
    private readonly source: Document,
    private readonly actions: RunActions,
    measures: Measures | undefined = source.measures[0]
  ) {
    this.root.hidden = !measures;
    this.root.setAttribute('aria-label', 'run');
    if (measures) {
      this.fill(measures);
    }
  }

  private fill(measures: Measures): void {
    const [first, ...rest] = measures.words;
    const { parts, head, more } = fold(
      `${titled(this.source, 'run', measures.program)}: ${first ?? ''}`,
      'Where the time went'
    );
    const words = element('ul', 'jv-run-words');
    words.append(...rest.map(text => element('li', '', text)));
    more.append(words, ...this.slowest(measures), ...devices(measures), ...this.roofline(measures));
    if (Object.keys(measures.figures).length) {
      head.append(button('jv-link', 'colour by time', 'Colour the picture by the time of a run', this.actions.colour));
    }
    this.root.replaceChildren(...parts);
  }

  /** The lines of Python that took most, each with its share as a bar. */
  private slowest(measures: Measures): HTMLElement[] {
    const { stages } = this.source.programs[measures.program];
    // A profile has what was compiled, and nothing that it was compiled from.
    const at = (stages.find(stage => stage.kind === 'jaxpr') ?? stages.at(-1))?.graph;
    const graph: Graph | undefined = at === undefined ? undefined : this.source.graphs[at];
    const measured = graph && measuredOf(this.source, graph);
    if (at === undefined || !measured) {
      return [];
    }
    const whole = wholeOf(measured, 'seconds');
    const lines = timedLines(this.source, graph);
    const table = element('div', 'jv-run-lines');
    table.append(...lines.slice(0, LISTED).map(line => this.line(at, line, whole)));
    const unlinked = measures.seconds.unlinked ?? 0;
    const told = lines.slice(0, LISTED).reduce((sum, line) => sum + line.seconds, 0);
    const others = whole - told - unlinked;
    if (others > 0.005 * whole) {
      table.append(bar('elsewhere', timeText(others), others / whole, shareText(others, whole)));
    }
    if (unlinked > 0) {
      const share = unlinked / whole;
      table.append(bar('made by the compiler', timeText(unlinked), share, shareText(unlinked, whole)));
    }
    const why = whyLonger(measured, lines[0]?.seconds ?? 0);
    return lines.length ? [table, ...(why ? [element('p', 'jv-run-why', why)] : [])] : [];
  }

  private roofline(measures: Measures): HTMLElement[] {
    const program = this.source.programs[measures.program];
    const at = program.stages.find(stage => stage.kind === 'hlo')?.graph;
    const plot =
      at === undefined
        ? null
        : roofline(this.source, this.source.graphs[at], measures, node => this.actions.show(at, [node]));
    return plot ? [plot] : [];
  }

  private line(at: number, line: TimedLine, whole: number): HTMLElement {
    const row = bar(line.label, timeText(line.seconds), line.seconds / whole, shareText(line.seconds, whole), 'button');
    row.title = 'Show where this line went';
    row.addEventListener('click', () => this.actions.show(at, line.nodes));
    return row;
  }
}

/** What each of several devices does in a run. */
function devices({ byDevice }: Measures): HTMLElement[] {
  if (!byDevice || byDevice.device.length < 2) {
    return [];
  }
  const rows = byDevice.device.slice(0, DEVICES).map((device, row) => ({
    name: `device ${device}`,
    seconds: { computing: byDevice.computing[row], waiting: byDevice.waiting[row] }
  }));
  return [
    element('h4', 'jv-strip-title', 'what each device does in a run'),
    stackedRows(rows, ['computing', 'waiting'])
  ];
}
