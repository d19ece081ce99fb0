/**
 * The side panel: programs by kernel, by function, by specialization. It shows what `AllPrograms` knows, and asks for
 * everything else through commands.
 */
import '../../style/lab.css';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import { button, describe, element } from '../explorer/elements.ts';
import { spelled } from '../explorer/spelled.ts';
import { breakInWords } from '../explorer/wordBreaks.ts';
import type { AllPrograms, KernelEntry } from './allPrograms.ts';
import type { Comparing } from './comparing.ts';
import { listed } from './listed.ts';
import { Commands } from './names.ts';
import type { Lost } from './kernelPrograms.ts';
import type { Program } from './program.ts';
import { marked } from './signature.ts';
import { agoText, costText, seconds } from './words.ts';

/** Reasons of a compilation that could nearly always be avoided, as `find/recompiled.py` names them. */
const AVOIDABLE = new Set(['function', 'weak', 'passing', 'value']);
/** So many programs of a function are looked at for the one that another is most like. */
const NEAREST = 20;
/** ms between two looks at how long ago things were. */
const TICK = 30_000;

/** A place in the list: what is there, and how many come before it. */
interface Place {
  readonly at: number;
  readonly key: string | undefined;
}

export interface PanelParts {
  readonly all: AllPrograms;
  readonly comparing: Comparing;
  readonly commands: CommandRegistry;
  readonly trans: TranslationBundle;
  /** Path of the notebook that the person is in; empty for none. */
  active(): string;
}

