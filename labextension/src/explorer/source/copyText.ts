/** Copies a text of any length: lines are written in pieces, and the button says what became of it. */
import { inPieces } from '../../document/pause.ts';
import type { Listing } from '../../text/listing.ts';

/** ms for which the button says so. */
const SAID = 2_000;
/** Lines that are written before others may go first. */
const AT_ONCE = 500;

export function copyText(button: HTMLButtonElement, listing: Listing): void {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  const say = (text: string): void => {
    button.textContent = text;
    setTimeout(() => (button.textContent = 'copy'), SAID);
  };
  void inPieces(textOf(listing))
    .then(text => (clipboard ? clipboard.writeText(text) : Promise.reject(new Error('there is no clipboard here'))))
    .then(
      () => say('copied'),
      () => say('select it to copy')
    );
}

function* textOf(listing: Listing): Generator<void, string> {
  const lines: string[] = [];
  for (let line = 0; line < listing.count; line++) {
    lines.push(listing.text(line));
    if (line % AT_ONCE === 0) {
      yield;
    }
  }
  return lines.join('\n') + '\n';
}
