/** The help: what the marks in the picture mean, and the keys. */
import { button, element } from './elements.ts';
import { keys } from './keys.ts';

const MARKS: readonly (readonly [string, string])[] = [
  ['box', 'one operation, with the type of its value where that is new'],
  ['box with +', 'a function or a loop that opens'],
  ['number in a corner', 'so many copies of the same; a click shows all of them'],
  ['coloured area', 'boxes that run as one kernel, with its name (k)'],
  ['frame', 'the inside of an open function or loop'],
  ['small label', 'a constant or an argument that the box beside it reads; with an arrow, where its value goes'],
  ['dashed box', 'an operation that the compiler did not keep, and why'],
  ['dashed outline', 'belongs with the selected line or operation'],
  ['blue line with an arrow', 'what the next turn of a loop begins with'],
  ['dashed pill', 'what each turn of a loop starts with: carried over, or one slice']
];

export function makeHelp(close: () => void): HTMLElement {
  const help = element('div', 'jv-help');
  help.setAttribute('role', 'dialog');
  help.setAttribute('aria-label', 'Keys and marks');
  help.hidden = true;
  const list = element('dl', 'jv-details');
  for (const [mark, meaning] of MARKS) {
    list.append(element('dt', '', mark), element('dd', '', meaning));
  }
  for (const { shown, does } of keys) {
    const term = element('dt', '');
    term.append(element('kbd', '', shown));
    list.append(term, element('dd', '', does));
  }
  help.append(button('jv-close', '×', 'Close (Escape)', close), list);
  return help;
}
