/** The legend: what the colours say, and a swatch and a word for each; at its end what the stage cost JAX. */
import type { Stage } from '../../document/graph.ts';
import { looks, type Look, type LookName, type Palette } from '../../draw/theme.ts';
import { cut } from '../../view/label.ts';
import { timeText } from '../../view/measures.ts';
import { element } from '../elements.ts';

export interface LegendEntry {
  readonly look: LookName;
  readonly label: string;
}

/** Room for one row below the picture, in px, and what it has around it. */
export const LEGEND_HEIGHT = 26;
const SPACE = 8;
/** Words of so few entries are cut later, to so many characters: there is room for them. */
const FEW = 4;
const MOST_OF_FEW = 48;

export class Legend {
  readonly root = element('div', 'jv-legend');

  constructor() {
    this.root.setAttribute('role', 'group');
  }

  fill(title: string, entries: readonly LegendEntry[], palette: Palette, stage?: Stage): void {
    const { root } = this;
    root.hidden = !title && !entries.length;
    root.setAttribute('aria-label', `what the colours say: ${title || 'kind of operation'}`);
    root.replaceChildren(
      ...(title ? [element('b', 'jv-legend-title', title)] : []),
      ...entries.map(entry => item(entry, palette, entries.length <= FEW)),
      ...costOf(stage)
    );
  }

  /** What it needs below the picture: in a narrow picture it has several rows. */
  get height(): number {
    return this.root.hidden ? 0 : Math.max(LEGEND_HEIGHT, this.root.offsetHeight + SPACE);
  }
}

/** The step of JAX that makes each stage, and how that is told. */
const STEPS: Readonly<Record<string, readonly [string, string]>> = {
  jaxpr: ['trace', 'traced'],
  stablehlo: ['lower', 'lowered'],
  hlo: ['optimize', 'optimized']
};

function costOf(stage: Stage | undefined): HTMLElement[] {
  const [step, told] = STEPS[stage?.kind ?? ''] ?? ['', ''];
  const seconds = stage?.seconds[step];
  return seconds ? [element('span', 'jv-legend-cost', `${told} in ${timeText(seconds)}`)] : [];
}

function item({ look: name, label }: LegendEntry, palette: Palette, few: boolean): HTMLElement {
  const look: Look = looks[name];
  const swatch = element('span', 'jv-swatch');
  swatch.style.background = palette[look.fill ?? 'background'];
  swatch.style.borderColor = palette[look.stroke ?? 'line'];
  swatch.style.borderStyle = look.dash ? 'dashed' : 'solid';
  swatch.style.borderWidth = `${Math.max(1, Math.round(look.width ?? 1))}px`;
  const made = element('span', 'jv-legend-item');
  const shown = few ? cut(label, MOST_OF_FEW) : cut(label);
  if (shown !== label) {
    made.title = label;
  }
  made.append(swatch, shown);
  return made;
}
