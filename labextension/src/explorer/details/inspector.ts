/** The pane on the right: everything about the selected node. */
import type { Details, Link, Place } from './details.ts';
import { button, element } from '../elements.ts';
import { nodesIn } from './pathTree.ts';
import { makePathTree } from './pathTreeList.ts';
import { breakInWords } from '../wordBreaks.ts';

const STAGES: Readonly<Record<string, string>> = { jaxpr: 'in jaxpr', stablehlo: 'in StableHLO', hlo: 'in HLO' };

/** Lists longer than this are cut, with the number of what is left. */
const MOST_LINKS = 12;
/** Of a list that is cut, so many are told: those to begin with. */
const FIRST_LINKS = 6;
/** Of the lines that something comes from too, so many are shown with their text. */
const MOST_LINES = 3;

export interface InspectorActions {
  /** Goes to another node, or to a row of the outline that holds it. */
  select(node: number, row?: number): void;
  /** Goes to a node of another stage. */
  follow(graph: number, node: number): void;
  /** Goes to the same instruction after another pass. */
  pass(number: number): void;
  /** Opens or closes the node's regions. */
  toggle(): void;
  close(): void;
}

/** Fills `pane` with the details of a node. */
export function showDetails(pane: HTMLElement, details: Details, open: boolean, actions: InspectorActions): void {
  pane.replaceChildren();
  const head = element('div', 'jv-inspector-head');
  head.append(breakInWords(element('h4', 'jv-inspector-title', details.title)));
  head.append(button('jv-close', '×', 'Close the details (Escape)', () => actions.close()));
  pane.append(head);

  const list = element('dl', 'jv-details');
  const row = (term: string, ...content: (Node | string)[]): void => {
    const value = element('dd', '');
    value.append(...content);
    list.append(breakInWords(element('dt', '', term)), value);
  };
  if (details.kind) {
    row('operation', details.kind);
  }
  for (const { how, from } of details.origins) {
    row(how, ...links([from], actions, ''));
  }
  alike(details.values).forEach(({ type, size, times }, index) => {
    const told = times > 1 ? `${times} x ${size}`.trim() : size;
    row(
      index === 0 ? (details.values.length > 1 ? 'values' : 'value') : '',
      code(type),
      told ? element('small', '', told) : ''
    );
  });
  if (details.operations > 0) {
    const label = open ? 'close' : 'open';
    row(
      'made of',
      `${details.operations} operation${details.operations === 1 ? '' : 's'} `,
      button('jv-link', label, `${label} (Enter)`, () => actions.toggle())
    );
  }
  const own = ownPlace(details.places);
  // What is the whole line is told by that.
  if (details.code && !(own && spaced(own.text).includes(spaced(details.code).replace(/\.?…$/, '')))) {
    row('source', code(details.code));
  }
  if (details.inside.length) {
    row('inside', ...links(details.inside, actions, ' › '));
  }
  if (details.places.length) {
    row('from', ...places(details.places));
  }
  if (details.otherPlaces.length) {
    row('and from', ...otherPlaces(details.otherPlaces));
  }
  const { fate } = details;
  if (fate) {
    const mark = element('span', `jv-mark jv-${fate.mark}`, fate.mark);
    const by = fate.by >= 0 ? [fate.byLead, link(fate.byText, () => actions.select(fate.by))] : [];
    row('fate', mark, ` ${fate.text}`, ...by);
  }
  for (const { term, text, note } of details.measures ?? []) {
    row(term, breakInWords(element('span', '', text)), note ? element('small', '', note) : '');
  }
  for (const { graph, kind, program, links: linked, surety } of details.stages) {
    const shown = links(linked, { ...actions, select: node => actions.follow(graph, node) }, ', ');
    row(
      program ? `in ${program}` : (STAGES[kind] ?? kind),
      ...shown,
      surety ? element('small', 'jv-surety', surety) : ''
    );
  }
  if (details.story?.length) {
    const story = details.story.map(({ number, pass, text }) => {
      const line = element('div', 'jv-place');
      line.append(
        link(pass, () => actions.pass(number)),
        `: ${text}`
      );
      return line;
    });
    row('passes', ...story);
  }
  if (details.scope) {
    row('scope', code(details.scope));
  }
  const { tree, readTrees = [] } = details;
  const inTrees = new Set(readTrees.flatMap(nodesIn));
  const reads = details.reads.filter(({ node }) => !inTrees.has(node));
  if (reads.length) {
    // Beside a name alone, as of `mean`, `reads` would be a sentence.
    row('reads from', ...links(reads, actions, ', '));
  }
  for (const one of tree ? [tree] : readTrees) {
    list.append(element('dt', '', tree ? 'part of' : 'reads of'));
    const wide = element('dd', 'jv-has-paths');
    wide.append(makePathTree(one, tree ? (details.node ?? -1) : -1, node => actions.select(node)));
    list.append(wide);
  }
  if (details.readBy.length) {
    row('read by', ...links(details.readBy, actions, ', '));
  }
  for (const { key, value } of details.parameters) {
    row(key, code(value, 'jv-parameter'));
  }
  pane.append(list);
}

