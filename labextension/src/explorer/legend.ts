/** The legend: what the colours say, and a swatch and a word for each. */
import { looks, type Look, type LookName, type Palette } from '../draw/theme.ts';
import { element } from './elements.ts';

export interface LegendEntry {
  readonly look: LookName;
  readonly label: string;
}

/** Fills the legend; without a title, a picture of one colour needs none. */
export function fillLegend(
  legend: HTMLElement,
  title: string,
  entries: readonly LegendEntry[],
  palette: Palette
): void {
  legend.replaceChildren();
  legend.hidden = !title && entries.length < 2;
  if (title) {
    legend.append(element('b', 'jv-legend-title', title));
  }
  for (const { look: name, label } of entries) {
    const look: Look = looks[name];
    const swatch = element('span', 'jv-swatch');
    swatch.style.background = palette[look.fill ?? 'background'];
    swatch.style.borderColor = palette[look.stroke ?? 'line'];
    swatch.style.borderStyle = look.dash ? 'dashed' : 'solid';
    const item = element('span', 'jv-legend-item');
    item.append(swatch, label);
    legend.append(item);
  }
}
