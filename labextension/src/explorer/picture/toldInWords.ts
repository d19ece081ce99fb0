/** What is written on a marked box: how many of what tells most, and how many more; and without the word, where it is narrow. */
import type { Mark } from '../../draw/marks.ts';
import { numberText } from '../../view/words.ts';

export function toldInWords(
  count: number,
  word: string,
  more: number,
  numbered: boolean
): Required<Pick<Mark, 'text' | 'short'>> {
  const number = numberText(count);
  const rest = more ? ` +${numberText(more)}` : '';
  // One alone says nothing without its word that its outline does not say.
  const short = count > 1 || more ? `${number}${rest}` : '';
  return { text: `${numbered ? `${number} ` : ''}${word}${rest}`, short };
}
