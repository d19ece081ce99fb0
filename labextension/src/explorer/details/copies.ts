/** The copies of a stack as a table: one line for each, with what tells it from the others. */
import type { CopyTable } from '../../view/differences.ts';
import { button, element } from '../elements.ts';

/** More lines than this are counted. */
const MOST_LINES = 400;

const HEADINGS: Readonly<Record<string, string>> = {
  reads: 'reads',
  makes: 'makes',
  type: 'value',
  constant: 'constant'
};

export interface CopyActions {
  /** Shows all copies in the picture, or the first one alone again. */
  spread(): void;
  /** Goes to one copy. */
  select(row: number): void;
}

/** Rows for the list of details. */
export function makeCopies(table: CopyTable, spread: boolean, actions: CopyActions): HTMLElement[] {
  const { columns, lines } = table;
  const label = spread ? 'show one' : 'show all';
  const count = element('dd', '', `${lines.length} `);
  count.append(button('jv-link', label, `${label} (u)`, () => actions.spread()));
  const told = [element('dt', '', 'copies'), count];
  return columns.length ? [...told, makeTable(table, actions)] : told;
}

function makeTable({ columns, lines }: CopyTable, actions: CopyActions): HTMLElement {
  const body = element('table', '');
  const titles = element('tr', '');
  titles.append(element('th', '', ''), ...columns.map(({ is, begins }) => heading(HEADINGS[is] ?? is, begins)));
  body.append(titles);
  lines.slice(0, MOST_LINES).forEach(({ row, cells }, i) => {
    const line = element('tr', '');
    const number = element('td', '');
    number.append(button('jv-link', String(i + 1), `Go to copy ${i + 1}`, () => actions.select(row)));
    line.append(number, ...cells.map(cell));
    body.append(line);
  });
  const scroll = element('div', 'jv-copies-lines');
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'group');
  scroll.setAttribute('aria-label', 'what differs between the copies');
  scroll.append(body);
  if (lines.length > MOST_LINES) {
    scroll.append(element('small', '', `and ${lines.length - MOST_LINES} more`));
  }
  const told = element('dd', 'jv-copies');
  told.append(scroll);
  return told;
}

/** All words of a column begin alike: that is said once, above. */
function heading(is: string, begins: string): HTMLElement {
  const title = element('th', '', is);
  if (begins) {
    title.append(' ', element('code', '', `${begins}…`));
  }
  return title;
}

function cell(text: string): HTMLElement {
  const made = element('td', '');
  made.append(element('code', '', text));
  made.title = text;
  return made;
}
