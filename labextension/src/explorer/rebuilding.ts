/** The part of a finding that has its unrolled loop written as a loop of JAX, and tells what both cost. */
import { button, element } from './elements.ts';
import type { Rebuilt } from './kernelLine.ts';

/** What a rebuilt loop costs, and how both are opened, where there are two. */
export type Compared = Pick<Rebuilt, 'rows' | 'said'> & { open?(): void };

/** `ask` has it done, and gives nothing where that was said elsewhere. */
export function rebuildingPart(ask: () => Promise<Compared | undefined>): HTMLElement {
  const root = element('div', 'jv-rebuilding');
  const start = button(
    'jv-link',
    'compare with a loop of JAX',
    'Write it as fori_loop or scan, compile and run both, and compare',
    () => {
      start.disabled = true;
      void ask().then(rebuilt => {
        start.disabled = false;
        if (rebuilt) {
          root.replaceChildren(...told(rebuilt), start);
          start.textContent = 'compare again';
        }
      });
    }
  );
  root.append(start);
  return root;
}

function told({ rows, said, open }: Compared): HTMLElement[] {
  const parts = said.map(text => element('p', '', text));
  const [head, ...body] = rows;
  if (head) {
    const table = element('table', 'jv-rebuilt');
    table.append(row(head, 'th'), ...body.map(cells => row(cells, 'td')));
    parts.unshift(table);
  }
  return open ? [...parts, button('jv-link', 'side by side', 'Show both programs side by side', open)] : parts;
}

function row(cells: readonly string[], tag: 'th' | 'td'): HTMLElement {
  const made = element('tr', '');
  made.append(...cells.map((text, place) => element(place ? tag : 'th', '', text)));
  return made;
}
