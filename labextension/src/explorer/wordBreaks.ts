/** Where a long name goes on in the next line: where a word of it begins, and in mid-word only where that has no room. */
import { element } from './elements.ts';

/** Names of this many characters have room in the narrowest place that names stand in. */
const SHORT = 12;
const LONG = new RegExp(String.raw`(\S{${SHORT + 1},})`, 'u');
/** After what joins words, and before a capital letter. */
const BEGINNINGS = /(?<=[\p{L}\p{N})\]](?:_+|[.,/=([{]))(?=\p{L})|(?<=\p{Ll})(?=\p{Lu}\p{Ll})/u;

/** Lets the text of an element go on in the next line so. What is copied from it stays as it is. */
export function breakInWords<Made extends HTMLElement>(made: Made): Made {
  // Every second one is long.
  const parts = (made.textContent ?? '')
    .split(LONG)
    .map((part, index) => (index % 2 ? part.split(BEGINNINGS) : [part]));
  made.replaceChildren(
    ...parts.flatMap(([first, ...rest]) => [first, ...rest.flatMap(word => [element('wbr', ''), word])])
  );
  return made;
}
