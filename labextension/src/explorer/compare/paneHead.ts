/** The head of one of two pictures side by side: which stage it shows, to be chosen, and how it differs from the other. */
import { numberText } from '../../view/words.ts';
import type { Document } from '../../document/graph.ts';
import { programName, programOf, stagesOf } from '../../document/programs.ts';
import type { Compared } from '../../view/compared.ts';
import { DIFFERENCES, DIFFERENCE_TITLES, DIFFERENCE_WORDS, markKind } from './comparedMarks.ts';
import { button, element } from '../elements.ts';

/** Its height where it has one line, in px. */
export const HEAD_HEIGHT = 30;

export interface HeadActions {
  /** Shows a stage of any program, by the number of its graph. */
  enter(graph: number): void;
  light(nodes: readonly number[]): void;
  close(): void;
}

const STAGES: Readonly<Record<string, string>> = { jaxpr: 'jaxpr', stablehlo: 'StableHLO', hlo: 'HLO' };

export class PaneHead {
  readonly root = element('div', 'jv-pane-head');
  private readonly select = element('select', 'jv-select jv-pane-stage');
  private readonly counts = element('span', 'jv-pane-counts');

  constructor(
    private readonly source: Document,
    private readonly left: boolean,
    private readonly actions: HeadActions
  ) {
    const { root, select } = this;
    root.hidden = true;
    select.setAttribute('aria-label', left ? 'stage of the first picture' : 'stage of the second picture');
    const many = source.programs.length > 1;
    for (const { program, stage } of stagesOf(source)) {
      const name = STAGES[stage.kind] ?? stage.kind;
      const option = element('option', '', many ? `${programName(source, program)}: ${name}` : name);
      option.value = String(stage.graph);
      select.append(option);
    }
    select.addEventListener('change', () => actions.enter(Number(select.value)));
    this.counts.setAttribute('role', 'status');
    root.append(select, this.counts, element('span', 'jv-space'));
    if (!left) {
      root.append(button('jv-close', '×', 'One picture again (d)', () => actions.close()));
    }
  }

  /** Tells which stage is shown, and how it stands to the other. */
  fill(stage: number | undefined, graph: number, compared: Compared): void {
    this.root.hidden = false;
    this.select.value = String(stage ?? -1);
    this.select.title = programName(this.source, programOf(this.source, graph));
    const told = DIFFERENCES.filter(kind => compared[kind].length).map(kind => {
      const said = `${numberText(compared[kind].length)} ${DIFFERENCE_WORDS[kind]}`;
      const look = `jv-change jv-change-${markKind(kind, this.left)}`;
      return button(look, said, `${said}: ${DIFFERENCE_TITLES[kind]}`, () => this.actions.light(compared[kind]));
    });
    const same = `${numberText(compared.same)} ${compared.programs ? 'the same' : 'linked'}`;
    const all = compared.programs ? 'no difference' : 'all linked';
    const rest = !compared.same ? '' : told.length ? same : all;
    this.counts.replaceChildren(...told, ...(rest ? [element('span', 'jv-quiet', rest)] : []));
  }
}
