/** The legend: a swatch and a word for each colour in the picture. */
import { boxLook } from '../draw/scene.ts';
import { looks, type Look, type Palette } from '../draw/theme.ts';
import { families } from '../view/family.ts';
import { Shape, type VisibleGraph } from '../view/visible.ts';
import { element } from './elements.ts';

/** Families of the boxes that are coloured by one, in the order of the table. */
export function familiesIn(visible: VisibleGraph): number[] {
  const found = new Set<number>();
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.box) {
      found.add(visible.family[box]);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** Fills the legend; a picture of one colour needs none. */
export function fillLegend(legend: HTMLElement, visible: VisibleGraph, palette: Palette): void {
  const shown = familiesIn(visible);
  legend.replaceChildren();
  legend.hidden = shown.length < 2;
  for (const index of shown) {
    const look: Look = looks[boxLook(index)];
    const swatch = element('span', 'jv-swatch');
    swatch.style.background = palette[look.fill ?? 'background'];
    swatch.style.borderColor = palette[look.stroke ?? 'line'];
    const item = element('span', 'jv-legend-item');
    item.append(swatch, families[index].label);
    legend.append(item);
  }
}
