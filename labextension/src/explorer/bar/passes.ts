/**
 * The slider through the passes of the compiler, between StableHLO and HLO, and the line that says what the pass on the
 * screen did. Only passes that changed something are there.
 */
import { CHANGE_KINDS, changesOf, type ChangeKind } from '../../document/changes.ts';
import type { Document, Passes } from '../../document/graph.ts';
import { passesOf, programOf } from '../../document/programs.ts';
import { openState, placeOf } from '../../document/states.ts';
import { button, element } from '../elements.ts';
import { CHANGE_WORDS } from '../picture/marks.ts';
import { takesKeys } from '../ownKeys.ts';
import { PassList } from './passList.ts';

export interface PassActions {
  /** Shows another graph of the document. `keys` are meant for the picture then. */
  enter(graph: number, keys: boolean): void;
  stage(kind: 'stablehlo' | 'hlo'): void;
  /** Lights nodes of the graph that is shown, for as long as it is shown. */
  light(nodes: readonly number[]): void;
  say(text: string): void;
}

export class PassSlider {
  /** For the bar. */
  readonly root = element('span', 'jv-passes');
  /** Below the bar: the line, and all passes where these are asked for. */
  readonly below = element('div', 'jv-pass-top');
  private readonly line = element('div', 'jv-pass-line');
  private readonly list: PassList;
  private readonly range = element('input', 'jv-pass-range');
  /** Of the program on the screen. */
  private passes: Passes | undefined;
  /** The state on the screen, or the one that was there last: of each program that has passes. */
  private readonly numbers = new Map<Passes, number>();
  /** The pass of which it is shown what it removes, in the state before; null for none. */
  losing: number | null = null;
  /** The graph on the screen. */
  private at = 0;

  constructor(
    private readonly document: Document,
    private readonly actions: PassActions
  ) {
    this.list = new PassList(document, number => this.go(number));
    this.below.append(this.line, this.list.opener, this.list.root);
    this.below.hidden = this.line.hidden = true;
    const { range } = this;
    range.type = 'range';
    range.min = '0';
    // Whoever moves the slider by keys goes on doing so.
    range.addEventListener('input', () => this.go(Number(range.value), false));
    takesKeys(range, key => {
      const by = key === ',' ? -1 : key === '.' ? 1 : 0;
      if (by) {
        this.step(by, false);
      }
      return by !== 0;
    });
    this.root.append(range);
    this.line.setAttribute('role', 'status');
    this.take();
  }

  /** Shows the program after a pass; beyond the last pass is HLO, before the first state StableHLO. */
  go(number: number, keys = true): void {
    const { document: source, passes, actions } = this;
    if (!passes) {
      actions.say(
        source.programs[programOf(source, this.at)].missing?.passes ??
          'The passes are not in here: %jaxviz --passes asks for them'
      );
    } else if (number < 0 || number > this.last) {
      actions.stage(number < 0 ? 'stablehlo' : 'hlo');
    } else {
      try {
        actions.enter(openState(source, passes, number), keys);
      } catch (error) {
        actions.say(`This pass cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /** To the passes: where the person was, at first to the first pass. */
  enter(): void {
    this.go(this.number || Math.min(1, this.last));
  }

  /** One pass on or back; from HLO back to the last, from an earlier stage on to what the compiler was given. */
  step(by: number, keys = true): void {
    const kind = this.stage;
    if (!kind) {
      this.go(this.number + by, keys);
    } else if (kind !== 'hlo' && by > 0) {
      this.go(0, keys);
    } else if (kind === 'hlo' && (by < 0 || !this.passes)) {
      this.go(this.last, keys);
    } else if (kind === 'hlo') {
      this.actions.say('this is what the last pass left');
    }
  }

  /** Lights all that the pass did in one way; what it removed is seen in the state before. */
  private light(passes: Passes, kind: ChangeKind): void {
    const nodes = changesOf(this.document, passes, this.number)[kind];
    if (kind === 'removed') {
      this.losing = this.number;
      this.go(this.number - 1);
    }
    this.actions.light(nodes);
  }

  /** The stage on the screen; none while a pass is shown. */
  private get stage(): string | undefined {
    const { document: source, at } = this;
    return source.programs[programOf(source, at)].stages.find(({ graph }) => graph === at)?.kind;
  }

  private get number(): number {
    return (this.passes && this.numbers.get(this.passes)) ?? 0;
  }

  /** The number of the last state. */
  private get last(): number {
    return (this.passes?.states.length ?? 0) - 1;
  }

  /** Shows where the graph with this number stands. */
  show(graph: number): void {
    this.at = graph;
    this.take();
    const place = placeOf(this.document, graph);
    this.root.classList.toggle('jv-on', place !== undefined);
    this.below.hidden = this.line.hidden = !place;
    if (place) {
      this.numbers.set(place.passes, place.number);
      this.losing = this.losing === place.number + 1 ? this.losing : null;
      this.range.value = String(place.number);
      this.range.setAttribute('aria-valuetext', this.words(place.passes));
      this.fill(place.passes);
      this.list.show(place.passes, place.number);
    } else if (this.passes) {
      // A stage stands at an end: optimized HLO is what the last pass left.
      const isLast = this.stage === 'hlo';
      this.range.value = String(isLast ? this.last : 0);
      this.range.setAttribute('aria-valuetext', isLast ? 'after all passes' : 'before the passes');
    }
  }

  /** The passes of the program on the screen, if it has any: the slider goes through them. */
  private take(): void {
    const { document: source, range } = this;
    const passes = passesOf(source, programOf(source, this.at));
    if (passes !== this.passes) {
      this.passes = passes;
      this.losing = null;
      range.max = String(this.last);
      range.value = String(this.number);
      range.title = `The ${this.last} pass${this.last === 1 ? '' : 'es'} of the compiler that changed something (4)`;
      range.setAttribute('aria-label', range.title);
    }
    this.root.hidden = !passes;
  }

  private words({ states }: Passes): string {
    return this.number ? `${states[this.number].name}, ${this.number} of ${this.last}` : 'before the passes';
  }

  private fill(passes: Passes): void {
    const { number, line } = this;
    const { name, pipeline, joined } = passes.states[number];
    const back = button('jv-button', '‹', 'The pass before (,)', () => this.go(number - 1));
    const on = button('jv-button', '›', 'The next pass (.)', () => this.go(number + 1));
    back.disabled = number === 0;
    on.disabled = number === this.last;
    line.replaceChildren(back, on);
    if (this.losing !== null) {
      const { removed } = changesOf(this.document, passes, this.losing);
      const what = removed.length === 1 ? 'what it removes is lit' : `the ${removed.length} that it removes are lit`;
      line.append(
        element('strong', '', `before ${passes.states[this.losing].name}`),
        element('span', 'jv-quiet', what)
      );
      return;
    }
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
        line.append(button(`jv-change jv-change-${kind}`, said, title, () => this.light(passes, kind)));
      }
    }
    const left = [joined ? `with ${joined} smaller pass${joined === 1 ? '' : 'es'} before it` : '', passes.note];
    line.append(element('span', 'jv-quiet', left.filter(Boolean).join('; ')));
  }
}
