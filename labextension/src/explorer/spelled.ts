/** Words of findings and errors: what stands between backticks in them is code, and is shown as such. */
import { element } from './elements.ts';
import { breakInWords } from './wordBreaks.ts';

export function spelled(text: string): (string | HTMLElement)[] {
  // A backtick without another is one of the words.
  const parts = text.split('`');
  const whole = parts.length % 2 ? parts : [...parts.slice(0, -2), parts.slice(-2).join('`')];
  return whole.map((part, place) => (place % 2 ? breakInWords(element('code', 'jv-spelled', part)) : part));
}

/** The same words where nothing but text is possible. */
export function plain(text: string): string {
  return text.replaceAll('`', '');
}
