/**
 * A scene as SVG: live text, valid XML, no script, its own colours and background. What looks alike stands in one group,
 * which has the look as attributes that every reader of SVG understands; a box costs little more than its place and words.
 */
import { paintBundleLabels, paintBundles } from './bundles.ts';
import { paintBadge } from './badge.ts';
import { paintCableLabels, paintCables } from './cables.ts';
import { paintCarries } from './carry.ts';
import { paintHulls, paintHullWords } from './hull.ts';
import {
  edgeLook,
  eachSegment,
  haloLook,
  MARGIN,
  paintBox,
  paintFrame,
  paintTitle,
  routeOf,
  type Painter,
  type Scene
} from './scene.ts';
import { layersOf } from './over.ts';
import { Shape } from '../view/visible.ts';
import { paintStubs } from './stubs.ts';
import { faces, measure, MONO, SANS, weights } from './text.ts';
import {
  inks,
  looks,
  palettes,
  type Ink,
  type Look,
  type LookName,
  type Palette,
  type Role,
  type Theme
} from './theme.ts';

export interface SvgOptions {
  /** `auto` follows the reader's own setting. */
  readonly theme: Theme | 'auto';
  /** Name and description for readers who do not see the picture. */
  readonly title: string;
  readonly description: string;
  /** What is to be known of the picture as a whole, written below it. */
  readonly note?: string;
}

export function toSvg(scene: Scene, { theme, title, description, note }: SvgOptions): string {
  const palette = palettes[theme === 'auto' ? 'light' : theme];
  const painter = new SvgPainter(palette);
  const { visible } = scene;
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame) {
      paintFrame(painter, scene, box);
    }
  }
  painter.endLayer();
  paintHulls(painter, scene);
  painter.endLayer();
  paintEdges(painter, scene);
  paintBundles(painter, scene);
  paintStubs(painter, scene);
  paintCarries(painter, scene);
  paintCables(painter, scene);
  painter.endLayer();
  for (let box = 0; box < visible.count; box++) {
    if (visible.shape[box] === Shape.frame) {
      paintTitle(painter, scene, box);
    } else {
      paintBox(painter, scene, box);
    }
  }
  painter.endLayer();
  for (let box = 0; box < visible.count; box++) {
    paintBadge(painter, scene, box);
  }
  paintHullWords(painter, scene);
  paintCableLabels(painter, scene);
  paintBundleLabels(painter, scene);
  const words = visible.count ? [...scene.layout.simplified, ...(note ? [note] : [])].join('; ') : EMPTY;
  if (words) {
    painter.text('title', 0, scene.layout.totalHeight + WORDS_HEIGHT + (visible.count ? 4 : -4), words);
  }
  painter.endLayer();
  const width = number(Math.max(scene.width, words ? 2 * MARGIN + measure(words, 'title') : 0));
  const height = number(scene.height + (words ? WORDS_HEIGHT : 0));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" ${familyAttributes(MONO)} fill="none" direction="ltr" xml:space="preserve" role="img"${theme === 'auto' ? ` class="${CLASS}"` : ''}>`,
    `<title>${escape(title)}</title>`,
    `<desc>${escape(description)}</desc>`,
    ...(theme === 'auto' ? [`<style>@media(prefers-color-scheme:dark){${darkRules(painter.used)}}</style>`] : []),
    `<path ${attribute('fill', 'background', palette)} d="M${run(-MARGIN, -MARGIN)}h${width}v${height}h-${width}z"/>`,
    ...painter.parts,
    '</svg>'
  ].join('\n');
}

/** What a picture without boxes says. */
const EMPTY = 'an empty program';
/** Room below a picture for what is said of it as a whole. */
const WORDS_HEIGHT = 14;

/** Edges from the lowest layer up, each on the halos that part it from those below. */
function paintEdges(painter: SvgPainter, scene: Scene): void {
  const { layer, halos } = layersOf(scene);
  halos.forEach((segments, level) => {
    for (const { edge, point } of segments) {
      painter.route(haloLook(scene, edge), routeOf(scene.layout, edge).subarray(2 * point - 2, 2 * point + 2));
    }
    layer.forEach((own, edge) => {
      if (own === level) {
        painter.route(edgeLook(scene, edge), routeOf(scene.layout, edge));
      }
    });
    painter.endLayer();
  });
}

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
function number(value: number): string {
  return String(tenths(value) + 0);
}

/** Numbers after a letter of a path; a minus sign parts two of them as well as a space does. */
function run(...values: number[]): string {
  return values.map((value, i) => (i > 0 && value >= 0 ? ' ' : '') + number(value)).join('');
}

/**
 * Collects a layer look by look. Within a layer, areas and lines come in the order of `looks`, then words: nothing in
 * a layer covers another thing of it but in that order.
 */
class SvgPainter implements Painter {
  readonly parts: string[] = [];
  readonly used = new Set<LookName | Ink>();
  private readonly shapes = new Map<LookName, string[]>();
  /** Lines of one look are one path. */
  private readonly paths = new Map<LookName, string[]>();
  private readonly words = new Map<Ink, string[]>();

  constructor(private readonly palette: Palette) {}

  /** What is painted from here on covers what was painted before. */
  endLayer(): void {
    for (const look of Object.keys(looks) as LookName[]) {
      const path = this.paths.get(look);
      const attributes = lookAttributes(looks[look], this.palette);
      this.writeGroup(look, attributes, this.shapes.get(look));
      if (path) {
        this.used.add(look);
        this.parts.push(`<path ${attributes} d="${path.join('\n')}"/>`);
      }
    }
    const written = (Object.keys(inks) as Ink[]).filter(ink => this.words.has(ink));
    const bold = written.filter(ink => faces[inks[ink].face].family === SANS);
    for (const ink of written.filter(one => !bold.includes(one))) {
      this.writeGroup(ink, inkAttributes(ink, this.palette), this.words.get(ink));
    }
    // The family that the picture does not name is said once for all that is set in it.
    if (bold.length) {
      this.parts.push(`<g ${familyAttributes(SANS)}>`);
      bold.forEach(ink => this.writeGroup(ink, inkAttributes(ink, this.palette), this.words.get(ink)));
      this.parts.push('</g>');
    }
    this.shapes.clear();
    this.paths.clear();
    this.words.clear();
  }

