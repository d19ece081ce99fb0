/** Which kernels the side panel lists, and in which order. */
import type { KernelEntry } from './allPrograms.ts';

type Entry = Pick<KernelEntry, 'path' | 'name'> & {
  readonly programs: Pick<KernelEntry['programs'], 'size' | 'lost'>;
};

export interface Listed<T> {
  /** Those with anything to tell, that of the notebook that the person is in first. */
  readonly entries: readonly T[];
  /** Whether it is said how programs come: nothing is listed, or nothing of that notebook. */
  readonly tellsHow: boolean;
}

/**
 * `path` is that of the notebook that the person is in; empty for none. Of kernels that are `yetToTell` what they have,
 * nothing can be said.
 */
export function listed<T extends Entry>(all: readonly T[], path: string, yetToTell: readonly T[] = []): Listed<T> {
  const entries = all
    .filter(({ programs }) => programs.size > 0 || programs.lost !== null)
    .sort((one, other) => Number(other.path === path) - Number(one.path === path) || (one.name < other.name ? -1 : 1));
  const here = all.find(entry => entry.path === path);
  const isHereEmpty = here !== undefined && !entries.includes(here) && !yetToTell.includes(here);
  return { entries, tellsHow: isHereEmpty || entries.length + yetToTell.length === 0 };
}