function links(
  all: readonly (Link | { node: -1; text: string; row?: never })[],
  actions: InspectorActions,
  between: string
): (Node | string)[] {
  const made: (Node | string)[] = [];
  const shown = all.length > MOST_LINKS ? FIRST_LINKS : all.length;
  all.slice(0, shown).forEach(({ node, text, row }, index) => {
    const last = index === all.length - 1;
    const name =
      node < 0 ? element('code', '', text) : button('jv-link', text, `Go to ${text}`, () => actions.select(node, row));
    // What follows a name stays on its line, however long the name is.
    const one = element('span', 'jv-listed');
    one.append(name, last ? '' : between.trimEnd());
    made.push(one, last ? '' : ' ');
  });
  if (all.length > shown) {
    made.push(` and ${all.length - shown} more`);
  }
  return made;
}

/** Values of the same type in one line, in the order in which the first of each comes. */
function alike(values: Details['values']): readonly (Details['values'][number] & { readonly times: number })[] {
  const times = new Map<string, number>();
  values.forEach(({ type }) => times.set(type, (times.get(type) ?? 0) + 1));
  return [...new Map(values.map(value => [value.type, value])).values()].map(value => ({
    ...value,
    times: times.get(value.type) ?? 1
  }));
}

function ownPlace(all: readonly Place[]): Place | undefined {
  return all.find(place => !place.library) ?? all[0];
}

function code(text: string, className = ''): HTMLElement {
  return breakInWords(element('code', className, text));
}

function link(text: string, go: () => void): HTMLElement {
  return breakInWords(button('jv-link', text, `Go to ${text}`, go));
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The lines that other equations come from, the first few in full. */
function otherPlaces(all: readonly Place[]): Node[] {
  const made = all.slice(0, MOST_LINES).map(({ line, file, text }) => {
    const place = breakInWords(element('div', 'jv-place', `line ${line}, ${file}`));
    if (text) {
      place.append(code(text, 'jv-source'));
    }
    return place;
  });
  const rest = all.slice(MOST_LINES);
  if (rest.length) {
    const more = element('div', 'jv-place', `and ${rest.length} more line${rest.length === 1 ? '' : 's'}`);
    more.title = rest.map(({ line, file }) => `line ${line}, ${file}`).join('\n');
    made.push(more);
  }
  return made;
}

/** The person's own innermost line first and in full, the rest of the stack below it. */
function places(all: readonly Place[]): Node[] {
  const own = ownPlace(all) as Place;
  const made: Node[] = [breakInWords(element('div', 'jv-place', `line ${own.line}, ${own.file}`))];
  made[0].appendChild(breakInWords(element('small', '', ` in ${own.function}`)));
  if (own.text) {
    made.push(code(own.text, 'jv-source'));
  }
  const rest = all.filter(place => place !== own);
  if (rest.length) {
    const stack = element('details', 'jv-stack');
    stack.append(element('summary', '', `${rest.length} more call${rest.length === 1 ? '' : 's'}`));
    for (const place of rest) {
      const line = breakInWords(element('div', 'jv-place', `${place.file}:${place.line} ${place.function}`));
      line.title = [place.path, place.text].filter(Boolean).join('\n');
      stack.append(line);
    }
    made.push(stack);
  }
  return made;
}