  rect(look: LookName, x: number, y: number, width: number, height: number, radius: number): void {
    const shape = `<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" rx="${radius}"/>`;
    const known = this.shapes.get(look);
    if (known) {
      known.push(shape);
    } else {
      this.shapes.set(look, [shape]);
    }
  }

  text(ink: Ink, x: number, y: number, text: string, whole?: string): void {
    const title = whole === undefined || whole === text ? '' : `<title>${escape(whole)}</title>`;
    // Faces differ from host to host by more than a part of a px.
    const one = `<text x="${Math.round(x)}" y="${Math.round(y)}">${title}${escape(text)}</text>`;
    const known = this.words.get(ink);
    if (known) {
      known.push(one);
    } else {
      this.words.set(ink, [one]);
    }
  }

  route(look: LookName, points: Float64Array): void {
    if (points.length < 4) {
      return;
    }
    // Each step starts from a rounded place, so that rounding does not add up.
    let [atX, atY] = [tenths(points[0]), tenths(points[1])];
    let path = `M${run(atX, atY)}`;
    const to = (x: number, y: number): [number, number] => {
      const step: [number, number] = [tenths(x) - atX, tenths(y) - atY];
      [atX, atY] = [tenths(x), tenths(y)];
      return step;
    };
    eachSegment(
      points,
      (x, y) => {
        const [dx, dy] = to(x, y);
        path += dx === 0 ? `v${number(dy)}` : dy === 0 ? `h${number(dx)}` : `l${run(dx, dy)}`;
      },
      (_middle, _fromX, x, y) => {
        const [dx, dy] = to(x, y);
        path += `c${run(0, dy / 2, dx, dy / 2, dx, dy)}`;
      }
    );
    this.addPath(look, path);
  }

  cable(look: LookName, x1: number, y1: number, x2: number, y2: number): void {
    const [dx, dy] = [x2 - x1, y2 - y1];
    this.addPath(look, `M${run(x1, y1)}${dy === 0 ? `h${number(dx)}` : `c${run(dx / 2, 0, dx / 2, dy, dx, dy)}`}`);
  }

  plus(look: LookName, x: number, y: number, arm: number): void {
    this.addPath(look, `M${run(x - arm, y)}h${2 * arm}m${run(-arm, -arm)}v${2 * arm}`);
  }

  private addPath(look: LookName, path: string): void {
    const known = this.paths.get(look);
    if (known) {
      known.push(path);
    } else {
      this.paths.set(look, [path]);
    }
  }

  private writeGroup(name: LookName | Ink, attributes: string, members: readonly string[] | undefined): void {
    if (!members) {
      return;
    }
    this.used.add(name);
    // What is alone says itself how it looks.
    if (members.length === 1) {
      this.parts.push(members[0].replace(' ', ` ${attributes} `));
    } else {
      this.parts.push(`<g ${attributes}>`, ...members, '</g>');
    }
  }
}

/** `#ffffff` is `#fff`. */
function colour(six: string): string {
  return six.replace(/^#(.)\1(.)\2(.)\3$/, '#$1$2$3');
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What a look has beside what holds for all: no fill, and lines of one px. */
export function lookAttributes(look: Look, palette: Palette): string {
  return [
    ...(look.fill ? [attribute('fill', look.fill, palette)] : []),
    ...(look.stroke ? [attribute('stroke', look.stroke, palette)] : []),
    ...(look.stroke && look.width && look.width !== 1 ? [`stroke-width="${look.width}"`] : []),
    ...(look.dash ? [`stroke-dasharray="${look.dash.join(' ')}"`] : [])
  ].join(' ');
}

function inkAttributes(ink: Ink, palette: Palette): string {
  return `${attribute('fill', inks[ink].role, palette)} font-size="${faces[inks[ink].face].size}"`;
}

/** Each family is used in one weight. */
function familyAttributes(family: keyof typeof weights): string {
  return `font-family="${family}" font-weight="${weights[family]}"`;
}

type Property = 'fill' | 'stroke';

function attribute(property: Property, role: Role, palette: Palette): string {
  return `${property}="${colour(palette[role])}"`;
}

/** A class that nothing else has: the rules of a style hold for the whole page that a picture stands in. */
const CLASS = 'jv';

/**
 * The colours for readers who prefer dark; rules of a style win over attributes. A rule speaks of a light colour, not of
 * what has it: no part of the picture needs a name, and every colour is told once.
 */
function darkRules(used: ReadonlySet<LookName | Ink>): string {
  const rules = new Set<string>();
  const add = (property: Property, role: Role): void => {
    const from = attribute(property, role, palettes.light);
    rules.add(`.${CLASS} [${from}]{${property}:${colour(palettes.dark[role])}}`);
  };
  add('fill', 'background');
  for (const name of (Object.keys(looks) as LookName[]).filter(one => used.has(one))) {
    const { fill, stroke }: Look = looks[name];
    if (fill) {
      add('fill', fill);
    }
    if (stroke) {
      add('stroke', stroke);
    }
  }
  for (const name of (Object.keys(inks) as Ink[]).filter(one => used.has(one))) {
    add('fill', inks[name].role);
  }
  return [...rules].join('');
}
