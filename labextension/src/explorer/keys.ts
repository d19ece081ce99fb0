/** The keys of the picture: one table, which the help shows and the explorer obeys. */

export type Command =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'toggle'
  | 'closeRegion'
  | 'spread'
  | 'kernels'
  | 'leave'
  | 'source'
  | 'text'
  | 'jaxpr'
  | 'stablehlo'
  | 'passes'
  | 'passBefore'
  | 'passAfter'
  | 'hlo'
  | 'fit'
  | 'zoomIn'
  | 'zoomOut'
  | 'openAll'
  | 'closeAll'
  | 'expand'
  | 'path'
  | 'colour'
  | 'copy'
  | 'export'
  | 'search'
  | 'table'
  | 'compare'
  | 'run'
  | 'nextDifference'
  | 'differenceBefore'
  | 'help';

export interface Key {
  /** As `KeyboardEvent.key` has it. */
  readonly keys: readonly string[];
  readonly command: Command;
  /** For the help: how the key is written, and what it does. */
  readonly shown: string;
  readonly does: string;
}

export const keys: readonly Key[] = [
  { keys: ['ArrowUp'], command: 'up', shown: '↑', does: 'to what the box reads' },
  { keys: ['ArrowDown'], command: 'down', shown: '↓', does: 'to what reads the box' },
  { keys: ['ArrowLeft'], command: 'left', shown: '←', does: 'to the left' },
  { keys: ['ArrowRight'], command: 'right', shown: '→', does: 'to the right' },
  { keys: ['Enter'], command: 'toggle', shown: 'Enter', does: 'open or close a region (or double click)' },
  { keys: ['Backspace'], command: 'closeRegion', shown: 'Backspace', does: 'close the region around' },
  {
    keys: ['u', 'U'],
    command: 'spread',
    shown: 'u',
    does: 'all copies of a stack, or one again (or click its number)'
  },
  {
    keys: ['k', 'K'],
    command: 'kernels',
    shown: 'k',
    does: 'what runs as one kernel: an area behind it; optimized HLO by its kernels'
  },
  {
    keys: ['Escape'],
    command: 'leave',
    shown: 'Escape',
    does: 'let go; of nothing any more: back to the cell, in a notebook'
  },
  { keys: ['1'], command: 'source', shown: '1', does: 'the Python source; where there is none, as t' },
  {
    keys: ['t', 'T'],
    command: 'text',
    shown: 't',
    does: 'the text of the stage: jaxpr, StableHLO or HLO, in the place of the source; a name leads to where it is made (→ into what a line calls), Backspace back, Space folds what stands inside a line'
  },
  { keys: ['2'], command: 'jaxpr', shown: '2', does: 'the jaxpr' },
  { keys: ['3'], command: 'stablehlo', shown: '3', does: 'StableHLO' },
  { keys: ['4'], command: 'passes', shown: '4', does: 'the passes of the compiler, where they were asked for' },
  { keys: [','], command: 'passBefore', shown: ',', does: 'the pass before' },
  { keys: ['.'], command: 'passAfter', shown: '.', does: 'the next pass' },
  { keys: ['5'], command: 'hlo', shown: '5', does: 'optimized HLO' },
  {
    keys: ['6', 'r', 'R'],
    command: 'run',
    shown: '6 or r',
    does: 'run it: how long each operation takes; again: stop'
  },
  { keys: ['f', 'F'], command: 'fit', shown: 'f', does: 'fit the picture' },
  { keys: ['+', '='], command: 'zoomIn', shown: '+', does: 'larger (or Ctrl and wheel)' },
  { keys: ['-'], command: 'zoomOut', shown: '-', does: 'smaller' },
  {
    keys: ['e', 'E'],
    command: 'openAll',
    shown: 'e',
    does: 'all equations; again: without those that only reshape or copy'
  },
  { keys: ['x', 'X'], command: 'closeAll', shown: 'x', does: 'close every region' },
  { keys: ['w', 'W'], command: 'expand', shown: 'w', does: 'use the whole window' },
  {
    keys: ['p', 'P'],
    command: 'path',
    shown: 'p',
    does: 'the ways from here to what is selected next (or shift and click)'
  },
  { keys: ['c', 'C'], command: 'colour', shown: 'c', does: 'what the colours say: the next' },
  {
    keys: ['l', 'L'],
    command: 'copy',
    shown: 'l',
    does: 'copy this view as a link; pasted into the search it is seen again'
  },
  {
    keys: ['s', 'S'],
    command: 'export',
    shown: 's',
    does: 'save the picture as SVG or PNG, or the program as a file'
  },
  { keys: ['/'], command: 'search', shown: '/', does: 'search; Enter and Shift+Enter step through what matches' },
  {
    keys: ['o', 'O'],
    command: 'table',
    shown: 'o',
    does: 'the operations as a table: time, bytes, lines; there ↑ ↓ and Enter select, Escape leaves'
  },
  {
    keys: ['d', 'D'],
    command: 'compare',
    shown: 'd',
    does: 'two pictures side by side: another stage or program; Tab leads from one to the other'
  },
  { keys: ['n'], command: 'nextDifference', shown: 'n', does: 'the next difference (or pass mark)' },
  { keys: ['N'], command: 'differenceBefore', shown: 'N', does: 'the difference before' },
  { keys: ['?'], command: 'help', shown: '?', does: 'these keys' }
];

/** The command of a key press; none while ctrl, alt or command is held, which belong to the host. */
export function commandOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>): Command | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return undefined;
  }
  return keys.find(({ keys }) => keys.includes(event.key))?.command;
}
