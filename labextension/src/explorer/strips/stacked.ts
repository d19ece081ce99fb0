/** Rows of bars that are made of parts, with what the colours mean above them: what devices and processes did. */
import { timeText } from '../../view/measures.ts';
import { element } from '../elements.ts';

/** The kinds of time, with their words. */
const WORDS = {
  computing: 'computes',
  waiting: 'waits for others',
  between: 'between two runs'
} as const;
export type Part = keyof typeof WORDS;

export interface StackedRow {
  readonly name: string;
  readonly seconds: Readonly<Partial<Record<Part, number>>>;
}

/** A row for each name, all to one scale. */
export function stackedRows(rows: readonly StackedRow[], parts: readonly Part[]): HTMLElement {
  const length = ({ seconds }: StackedRow): number => parts.reduce((sum, part) => sum + (seconds[part] ?? 0), 0);
  const whole = Math.max(...rows.map(length), 1e-12);
  const list = element('div', 'jv-process-rows');
  list.append(head(parts), ...rows.map(row => bars(row, parts, whole)));
  return list;
}

/** What the colours and columns mean. */
function head(parts: readonly Part[]): HTMLElement {
  const row = element('div', 'jv-process-row jv-process-head');
  row.append(element('span', ''), element('span', ''));
  for (const part of parts) {
    const cell = element('span', 'jv-run-time');
    cell.append(element('span', `jv-process-key jv-process-${part}`), ` ${WORDS[part]}`);
    row.append(cell);
  }
  return row;
}

function bars({ name, seconds }: StackedRow, parts: readonly Part[], whole: number): HTMLElement {
  const row = element('div', 'jv-process-row');
  const track = element('span', 'jv-process-track');
  for (const part of parts) {
    const filled = element('span', `jv-process-part jv-process-${part}`);
    filled.style.width = `${(100 * (seconds[part] ?? 0)) / whole}%`;
    track.append(filled);
  }
  row.append(element('code', '', name), track);
  row.append(...parts.map(part => element('span', 'jv-run-time', timeText(seconds[part] ?? 0))));
  row.setAttribute('role', 'img');
  row.setAttribute(
    'aria-label',
    `${name}: ${parts.map(part => `${WORDS[part]} ${timeText(seconds[part] ?? 0)}`).join(', ')}`
  );
  return row;
}