export class ProgramsPanel extends Widget {
  private readonly list = element('div', 'jv-entries');
  /** Says with what a program is about to be compared. */
  private readonly compared = element('div', 'jv-panel-aside jv-panel-compared');
  /** Says what waits for a kernel that is busy. */
  private readonly waiting = element('div', 'jv-panel-aside jv-panel-waiting');
  /** Kernels and functions that the person folded or unfolded, by name. */
  private readonly folded = new Map<string, boolean>();
  /** Where the focus was when the context menu was opened. */
  private left: Place | null = null;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly parts: PanelParts) {
    super();
    this.addClass('jv-panel');
    const { trans } = parts;
    const head = element('div', 'jv-panel-head');
    head.append(element('h2', '', trans.__('JAX programs')));
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('JAX programs'));
    this.compared.setAttribute('role', 'status');
    this.waiting.setAttribute('role', 'status');
    this.node.append(head, this.compared, this.waiting, this.list);
    this.list.addEventListener('keydown', event => this.hear(event));
    this.list.addEventListener('click', event => this.choose(event));
    this.list.addEventListener('dblclick', event => this.choose(event));
    this.list.addEventListener('contextmenu', () => (this.left = this.place));
    parts.all.changed.connect(this.update, this);
    parts.comparing.changed.connect(this.update, this);
    this.update();
  }

  /** The panel is first made when its place is shown already. */
  protected override onAfterAttach(): void {
    this.look();
  }

  protected override onAfterShow(): void {
    this.look();
  }

  protected override onBeforeHide(): void {
    clearInterval(this.timer);
    this.parts.all.listen(false);
  }

  private look(): void {
    clearInterval(this.timer);
    this.parts.all.listen(true);
    void this.parts.all.lookAtAll();
    this.timer = setInterval(() => this.update(), TICK);
    this.update();
  }

  override dispose(): void {
    clearInterval(this.timer);
    super.dispose();
  }

  protected override onUpdateRequest(): void {
    const { all, active } = this.parts;
    const path = active();
    const yetToTell = all.entries.filter(entry => all.comesAfterCell(entry));
    const { entries, tellsHow } = listed(all.entries, path, yetToTell);
    const place = this.place;
    const scroll = this.list.scrollTop;
    this.list.replaceChildren(
      ...(tellsHow ? [this.nothing()] : []),
      ...entries.map(entry => this.kernel(entry, entry.path === path, entries.length === 1))
    );
    this.list.scrollTop = scroll;
    this.tellCompared();
    this.tellWaiting();
    this.focusOn(place);
  }

  /** All that can have the focus by the arrow keys, from top to bottom. */
  private get stops(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>('[data-key]')].filter(one => one.checkVisibility());
  }

  /** Where the focus is in the list. */
  private get place(): Place | null {
    const focused = document.activeElement;
    const row = focused?.closest('.jv-entry')?.querySelector('[data-key]');
    const { stops } = this;
    const at = stops.findIndex(stop => stop === focused || stop === row);
    return at < 0 ? null : { at, key: stops[at].dataset.key };
  }

  /** Gives the focus to what is at a place now; where it has gone, to what has come there. */
  private focusOn(place: Place | null): void {
    if (place) {
      const { stops } = this;
      const one = stops.find(({ dataset }) => dataset.key === place.key) ?? stops[Math.min(place.at, stops.length - 1)];
      one?.focus();
    }
  }

  /** The context menu takes the focus and gives it to nothing when it closes: it goes on where it was. */
  readonly leaveMenu = (): void => {
    const { left } = this;
    this.left = null;
    // The menu is still there; what it was opened for, a dialog perhaps, comes after this.
    queueMicrotask(() => {
      if (document.activeElement === document.body) {
        this.focusOn(left);
      }
    });
  };

  private tellCompared(): void {
    const { all, comparing, trans } = this.parts;
    const { first } = comparing;
    const program = first && all.get(first.kernel)?.programs.get(first.program);
    this.compared.hidden = !program;
    this.compared.replaceChildren();
    if (program) {
      const cancel = button('jv-panel-link', trans.__('cancel'), trans.__('Compare nothing'), () =>
        comparing.put(null)
      );
      const name = element('code', '', program.label || program.call);
      this.compared.append(element('span', '', trans.__('To compare:')), ' ', name, ' ', cancel);
    }
  }

  private tellWaiting(): void {
    const { all, trans } = this.parts;
    const lines = all.entries.flatMap(entry => {
      const late = [
        ...(all.comesAfterCell(entry) ? [trans.__('the list of its programs')] : []),
        ...entry.programs.late
      ];
      return late.length ? [trans.__('%1 runs a cell. After it: %2', entry.name, late.join(', '))] : [];
    });
    this.waiting.hidden = lines.length === 0;
    this.waiting.replaceChildren(...lines.map(line => element('p', '', line)));
  }

  /** What a newcomer reads. */
  private nothing(): HTMLElement {
    const { trans } = this.parts;
    const box = element('div', 'jv-panel-empty');
    const how = trans.__('No programs yet. While this panel is open, what a cell compiles comes here by itself:');
    box.append(element('p', '', how));
    for (const [code, words] of [
      ['%load_ext jaxviz', trans.__('once in the notebook: from then on every function that JAX compiles')],
      ['%jaxviz step(x)', trans.__('explores a call')],
      ['@jv.watch', trans.__('above a function: every compilation of it, with the panel closed too')],
      ['%%jaxviz', trans.__('above a cell: everything that it compiles, as its output')]
    ]) {
      const line = element('p', 'jv-panel-hint');
      line.append(element('code', '', code), element('span', '', words));
      box.append(line);
    }
    return box;
  }

  private kernel({ id, name, path, programs }: KernelEntry, active: boolean, only: boolean): HTMLElement {
    const { trans, commands } = this.parts;
    const section = this.fold(`kernel ${id}`, active || only, 'jv-panel-kernel');
    section.classList.toggle('jv-active', active);
    const summary = element('summary', 'jv-panel-kernel-head');
    summary.dataset.key = `kernel ${id}`;
    summary.title = path;
    const count = trans._n('%1 program', '%1 programs', programs.size);
    summary.append(element('span', 'jv-panel-kernel-name', name), element('span', 'jv-panel-quiet', count));
    const clear = button('jv-panel-button', '×', trans.__('Take all programs of %1 off the list', name), () => {
      void commands.execute(Commands.clear, { kernel: id });
    });
    clear.classList.add('jv-panel-clear');
    // A button inside of what folds would be a button in a button.
    section.append(summary, clear);
    if (programs.lost) {
      const note = element('p', 'jv-panel-note', this.lostText(programs.lost));
      note.setAttribute('role', 'status');
      section.append(note);
    }
    for (const [group, members] of grouped(programs.list)) {
      section.append(this.function(id, group, members));
    }
    if (programs.dropped) {
      const text = trans._n('%1 older program was dropped.', '%1 older programs were dropped.', programs.dropped);
      section.append(element('p', 'jv-panel-note', text));
    }
    return section;
  }

  private lostText(lost: Lost): string {
    const { trans } = this.parts;
    const texts = {
      restarted: trans.__('The kernel was restarted and has no programs now. Run the cells again to have them here.'),
      changed: trans.__(
        'The kernel is another than before and has no programs yet. Run the cells again to have them here.'
      ),
      gone: trans.__('The notebook has no kernel now. Pinned programs stay here, and open without one.')
    };
    return texts[lost];
  }

  private function(kernel: string, group: string, members: readonly Program[]): HTMLElement {
    const { trans } = this.parts;
    const [first] = members;
    const section = this.fold(`${kernel} ${group}`, true, 'jv-panel-function');
    const summary = element('summary', 'jv-panel-function-head');
    summary.dataset.key = `${kernel} ${group}`;
    summary.title = first.defined;
    const total = members.reduce((sum, { seconds: costs }) => sum + seconds(costs), 0);
    const many = members.length > 1 ? trans._n('%1 program', '%1 programs', members.length) : '';
    // One that could not be traced has cost nothing that is known.
    const count = [many, total ? costText(total) : ''].filter(Boolean).join(', ');
    summary.append(
      element('code', 'jv-panel-function-name', first.function),
      element('span', 'jv-panel-quiet', first.defined),
      element('span', 'jv-panel-cost', count)
    );
    section.append(summary);
    // The same advice is given once, where it was needed last.
    const given = new Set<string>();
    for (const [place, program] of [...members.entries()].reverse()) {
      const { remedy } = program;
      const before = members.slice(Math.max(0, place - NEAREST), place).map(({ call }) => call);
      section.append(this.program(kernel, given.has(remedy) ? { ...program, remedy: '' } : program, before));
      given.add(remedy);
    }
    return section;
  }

  /** `before` are the calls of the same function that came before. */
  private program(kernel: string, program: Program, before: readonly string[]): HTMLElement {
    const { trans, commands, comparing } = this.parts;
    const { id, label, call, why, remedy, when, place, pinned, origin } = program;
    const args = { kernel, program: id };
    const row = element('div', 'jv-entry');
    Object.assign(row.dataset, args);
    const open = button('jv-entry-open', '', '', () => {
      void commands.execute(Commands.open, args);
    });
    open.append(...(label ? [label] : signature(call, before)));
    describe(open, trans.__('Open %1', call));
    open.dataset.key = `${kernel} ${id}`;
    open.classList.toggle('jv-entry-named', label !== '');
    const top = element('div', 'jv-entry-top');
    top.append(open);
    if (pinned) {
      top.append(element('span', 'jv-panel-pin', trans.__('pinned')));
    }
    if (comparing.goesWith(kernel, id) && !program.failed && !this.parts.all.get(kernel)?.programs.isKept(id)) {
      const title = trans.__('Compare with %1', label || call);
      const compare = button('jv-panel-link', trans.__('compare'), title, () => {
        void commands.execute(Commands.compare, args);
      });
      top.append(compare);
    }
    row.classList.toggle('jv-entry-aside', comparing.is(kernel, id));
    const more = button('jv-panel-button', '⋯', trans.__('More about %1', label || call), () => this.menu(row, more));
    more.setAttribute('aria-haspopup', 'menu');
    top.append(more);
    const facts = element('div', 'jv-panel-quiet jv-entry-facts');
    const cost = seconds(program.seconds);
    const origins = {
      explored: trans.__('explored'),
      watched: trans.__('watched'),
      recorded: trans.__('recorded'),
      compiled: trans.__('compiled')
    };
    facts.textContent = [cost ? costText(cost) : '', origins[origin], agoText(when, trans), place]
      .filter(Boolean)
      .join(' · ');
    facts.title = costsText(program.seconds);
    row.append(top);
    if (label) {
      const shown = element('div', 'jv-panel-quiet');
      shown.append(...signature(call, before));
      row.append(shown);
    }
    const reason = element('div', 'jv-entry-why');
    reason.append(...spelled(why));
    reason.classList.toggle('jv-entry-again', program.failed || program.kinds.some(kind => AVOIDABLE.has(kind)));
    row.append(reason);
    const pinText = this.pinText(kernel, id);
    if (pinText) {
      row.append(element('div', 'jv-panel-quiet', pinText));
    }
    if (remedy) {
      const advice = element('div', 'jv-entry-remedy');
      advice.append(...spelled(remedy));
      row.append(advice);
    }
    row.append(facts);
    return row;
  }

  /** What there is to know of a pinned program, in words; none where it is with its kernel. */
  private pinText(kernel: string, id: string): string {
    const { all, trans } = this.parts;
    const programs = all.get(kernel)?.programs;
    if (programs?.isTooLarge(id)) {
      return trans.__('Pinned while this page is open: it is too large to be kept longer. Save it to keep it.');
    }
    return programs?.isKept(id) ? trans.__('From an earlier kernel') : '';
  }

  /** The context menu of a row, below its button. */
  private menu(row: HTMLElement, at: HTMLElement): void {
    const { left, bottom } = at.getBoundingClientRect();
    const where = { bubbles: true, cancelable: true, clientX: left, clientY: bottom, button: 2 };
    row.dispatchEvent(new MouseEvent('contextmenu', where));
  }

  /** Something that folds and stays as the person left it. */
  private fold(key: string, open: boolean, className: string): HTMLDetailsElement {
    const made = element('details', className);
    made.open = this.folded.get(key) ?? open;
    made.addEventListener('toggle', () => {
      if (made.isConnected && made.open !== (this.folded.get(key) ?? open)) {
        this.folded.set(key, made.open);
      }
    });
    return made;
  }

  /** A row is chosen anywhere on it, and opened by a second click; its buttons have clicks of their own. */
  private choose({ type, target }: MouseEvent): void {
    const { row, kernel, program } = rowOf(target);
    if (row && kernel && program && !(target as Element).closest('button')) {
      row.querySelector<HTMLElement>('[data-key]')?.focus();
      if (type === 'dblclick') {
        void this.parts.commands.execute(Commands.open, { kernel, program });
      }
    }
  }

  /** Keys of a row: rename, delete; and those of a tree through all that can have the focus. */
  private hear(event: KeyboardEvent): void {
    const { kernel, program } = rowOf(event.target);
    const command = { F2: Commands.rename, Delete: Commands.remove }[event.key];
    if (command && kernel && program) {
      event.preventDefault();
      void this.parts.commands.execute(command, { kernel, program });
    } else if (this.walk(event.key, event.target as HTMLElement)) {
      event.preventDefault();
    }
  }

  /** Goes where a key leads from a place in the list, or folds what is there; false where it does neither. */
  private walk(key: string, from: HTMLElement): boolean {
    const { stops } = this;
    const at = stops.indexOf(from);
    const fold = from.closest('details');
    const head = fold?.querySelector<HTMLElement>(':scope > summary');
    if (at < 0 || !fold || !head) {
      return false;
    }
    if (from === head && (key === 'ArrowLeft' ? fold.open : key === 'ArrowRight' && !fold.open)) {
      fold.open = !fold.open;
      return true;
    }
    const outside = from === head ? fold.parentElement?.closest('details')?.querySelector('summary') : head;
    const to = {
      ArrowDown: stops[at + 1],
      ArrowUp: stops[at - 1],
      ArrowLeft: outside,
      ArrowRight: from === head ? stops[at + 1] : null,
      Home: stops[0],
      End: stops[stops.length - 1]
    }[key];
    to?.focus();
    return Boolean(to);
  }
}

