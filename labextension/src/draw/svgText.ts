/** What an SVG is written of: words, numbers and colours as text. */
import { faces, weights } from './text.ts';
import { inks, palettes, type Ink, type Look, type Palette, type Role } from './theme.ts';

/** Text between tags: markup escaped, characters that XML forbids left out. */
export function escape(text: string): string {
  let result = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const allowed =
      code === 9 ||
      code === 10 ||
      code === 13 ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd) ||
      code >= 0x10000;
    if (allowed) {
      result += entities[character] ?? character;
    }
  }
  return result;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;'
};

/** Tenths of a px are enough for the eye. */
export function number(value: number): string {
  return String(tenths(value) + 0);
}

/** Numbers after a letter of a path; a minus sign parts two of them as well as a space does. */
export function run(...values: number[]): string {
  return values.map((value, i) => (i > 0 && value >= 0 ? ' ' : '') + number(value)).join('');
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

type Property = 'fill' | 'stroke';

/** A colour, and what it is used for. */
export type Paint = readonly [property: Property, role: Role];

export function attribute([property, role]: Paint, palette: Palette): string {
  return `${property}="${colour(palette[role])}"`;
}

/** `#ffffff` is `#fff`. */
function colour(six: string): string {
  return six.replace(/^#(.)\1(.)\2(.)\3$/, '#$1$2$3');
}

/** The colours of a look. */
export function paintsOf({ fill, stroke }: Look): Paint[] {
  return [...(fill ? [['fill', fill] as const] : []), ...(stroke ? [['stroke', stroke] as const] : [])];
}

/** What a look has beside what holds for all: no fill, and lines of one px. */
export function lookAttributes(look: Look, palette: Palette): string {
  return [
    ...paintsOf(look).map(paint => attribute(paint, palette)),
    ...(look.stroke && look.width && look.width !== 1 ? [`stroke-width="${look.width}"`] : []),
    ...(look.dash ? [`stroke-dasharray="${look.dash.join(' ')}"`] : [])
  ].join(' ');
}

export function inkAttributes(ink: Ink, palette: Palette): string {
  return `${attribute(['fill', inks[ink].role], palette)} font-size="${faces[inks[ink].face].size}"`;
}

/** Each family is used in one weight. */
export function familyAttributes(family: keyof typeof weights): string {
  return `font-family="${family}" font-weight="${weights[family]}"`;
}

/** A class that nothing else has: the rules of a style hold for the whole page that a picture stands in. */
export const CLASS = 'jv';

/**
 * The colours for readers who prefer dark; rules of a style win over attributes. A rule speaks of a light colour, not of
 * what has it: no part of the picture needs a name, and every colour is told once.
 */
export function darkRules(paints: Iterable<Paint>): string {
  const rules = new Set<string>();
  for (const paint of paints) {
    const [property, role] = paint;
    rules.add(`.${CLASS} [${attribute(paint, palettes.light)}]{${property}:${colour(palettes.dark[role])}}`);
  }
  return [...rules].join('');
}
