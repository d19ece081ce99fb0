/**
 * The slider through the passes of the compiler, between StableHLO and HLO, and the line that says what the pass on the
 * screen did. Only passes that changed something are there.
 */
import { CHANGE_KINDS, changesOf, type ChangeKind } from '../document/changes.ts';
import type { Document, Passes } from '../document/graph.ts';
import { placeOf } from '../document/states.ts';
import { button, element } from './elements.ts';
import { CHANGE_WORDS } from './marks.ts';

export interface PassActions {
  /** Shows the state after a pass; 0 is what the compiler was given. */
  go(number: number): void;
  /** Lights all that a pass did in one way. */
  light(number: number, kind: ChangeKind): void;
}

export class PassSlider {
  /** For the bar. */
  readonly root = element('span', 'jv-passes');
  /** Below the bar. */
  readonly line = element('div', 'jv-pass-line');
  private readonly range = element('input', 'jv-pass-range');
  private readonly passes: Passes | undefined;
  /** The state on the screen, or the one that was there last. */
  private number = 0;

  constructor(
    private readonly document: Document,
    private readonly actions: PassActions
  ) {
    [this.passes] = document.passes;
    this.root.hidden = !this.passes;
    this.line.hidden = true;
    const { range } = this;
    range.type = 'range';
    range.min = '0';
    range.max = String(this.last);
    range.value = '0';
    range.title = `The ${this.last} pass${this.last === 1 ? '' : 'es'} of the compiler that changed something (4)`;
    range.setAttribute('aria-label', range.title);
    range.addEventListener('input', () => actions.go(Number(range.value)));
    this.root.append(range);
    this.line.setAttribute('role', 'status');
  }

  /** The number of the last state. */
  get last(): number {
    return (this.passes?.states.length ?? 0) - 1;
  }

  /** The state to begin with: where the person was, at first the first pass. */
  get first(): number {
    return this.number || Math.min(1, this.last);
  }

  /** Shows where the graph with this number stands. */
  show(graph: number): void {
    const place = placeOf(this.document, graph);
    this.root.classList.toggle('jv-on', place !== undefined);
    this.line.hidden = !place;
    if (place) {
      this.number = place.number;
      this.range.value = String(place.number);
      this.range.setAttribute('aria-valuetext', this.words(place.passes));
      this.fill(place.passes);
    }
  }

  private words({ states }: Passes): string {
    return this.number ? `${states[this.number].name}, ${this.number} of ${this.last}` : 'before the passes';
  }

  private fill(passes: Passes): void {
    const { number, line } = this;
    const { name, pipeline, joined } = passes.states[number];
    const back = button('jv-button', '‹', 'The pass before (,)', () => this.actions.go(number - 1));
    const on = button('jv-button', '›', 'The next pass (.)', () => this.actions.go(number + 1));
    back.disabled = number === 0;
    on.disabled = number === this.last;
    line.replaceChildren(back, on);
    if (number === 0) {
      line.append(
        element('strong', '', 'before the passes'),
        element('span', 'jv-quiet', 'as the compiler was given it')
      );
    } else {
      line.append(element('strong', '', name), element('span', 'jv-quiet', `${number} of ${this.last} in ${pipeline}`));
      const changes = changesOf(this.document, passes, number);
      for (const kind of CHANGE_KINDS.filter(one => changes[one].length)) {
        const said = `${changes[kind].length} ${CHANGE_WORDS[kind]}`;
        const title = kind === 'removed' ? `Show the ${said} in the state before` : `Show the ${said}`;
        line.append(button(`jv-change jv-change-${kind}`, said, title, () => this.actions.light(number, kind)));
      }
    }
    const left = [joined ? `with ${joined} smaller pass${joined === 1 ? '' : 'es'} before it` : '', passes.note];
    line.append(element('span', 'jv-quiet', left.filter(Boolean).join('; ')));
  }
}