interface Row {
  readonly row: HTMLElement | null;
  readonly kernel: string | undefined;
  readonly program: string | undefined;
}

/** The program on whose row something is. */
function rowOf(target: EventTarget | null): Row {
  const row = (target as Element).closest<HTMLElement>('.jv-entry');
  return { row, kernel: row?.dataset.kernel, program: row?.dataset.program };
}

/** A call, with what is another than before marked in it. */
function signature(call: string, before: readonly string[]): HTMLElement[] {
  return marked(call, before).map(({ text, differs }) =>
    differs ? element('mark', 'jv-entry-differs', text) : breakInWords(element('span', '', text))
  );
}

/** Programs of one function together; the function that was at work last comes first. */
function grouped(programs: readonly Program[]): [string, Program[]][] {
  const groups = new Map<string, Program[]>();
  for (const program of programs) {
    groups.set(program.group, [...(groups.get(program.group) ?? []), program]);
  }
  const last = (members: readonly Program[]): number => Math.max(...members.map(({ when }) => when));
  return [...groups].sort(([, one], [, other]) => last(other) - last(one));
}

function costsText(costs: Readonly<Record<string, number>>): string {
  return Object.entries(costs)
    .map(([name, cost]) => `${name} ${costText(cost)}`)
    .join(', ');
}
