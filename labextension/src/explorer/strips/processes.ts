/**
 * The strip that tells of several processes: for each program a bar for each process, of what its devices compute, of
 * what they wait for others, and of what passes between two runs.
 */
import type { Document, Process } from '../../document/graph.ts';
import { timeText } from '../../view/measures.ts';
import { element } from '../elements.ts';
import { fold } from './fold.ts';
import { stackedRows, type Part } from './stacked.ts';

/** So many processes have a bar: of more, those that wait least and most. */
const LISTED = 16;

interface Row {
  readonly process: Process;
  readonly runs: number;
  readonly seconds: Readonly<Record<Part, number>>;
}

export function processesStrip(document: Document): HTMLElement {
  const root = element('section', 'jv-processes');
  root.setAttribute('aria-label', 'processes');
  const { processes } = document;
  root.hidden = processes.length === 0;
  if (!processes.length) {
    return root;
  }
  const { parts, more } = fold(headline(document), 'What each process did');
  for (const program of new Set(processes.flatMap(({ runs }) => runs.program))) {
    more.append(...table(program, rowsOf(processes, program)));
  }
  const notes = element('ul', 'jv-run-words');
  notes.append(...processes.map(process => element('li', '', said(process))));
  more.append(notes);
  root.append(...parts);
  return root;
}

function headline({ processes, findings }: Document): string {
  const hosts = new Set(processes.map(({ host }) => host)).size;
  const late = findings.find(({ kind }) => kind === 'unfinished') ?? findings.find(({ kind }) => kind === 'straggler');
  return `processes: ${counted(processes.length, 'process', 'processes')} on ${counted(hosts, 'host', 'hosts')}${late ? `; ${late.title}` : ''}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How each process ran a program: the means of its devices. */
function rowsOf(processes: readonly Process[], program: string): Row[] {
  const rows = processes.flatMap(process => {
    const { runs } = process;
    const own = runs.program.flatMap((name, row) => (name === program ? [row] : []));
    const mean = (column: readonly number[]): number => own.reduce((sum, row) => sum + column[row], 0) / own.length;
    return own.length
      ? [
          {
            process,
            runs: Math.max(...own.map(row => runs.runs[row])),
            seconds: { computing: mean(runs.computing), waiting: mean(runs.waiting), between: mean(runs.between) }
          }
        ]
      : [];
  });
  if (rows.length <= LISTED) {
    return rows;
  }
  const byWait = [...rows].sort((one, other) => one.seconds.waiting - other.seconds.waiting);
  const kept = new Set([...byWait.slice(0, LISTED / 2), ...byWait.slice(-LISTED / 2)]);
  return rows.filter(row => kept.has(row));
}

function table(program: string, rows: readonly Row[]): HTMLElement[] {
  const runs = Math.max(...rows.map(row => row.runs));
  const named = rows.map(({ process, seconds }) => ({ name: `process ${process.index}`, seconds }));
  return [
    element('h4', 'jv-strip-title', `${program}, ${counted(runs, 'run', 'runs')}: a median run`),
    stackedRows(named, ['computing', 'waiting', 'between'])
  ];
}

function said({ index, host, device, devices, compiled, notes, began, seen }: Process): string {
  const where = devices > 1 ? `${devices} x ${device}` : device;
  const cost = [...compiled.trace, ...compiled.lower, ...compiled.compile].reduce((sum, seconds) => sum + seconds, 0);
  const count = compiled.name.length;
  const made = count ? `compiled ${counted(count, 'program', 'programs')} in ${timeText(cost)}` : 'compiled nothing';
  const ended = seen === undefined ? [] : [`did not finish: last seen ${timeText(seen - began)} after it began`];
  return [`process ${index} on ${[host, where].filter(Boolean).join(', ')}: ${made}`, ...ended, ...notes].join('; ');
}
