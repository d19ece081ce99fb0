/** A row of a list: a name, a bar as long as its share, an amount and the share in words. */
import { element } from '../elements.ts';

export function bar(
  text: string,
  amount: string,
  share: number,
  percent: string,
  tag: 'div' | 'button' = 'div'
): HTMLElement {
  const row = element(tag, 'jv-run-line');
  const filled = element('span', 'jv-run-bar');
  filled.style.width = `${Math.min(100, Math.max(1, 100 * share))}%`;
  const track = element('span', 'jv-run-track');
  track.append(filled);
  row.append(
    element('code', '', text),
    track,
    element('span', 'jv-run-time', amount),
    element('span', 'jv-run-share', percent)
  );
  return row;
}
