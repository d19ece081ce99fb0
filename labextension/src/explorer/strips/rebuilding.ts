/** The part of a finding that has its unrolled loop written as a loop of JAX, and tells what both cost. */
import { button, element } from '../elements.ts';
import type { Rebuilt, Told } from '../kernelLine.ts';

/** What a rebuilt loop costs, and how both are opened, where there are two. */
export type Compared = Pick<Rebuilt, 'rows' | 'said'> & { open?(told: Told): Promise<unknown> };

export interface RebuildingActions {
  /** Has it done; gives nothing where it was stopped or failed, which `told` hears as it hears how far it is. */
  rebuild(told: Told): Promise<Compared | undefined>;
  stop(): void;
}

export function rebuildingPart({ rebuild, stop }: RebuildingActions): HTMLElement {
  const root = element('div', 'jv-rebuilding');
  const found = element('div', '');
  const words = element('span', 'jv-rebuilding-words');
  const end = button('jv-link', 'stop', 'Stop, and keep the picture', stop);
  /** How far it is stands where it was asked for: the line above the picture may be out of sight. */
  const waitFor = async <Answer>(asked: (told: Told) => Promise<Answer>, from: HTMLButtonElement): Promise<Answer> => {
    from.disabled = true;
    end.hidden = false;
    try {
      return await asked(now => (words.textContent = now));
    } finally {
      from.disabled = false;
      end.hidden = true;
    }
  };
  const start = button(
    'jv-link',
    'compare with a loop of JAX',
    'Write it as fori_loop or scan, compile and run both, and compare',
    () =>
      void waitFor(rebuild, start).then(rebuilt => {
        if (rebuilt) {
          words.textContent = '';
          found.replaceChildren(...shown(rebuilt));
          start.textContent = 'compare again';
        }
      })
  );
  const shown = ({ rows, said, open }: Compared): HTMLElement[] => {
    const parts = said.map(text => element('p', '', text));
    const [head, ...body] = rows;
    if (head) {
      const table = element('table', 'jv-rebuilt');
      table.append(row(head, 'th'), ...body.map(cells => row(cells, 'td')));
      parts.unshift(table);
    }
    if (!open) {
      return parts;
    }
    const beside = button(
      'jv-link',
      'side by side',
      'Show both programs side by side',
      () => void waitFor(open, beside)
    );
    return [...parts, beside];
  };
  end.hidden = true;
  // Words become longer and shorter: what is pressed stands before them, in one place.
  root.append(found, start, end, words);
  return root;
}

function row(cells: readonly string[], tag: 'th' | 'td'): HTMLElement {
  const made = element('tr', '');
  made.append(...cells.map((text, place) => element(place ? tag : 'th', '', text)));
  return made;
}
