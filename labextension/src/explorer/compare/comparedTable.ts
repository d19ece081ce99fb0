/** Two programs in figures: what they are made of, what each step from Python to a run costs, and which is better at it. */
import { NodeKind, type Document } from '../../document/graph.ts';
import { comparedLinks, programName } from '../../document/programs.ts';
import { kernelCount } from '../../view/kernels.ts';
import { figuredOf, flopsText, short, timeText, wholeOf } from '../../view/measures.ts';
import { bytesText } from '../../view/words.ts';
import { element } from '../elements.ts';

/** Figures that differ by less than this factor are about the same: times are never equal. */
const ABOUT_THE_SAME = 1.1;
/** A single time says little: another one would differ, and what is traced first warms JAX up for the second. */
const ONCE_ABOUT_THE_SAME = 1.5;

const COLLECTIVE = /^(all-gather|all-reduce|(ragged-)?all-to-all|collective-\w+|reduce-scatter)(-start)?$/;

interface Unit {
  readonly text: (amount: number) => string;
  /** What the second is where it is below the first, and where it is above. */
  readonly below: string;
  readonly above: string;
  /** Below this factor there is no difference; 1 where any is one. */
  readonly least: number;
  /** What is said of how sure that is. */
  readonly aside?: string;
}

const COUNT: Unit = { text: amount => amount.toLocaleString('en'), below: 'fewer', above: 'more', least: 1 };
const TIME: Unit = { text: timeText, below: 'faster', above: 'slower', least: ABOUT_THE_SAME };
const ONCE: Unit = { ...TIME, least: ONCE_ABOUT_THE_SAME, aside: ', measured once' };
const FLOPS: Unit = { ...COUNT, text: flopsText };
const BYTES: Unit = { text: bytesText, below: 'less', above: 'more', least: 1 };

interface Line {
  readonly what: string;
  readonly unit: Unit;
  /** Of one program; undefined where it is not known. */
  readonly amount: (document: Document, program: number) => number | undefined;
}

const LINES: readonly Line[] = [
  { what: 'equations', unit: COUNT, amount: (document, program) => operations(document, program, 'jaxpr') },
  { what: 'kernels', unit: COUNT, amount: kernels },
  { what: 'FLOPs', unit: FLOPS, amount: (document, program) => figure(document, program, 'flops') },
  { what: 'read and written', unit: BYTES, amount: (document, program) => figure(document, program, 'bytes') },
  { what: 'exchanges between devices', unit: COUNT, amount: collectives },
  { what: 'trace', unit: ONCE, amount: (document, program) => seconds(document, program, 'jaxpr', 'trace') },
  { what: 'lower', unit: ONCE, amount: (document, program) => seconds(document, program, 'stablehlo', 'lower') },
  { what: 'optimize', unit: ONCE, amount: (document, program) => seconds(document, program, 'hlo', 'optimize') },
  { what: 'compile', unit: ONCE, amount: (document, program) => measured(document, program)?.compile },
  { what: 'run, median', unit: TIME, amount: (document, program) => measured(document, program)?.median },
  {
    what: 'temporary memory',
    unit: BYTES,
    amount: (document, program) => document.memory.find(memory => memory.program === program)?.temporary
  }
];

/** The table; hidden where a document is no comparison, or nothing is known of both. */
export function comparedTable(document: Document): HTMLElement {
  const strip = element('section', 'jv-compared');
  strip.setAttribute('aria-label', 'both programs in figures');
  const lines = comparedLinks(document).length ? LINES.flatMap(line => row(document, line)) : [];
  strip.hidden = !lines.length;
  if (lines.length) {
    const table = element('table', 'jv-compared-table');
    const head = element('tr', '');
    const names = [0, 1].map(program => {
      const name = element('th', '', programName(document, program));
      name.scope = 'col';
      return name;
    });
    head.append(element('td', ''), ...names, element('td', ''));
    table.append(head, ...lines);
    strip.append(table);
  }
  return strip;
}

function row(document: Document, { what, unit, amount }: Line): HTMLElement[] {
  const [one, other] = [amount(document, 0), amount(document, 1)];
  // What neither has is nothing to compare.
  if (one === undefined || other === undefined || (one === 0 && other === 0)) {
    return [];
  }
  const line = element('tr', '');
  const name = element('th', '', what);
  name.scope = 'row';
  const { text, look } = verdict(one, other, unit);
  line.append(
    name,
    element('td', '', unit.text(one)),
    element('td', '', unit.text(other)),
    element('td', `jv-verdict ${look}`, text)
  );
  return [line];
}

/** How the second is against the first, in words. */
export function verdict(one: number, other: number, unit: Unit): { readonly text: string; readonly look: string } {
  const [least, most] = [Math.min(one, other), Math.max(one, other)];
  if (one === other) {
    return { text: 'equal', look: '' };
  }
  if (most < least * unit.least) {
    return { text: 'about the same', look: '' };
  }
  const [word, look] = other < one ? [unit.below, 'jv-better'] : [unit.above, 'jv-worse'];
  const factor = least > 0 && most >= least * ABOUT_THE_SAME ? `${factorText(most / least)}x ` : '';
  return { text: factor + word + (unit.aside ?? ''), look };
}

/** Two digits: more would say more than a time does. */
function factorText(factor: number): string {
  return factor >= 10 ? short(Math.round(factor)) : String(Number(factor.toPrecision(2)));
}

function graphOf(document: Document, program: number, kind: string): number | undefined {
  return document.programs[program]?.stages.find(stage => stage.kind === kind)?.graph;
}

function operations(document: Document, program: number, kind: string): number | undefined {
  const graph = graphOf(document, program, kind);
  return graph === undefined
    ? undefined
    : document.graphs[graph].kind.reduce((sum, one) => sum + (one === NodeKind.operation ? 1 : 0), 0);
}

function kernels(document: Document, program: number): number | undefined {
  const graph = graphOf(document, program, 'hlo');
  return graph === undefined ? undefined : kernelCount(document, document.graphs[graph]);
}

/** What the kernels compute or move, in a run or by their shapes. */
function figure(document: Document, program: number, of: 'flops' | 'bytes'): number | undefined {
  const graph = graphOf(document, program, 'hlo');
  const figured = graph === undefined ? null : figuredOf(document, document.graphs[graph], of);
  return figured ? wholeOf(figured, of) : undefined;
}

/** How many operations of optimized HLO are between devices; one that begins and ends apart counts once. */
function collectives(document: Document, program: number): number | undefined {
  const graph = graphOf(document, program, 'hlo');
  const { strings } = document;
  return graph === undefined
    ? undefined
    : document.graphs[graph].op.reduce((sum, op) => sum + (COLLECTIVE.test(strings[op]) ? 1 : 0), 0);
}

function seconds(document: Document, program: number, kind: string, what: string): number | undefined {
  return document.programs[program]?.stages.find(stage => stage.kind === kind)?.seconds[what];
}

function measured(document: Document, program: number): Readonly<Record<string, number>> | undefined {
  return document.measures.find(measures => measures.program === program)?.seconds;
}
