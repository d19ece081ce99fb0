/** The strip of findings below the picture: a line for each, the most severe first, opened for its reason and remedy. */
import type { Document, Finding } from '../../document/graph.ts';
import { programName, programOf } from '../../document/programs.ts';
import { copied } from '../copied.ts';
import { button, describe, element } from '../elements.ts';
import type { Told } from '../kernelLine.ts';
import { rebuildingPart, type Compared } from './rebuilding.ts';
import { plain, spelled } from '../spelled.ts';

export interface FindingActions {
  /** Shows where a finding is. */
  showFinding(finding: Finding): void;
  /** Has an unrolled loop written as a loop of JAX, by its number among the findings of such loops. */
  rebuild(loop: number, told: Told): Promise<Compared | undefined>;
  /** Stops that. */
  stop(): void;
}

/** The kind of those that can be rebuilt. */
const UNROLLED = 'unrolled';
/** So many findings are seen at first; the rest on request. */
const SHOWN = 3;

/** What the colour of a dot says, for those who do not see it. */
const SEVERITY_WORDS = { warning: 'worth mending', advice: 'worth a look', note: 'good to know' } as const;

/** The most severe is told first. */
const SEVERITIES = Object.keys(SEVERITY_WORDS);

/** A dot in the colour of a severity. */
export function severityDot(severity: Finding['severity']): HTMLElement {
  const dot = element('span', `jv-finding-dot jv-is-${severity}`);
  dot.title = SEVERITY_WORDS[severity];
  dot.setAttribute('role', 'img');
  dot.setAttribute('aria-label', SEVERITY_WORDS[severity]);
  return dot;
}

/** A finding with whose it is, in words; nothing where there is one program. */
interface Owned {
  readonly finding: Finding;
  readonly of: string;
}

/** The findings of each program; one that all of several have is told once, after those that only one has. */
function ownedFindings(source: Document): readonly Owned[] {
  const { findings, programs } = source;
  if (programs.length < 2) {
    return findings.map(finding => ({ finding, of: '' }));
  }
  const alike = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { kind, title, text, remedy } = finding;
    const key = JSON.stringify([kind, title, text, remedy]);
    alike.set(key, [...(alike.get(key) ?? []), finding]);
  }
  const all = programs.length === 2 ? 'both' : `all ${programs.length}`;
  const owned = [...alike.values()].map(same => {
    const numbers = [...new Set(same.map(({ graph }) => programOf(source, graph)))];
    const names = numbers.map(number => programName(source, number));
    const shared = numbers.length === programs.length;
    return { finding: same[0], of: shared ? all : names.join(', '), shared };
  });
  const rank = ({ finding, shared }: (typeof owned)[number]): number =>
    SEVERITIES.indexOf(finding.severity) + (shared ? SEVERITIES.length : 0);
  return owned.sort((one, other) => rank(one) - rank(other));
}

/** The nodes of the graph that a finding is about. */
export function nodesOfFinding({ first, size }: Finding): number[] {
  return first.flatMap((start, run) => Array.from({ length: size[run] }, (_, place) => start + place));
}

/** A line of Python to run in a cell, and a button that copies it. */
function actionOf(code: string): HTMLElement {
  const line = element('p', 'jv-finding-action');
  line.append(...copied('In a cell: ', code));
  return line;
}

export class FindingStrip {
  readonly root = element('section', 'jv-findings');
  private readonly rows: HTMLElement[] = [];

  constructor(
    source: Document,
    private readonly actions: FindingActions
  ) {
    const { findings } = source;
    this.root.hidden = findings.length === 0;
    this.root.setAttribute('aria-label', 'findings');
    // What was opened from a file has no function to be written anew.
    const rebuilt = source.programs.length === 1 && source.programs[0].stages.some(({ kind }) => kind === 'jaxpr');
    const loops = rebuilt ? findings.filter(({ kind }) => kind === UNROLLED) : [];
    this.rows = ownedFindings(source).map(owned => this.row(owned, loops.indexOf(owned.finding)));
    this.root.append(...this.rows);
    this.fold(this.rows.length > SHOWN);
  }

  private row({ finding, of }: Owned, loop: number): HTMLElement {
    const row = element('div', 'jv-finding');
    const head = element('div', 'jv-finding-head');
    const reason = element('div', 'jv-finding-reason');
    reason.hidden = true;
    const [text, remedy] = [element('p', ''), element('p', 'jv-finding-remedy')];
    text.append(...spelled(finding.text));
    remedy.append(...spelled(finding.remedy));
    remedy.hidden = finding.remedy === '';
    reason.append(text, remedy);
    if (loop >= 0) {
      reason.append(
        rebuildingPart({ rebuild: told => this.actions.rebuild(loop, told), stop: () => this.actions.stop() })
      );
    }
    if (finding.action) {
      reason.append(actionOf(finding.action));
    }
    const whose = of && `${of}: `;
    const title = whose + plain(finding.title);
    const why = button('jv-finding-title', '', `${title}: why, and what to do`, () => {
      reason.hidden = !reason.hidden;
      why.setAttribute('aria-expanded', String(!reason.hidden));
    });
    why.append(element('span', 'jv-finding-of', whose), ...spelled(finding.title));
    why.setAttribute('aria-expanded', 'false');
    const show = button('jv-link', 'show', `Show where: ${title}`, () => this.actions.showFinding(finding));
    head.append(severityDot(finding.severity), why, show);
    row.append(head, reason);
    return row;
  }

  /** Hides all but the first findings behind a button that says how many there are. */
  private fold(folded: boolean): void {
    if (!folded) {
      return;
    }
    const rest = this.rows.slice(SHOWN);
    const more = button('jv-link jv-finding-more', '', '', () => show(rest[0].hidden));
    const show = (shown: boolean): void => {
      rest.forEach(row => (row.hidden = !shown));
      more.textContent = shown ? 'fewer' : `${rest.length} more`;
      describe(more, shown ? `Show the first ${SHOWN} findings alone` : `Show ${rest.length} more findings`);
      more.setAttribute('aria-expanded', String(shown));
    };
    show(false);
    this.root.append(more);
  }
}
