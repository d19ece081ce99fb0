/** The help: what the marks in the picture mean, each beside a sample of it, and the keys. */
import { button, element } from './elements.ts';
import { keys } from './keys.ts';

/** The class of a sample in the style sheet, what it is called, and what it means. */
const MARKS: readonly (readonly [string, string, string])[] = [
  ['box', 'box', 'one operation, with the type of its value where that is new'],
  ['opens', 'box with +', 'several operations by one name: double click opens it'],
  ['frame', 'frame', 'the inside of an open function, loop or phase'],
  ['stack', 'x24', 'that many copies of the same, folded to one; a click on the number shows all'],
  [
    'label',
    'small label',
    'a constant or an argument that the box beside it reads; with an arrow, where its value goes'
  ],
  ['ghost', 'dashed box', 'an operation that the compiler did not keep, and why'],
  ['turn', 'dashed pill', 'what each turn of a loop starts with: carried over, or one slice'],
  ['carry', 'line with an arrow', 'what the next turn of a loop begins with'],
  [
    'bundle',
    'thick line',
    'several values to or from a phase, gradients, or what is kept for a closed one, with their number'
  ],
  ['stub', 'ends of a line', 'too long to be drawn among the boxes: a box that is selected shows all of it'],
  ['cable', 'dotted line', 'what backward needs of forward, with its size'],
  ['to', 'blue line', 'leads to the selection'],
  ['from', 'dashed blue line', 'what the selection leads to; what has nothing to do with it is pale'],
  ['touched', 'new, gone, changed', 'what the pass of the compiler on the screen did to a box; also fused, moved'],
  ['linked', 'dashed outline', 'belongs with the selected line or operation'],
  ['kernel', 'coloured area', 'boxes that run as one kernel, with its name (k)']
];

/** px between the help and the edges of what it stands in. */
const GAP = 8;
/** px of a picture that have to be in sight for the help to stand in them alone. */
const LEAST = 200;

/** Shows the help, or hides it again. */
export function toggleHelp(help: HTMLElement): void {
  help.hidden = !help.hidden;
  standInSight(help);
}

/** Puts the help where the picture is in sight: a tall one begins above the page, or ends below it. */
function standInSight(help: HTMLElement): void {
  const look = new IntersectionObserver(([{ boundingClientRect: all, intersectionRect: seen }]) => {
    look.disconnect();
    const fits = seen.height >= LEAST;
    help.style.top = `${GAP + (fits ? seen.top - all.top : 0)}px`;
    help.style.bottom = `${GAP + (fits ? all.bottom - seen.bottom : 0)}px`;
  });
  if (help.parentElement) {
    look.observe(help.parentElement);
  }
}

export function makeHelp(close: () => void, tour: () => void): HTMLElement {
  const help = element('div', 'jv-help');
  help.setAttribute('role', 'dialog');
  help.setAttribute('aria-label', 'Keys and marks');
  help.tabIndex = 0;
  help.hidden = true;
  const list = element('dl', 'jv-details');
  for (const [look, mark, meaning] of MARKS) {
    const term = element('dt', '');
    const sample = element('span', `jv-sample jv-sample-${look}`);
    sample.setAttribute('aria-hidden', 'true');
    term.append(sample, mark);
    list.append(term, element('dd', '', meaning));
  }
  for (const { shown, does } of keys) {
    const term = element('dt', '');
    term.append(element('kbd', '', shown));
    list.append(term, element('dd', '', does));
  }
  help.append(button('jv-link jv-help-tour', 'take the tour', 'Five steps through the explorer', tour));
  help.append(button('jv-close', '×', 'Close (Escape)', close), list);
  return help;
}
