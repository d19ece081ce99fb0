/**
 * What an explorer has from the one whose place it takes: that of less of the same program, which grows while it is
 * compiled and measured, or that of an earlier version, whose lines were changed.
 */
import type { Document } from '../../document/graph.ts';
import { earlierOf, goOnFrom, goOnWithMore, hasAllOf, type Asked, type Earlier } from './earlier.ts';
import type { Exports } from '../exports.ts';
import { isFailure } from '../failure.ts';
import type { SavedView } from './saved.ts';
import type { Search } from '../bar/search.ts';
import type { Standing } from './succession.ts';
import type { Tour } from '../tour.ts';
import type { Viewed } from './views.ts';
import type { Viewing } from '../picture/viewing.ts';
import type { WholeWindow } from '../whole.ts';

export interface InheritingParts {
  readonly document: Document;
  readonly viewed: Viewed;
  readonly asked: Asked;
  readonly help: HTMLElement;
  readonly tour: Tour;
  readonly search: Search;
  readonly exports: Exports;
  readonly whole: WholeWindow;
  expand(whole: boolean): void;
}

export class Inheriting {
  /** Of an earlier version, what waits for a stage that is not there yet, or for a trace that does not fail; and what was seen when it began to wait. */
  private waiting: { readonly earlier: Earlier; seen?: string } | null = null;

  constructor(private readonly parts: InheritingParts) {}

  /** How it stands, for one that takes its place. */
  get standing(): Standing {
    const { whole, viewed, help, tour, search, exports } = this.parts;
    const searching = search.root.contains(document.activeElement);
    const saving = !exports.root.hidden;
    return {
      whole: whole.on,
      source: viewed.reading.standing,
      table: viewed.table.standing,
      help: !help.hidden,
      tour: tour.step,
      saving,
      searching
    };
  }

  stand({ whole, source, table, help, tour, saving, searching }: Standing): void {
    const { parts } = this;
    if (whole) {
      parts.expand(true);
    }
    parts.viewed.reading.stand(source);
    parts.viewed.table.stand(table);
    parts.help.hidden = !help;
    if (tour !== null) {
      parts.tour.start(tour);
    }
    if (saving) {
      parts.exports.open();
    }
    if (searching) {
      parts.search.resume(parts.viewed.first.viewing.graph);
    }
  }

  /**
   * Shows what is seen of a document that has less of the same program, or a stage that only this one has; of another
   * version, as far as it is there.
   */
  goOn(before: Inheriting, view: SavedView): void {
    const { document, viewed } = this.parts;
    const { document: less } = before.parts;
    const { scene, viewing } = before.parts.viewed.first;
    if (before.stillWaits || !hasAllOf(document, less)) {
      this.goOnFrom(before.stillWaits ? before.earlier : { ...before.earlier, view });
      return;
    }
    const asked = viewed.first.viewing.stage?.kind;
    const isNew = !less.programs[0].stages.some(({ kind }) => kind === asked);
    if (scene && !(isNew && !viewing.openings.touched && view.selected === null)) {
      goOnWithMore(document, viewed, { ...before.earlier, view });
    }
  }

  /** True while that is waited for, and the person is not at work in another stage meanwhile. */
  private get stillWaits(): boolean {
    const { document, viewed } = this.parts;
    const seen = seenIn(viewed.first.viewing);
    return this.waiting !== null && (isFailure(document) || (this.waiting.seen ?? seen) === seen);
  }

  /** What is seen, for a picture of a later version of the program. */
  get earlier(): Earlier {
    const { document, viewed, asked } = this.parts;
    return this.stillWaits && this.waiting ? this.waiting.earlier : earlierOf(document, viewed, asked);
  }

  /** Shows what was seen of an earlier version of the program. */
  goOnFrom(earlier: Earlier): void {
    const { document, viewed, asked } = this.parts;
    const { wholly, shown } = goOnFrom(document, viewed, earlier, asked);
    const waiting = wholly ? null : { earlier };
    this.waiting = waiting;
    void shown.then(() => waiting && Object.assign(waiting, { seen: seenIn(viewed.first.viewing) }));
    viewed.reading.stand(earlier.source);
    viewed.table.stand(earlier.table);
  }
}

/** What a person sees, but for the camera. */
function seenIn({ saved }: Viewing): string {
  return JSON.stringify(saved);
}
