/**
 * A scene as SVG: live text, valid XML, no script, its own colours and background. Each look is one class, so a box
 * costs little more than its place and its words.
 */
import {
  edgeLook,
  eachSegment,
  MARGIN,
  paintBox,
  paintCableLabels,
  paintCables,
  paintFrame,
  paintTitle,
  routeOf,
  type Painter,
  type Scene
} from './scene.ts';
import { Shape } from '../view/visible.ts';
import { faces } from './text.ts';
import { inks, looks, palettes, type Ink, type Look, type LookName, type Palette, type Theme } from './theme.ts';

export interface SvgOptions {
  /** `auto` follows the reader's own setting. */
  readonly theme: Theme | 'auto';
  /** Name and description for readers who do not see the picture. */
  readonly title: string;
  readonly description: string;
}

export function toSvg(scene: Scene, { theme, title, description }: SvgOptions): string {
  const painter = new SvgPainter();
  const { visible, layout } = scene;
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame) {
      paintFrame(painter, scene, box);
    }
  }
  for (let edge = 0; edge < visible.source.length; edge++) {
    painter.route(edgeLook(scene, edge), routeOf(layout, edge));
  }
  paintCables(painter, scene);
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame) {
      paintTitle(painter, scene, box);
    } else {
      paintBox(painter, scene, box);
    }
  }
  paintCableLabels(painter, scene);
  const [width, height] = [number(scene.width), number(scene.height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" role="img" aria-label="${escape(title)}">`,
    `<title>${escape(title)}</title>`,
    `<desc>${escape(description)}</desc>`,
    `<style>${styles(theme, painter.used)}</style>`,
    `<rect class="background" x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}"/>`,
    ...painter.parts,
    '</svg>'
  ].join('\n');
}

/** Text for XML: markup escaped, characters that XML forbids left out. */
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
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
};

/** Tenths of a px are enough for the eye. */
function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}

class SvgPainter implements Painter {
  readonly parts: string[] = [];
  readonly used = new Set<LookName | Ink>();

  rect(look: LookName, x: number, y: number, width: number, height: number, radius: number): void {
    this.used.add(look);
    this.parts.push(
      `<rect class="${look}" x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" rx="${radius}"/>`
    );
  }

  text(ink: Ink, x: number, y: number, text: string): void {
    this.used.add(ink);
    this.parts.push(`<text class="${ink}" x="${number(x)}" y="${number(y)}">${escape(text)}</text>`);
  }

  route(look: LookName, points: Float64Array): void {
    if (points.length < 4) {
      return;
    }
    this.used.add(look);
    let path = `M${number(points[0])} ${number(points[1])}`;
    eachSegment(
      points,
      (x, y) => (path += `L${number(x)} ${number(y)}`),
      (middle, fromX, x, y) =>
        (path += `C${number(fromX)} ${number(middle)} ${number(x)} ${number(middle)} ${number(x)} ${number(y)}`)
    );
    this.parts.push(`<path class="${look}" d="${path}"/>`);
  }

  cable(look: LookName, x1: number, y1: number, x2: number, y2: number): void {
    this.used.add(look);
    const middle = number((x1 + x2) / 2);
    this.parts.push(
      `<path class="${look}" d="M${number(x1)} ${number(y1)}C${middle} ${number(y1)} ${middle} ${number(y2)} ${number(x2)} ${number(y2)}"/>`
    );
  }

  plus(look: LookName, x: number, y: number, arm: number): void {
    this.used.add(look);
    this.parts.push(
      `<path class="${look}" d="M${number(x - arm)} ${number(y)}h${2 * arm}M${number(x)} ${number(y - arm)}v${2 * arm}"/>`
    );
  }
}

function styles(theme: Theme | 'auto', used: ReadonlySet<LookName | Ink>): string {
  const rules = (palette: Palette): string =>
    [
      `.background{fill:${palette.background}}`,
      ...(Object.keys(looks) as LookName[])
        .filter(name => used.has(name))
        .map(name => `.${name}{${lookStyle(looks[name], palette)}}`),
      ...(Object.keys(inks) as Ink[])
        .filter(name => used.has(name))
        .map(name => `.${name}{fill:${palette[inks[name].role]}}`)
    ].join('');
  const fonts = (Object.keys(inks) as Ink[])
    .filter(name => used.has(name))
    .map(name => {
      const { size, weight, family } = faces[inks[name].face];
      return `text.${name}{font:${weight} ${size}px ${family};white-space:pre}`;
    })
    .join('');
  const colours =
    theme === 'auto'
      ? `${rules(palettes.light)}@media(prefers-color-scheme:dark){${rules(palettes.dark)}}`
      : rules(palettes[theme]);
  // Quotes around font names need no escape inside an element's text.
  return fonts + colours;
}

function lookStyle(look: Look, palette: Palette): string {
  const fill = look.fill ? palette[look.fill] : 'none';
  const line = look.stroke ? `;stroke:${palette[look.stroke]};stroke-width:${look.width ?? 1}` : '';
  return `fill:${fill}${line}${look.dash ? `;stroke-dasharray:${look.dash.join(' ')}` : ''}`;
}
