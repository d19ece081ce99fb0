/** Pieces of small plots: elements of SVG, texts, and logarithmic scales. */

const SVG = 'http://www.w3.org/2000/svg';

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  at(value: number): number;
}

/** A logarithmic scale over whole powers of ten, with at most six ticks; `room` is a share of one around the values. */
export function logarithmic(values: readonly number[], [from, to]: readonly [number, number], room = -1e-9): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)) - room);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) + room));
  const step = Math.ceil((high - low) / 5);
  const ticks: number[] = [];
  for (let power = low; power <= high; power += step) {
    ticks.push(10 ** power);
  }
  return {
    low: 10 ** low,
    high: 10 ** high,
    ticks,
    at: value => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
  };
}

/** Where points stand; those without an amount are left out. */
export function plotted(
  places: readonly number[],
  amounts: readonly number[],
  x: Scale,
  y: Scale
): (readonly [number, number])[] {
  return places.flatMap((place, row) => (amounts[row] > 0 ? [[x.at(place), y.at(amounts[row])] as const] : []));
}

export function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = globalThis.document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value);
  }
  return made;
}

export function svgText(x: number, y: number, content: string, anchor: string): SVGElement {
  const made = svg('text', { class: 'jv-plot-text', x, y, 'text-anchor': anchor });
  made.textContent = content;
  return made;
}
