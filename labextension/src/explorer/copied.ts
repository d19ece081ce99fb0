/** A line of code to run or to write, with words before it, and a button that copies it. */
import { button, element } from './elements.ts';
import { breakInWords } from './wordBreaks.ts';

export function copied(before: string, code: string): (Node | string)[] {
  const copy = button('jv-link', 'copy', `Copy: ${code}`, () => {
    const { clipboard } = navigator;
    const done = clipboard ? clipboard.writeText(code) : Promise.reject(new Error('there is no clipboard here'));
    done.then(
      () => (copy.textContent = 'copied'),
      () => (copy.textContent = 'select it to copy')
    );
  });
  return [before, breakInWords(element('code', 'jv-finding-code', code)), copy];
}
