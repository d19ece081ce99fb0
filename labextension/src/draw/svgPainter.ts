/**
 * Paints as the text of an SVG. What looks alike within a layer stands in one group, which has the look as attributes
 * that every reader of SVG understands; a thing costs little more than its place and words.
 */
import { Drawn } from './drawn.ts';
import { eachSegment, type Painter } from './scene.ts';
import {
  attribute,
  escape,
  familyAttributes,
  inkAttributes,
  lookAttributes,
  number,
  paintsOf,
  run,
  tenths,
  type Paint
} from './svgText.ts';
import { faces, SANS } from './text.ts';
import { inks, looks, type Ink, type Look, type LookName, type Palette } from './theme.ts';

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly radius: number;
}

/** A path that is stroked with round ends. */
interface Line {
  readonly paint: Paint;
  readonly width: number;
  readonly path: string;
}

/** Characters that the rule takes which a picture that follows its reader needs for a colour of areas that lines get. */
const RULE = 36;

/** Words in which XML would take several spaces for one, or none. */
const SPACED = /^\s|\s$|\s\s|[\t\r\n]/;

/**
 * Collects a layer look by look. Within a layer, areas and lines come in the order of `looks`, then words: nothing in
 * a layer covers another thing of it but in that order.
 */
export class SvgPainter implements Painter {
  readonly parts: string[] = [];
  /** The colours of what was written. */
  readonly paints: Paint[] = [];
  /** True where words were written whose spaces all count. */
  spaced = false;
  private readonly areas = new Map<LookName, Area[]>();
  /** What was drawn over the lowest layer, which is the ground of all else. */
  private readonly drawn: Drawn;
  private lowest = true;
  /** Lines of one look are one path. */
  private readonly paths = new Map<LookName, string[]>();
  private readonly words = new Map<Ink, string[]>();

  constructor(
    private readonly palette: Palette,
    height: number
  ) {
    this.drawn = new Drawn(height);
  }

  /** What is painted from here on covers what was painted before. */
  endLayer(): void {
    for (const name of Object.keys(looks) as LookName[]) {
      const path = this.paths.get(name);
      this.writeAreas(looks[name], this.areas.get(name) ?? []);
      if (path) {
        this.paints.push(...paintsOf(looks[name]));
        this.parts.push(`<path ${lookAttributes(looks[name], this.palette)} d="${path.join('\n')}"/>`);
      }
    }
    const written = (Object.keys(inks) as Ink[]).filter(ink => this.words.has(ink));
    const bold = written.filter(ink => faces[inks[ink].face].family === SANS);
    written.filter(one => !bold.includes(one)).forEach(ink => this.writeWords(ink));
    // The family that the picture does not name is said once for all that is set in it.
    if (bold.length) {
      this.parts.push(`<g ${familyAttributes(SANS)}>`);
      bold.forEach(ink => this.writeWords(ink));
      this.parts.push('</g>');
    }
    this.areas.clear();
    this.paths.clear();
    this.words.clear();
    this.lowest = false;
  }

  rect(look: LookName, x: number, y: number, width: number, height: number, radius: number): void {
    add(this.areas, look, { x, y, width, height, radius });
    this.keep(look, x, y, x + width, y + height);
  }

  ground(look: LookName, x: number, y: number, width: number, height: number): void {
    // Of the colour of what lies below it, it would not be seen.
    if (this.drawn.meets(x, y, x + width, y + height)) {
      this.rect(look, x, y, width, height, 3);
    }
  }

  text(ink: Ink, x: number, y: number, text: string, whole?: string): void {
    const title = whole === undefined || whole === text ? '' : `<title>${escape(whole)}</title>`;
    this.spaced ||= SPACED.test(text);
    // Faces differ from host to host by more than a part of a px.
    add(this.words, ink, `<text x="${Math.round(x)}" y="${Math.round(y)}">${title}${escape(text)}</text>`);
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
        this.keep(look, atX, atY, x, y);
        const [dx, dy] = to(x, y);
        path += dx === 0 ? `v${number(dy)}` : dy === 0 ? `h${number(dx)}` : `l${run(dx, dy)}`;
      },
      (_middle, _fromX, x, y) => {
        this.keep(look, atX, atY, x, y);
        const [dx, dy] = to(x, y);
        path += `c${run(0, dy / 2, dx, dy / 2, dx, dy)}`;
      }
    );
    add(this.paths, look, path);
  }

  cable(look: LookName, x1: number, y1: number, x2: number, y2: number): void {
    const [dx, dy] = [x2 - x1, y2 - y1];
    this.keep(look, x1, y1, x2, y2);
    add(this.paths, look, `M${run(x1, y1)}${dy === 0 ? `h${number(dx)}` : `c${run(dx / 2, 0, dx / 2, dy, dx, dy)}`}`);
  }

  plus(look: LookName, x: number, y: number, arm: number): void {
    add(this.paths, look, `M${run(x - arm, y)}h${2 * arm}m${run(-arm, -arm)}v${2 * arm}`);
  }

  private keep(look: LookName, x1: number, y1: number, x2: number, y2: number): void {
    if (!this.lowest) {
      const { stroke, width = 1 }: Look = looks[look];
      const half = stroke ? width / 2 : 0;
      this.drawn.add(
        Math.min(x1, x2) - half,
        Math.min(y1, y2) - half,
        Math.max(x1, x2) + half,
        Math.max(y1, y2) + half
      );
    }
  }

  /** Areas with round ends are written as lines with round ends where that is shorter. */
  private writeAreas(look: Look, areas: readonly Area[]): void {
    const attributes = lookAttributes(look, this.palette);
    const rectangles = grouped(attributes, areas.map(rectangle));
    const lines = linesOf(look, areas.filter(isPill));
    const others = areas.filter(area => !isPill(area));
    const withLines = [...grouped(attributes, others.map(rectangle)), ...strokes(lines, this.palette)];
    const areLines = lines.length > 0 && length(withLines) + RULE < length(rectangles);
    this.parts.push(...(areLines ? withLines : rectangles));
    this.paints.push(...(areLines ? lines.map(({ paint }) => paint) : []));
    if (others.length || (areas.length && !areLines)) {
      this.paints.push(...paintsOf(look));
    }
  }

  private writeWords(ink: Ink): void {
    this.paints.push(['fill', inks[ink].role]);
    this.parts.push(...grouped(inkAttributes(ink, this.palette), this.words.get(ink) ?? []));
  }
}

function add<Name, One>(all: Map<Name, One[]>, name: Name, one: One): void {
  const known = all.get(name);
  if (known) {
    known.push(one);
  } else {
    all.set(name, [one]);
  }
}

/** True for an area whose sides are round from top to bottom. */
function isPill({ width, height, radius }: Area): boolean {
  return 2 * radius === height && width > height;
}

function rectangle({ x, y, width, height, radius }: Area): string {
  return `<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" rx="${radius}"/>`;
}

/** Lines that look as areas with round ends do: as wide as these with their rims, then as what is within. */
function linesOf({ fill, stroke, width = 1, dash }: Look, pills: readonly Area[]): Line[] {
  const [first] = pills;
  if (!fill || dash || !pills.length || pills.some(({ height }) => height !== first.height)) {
    return [];
  }
  const path = pills
    .map(({ x, y, width, height, radius }) => `M${run(x + radius, y + radius)}h${number(width - height)}`)
    .join('\n');
  const rim = stroke ? width : 0;
  return [
    ...(stroke ? [{ paint: ['stroke', stroke] as const, width: first.height + rim, path }] : []),
    { paint: ['stroke', fill], width: first.height - rim, path }
  ];
}

function strokes(lines: readonly Line[], palette: Palette): string[] {
  return grouped(
    'stroke-linecap="round"',
    lines.map(({ paint, width, path }) => `<path ${attribute(paint, palette)} stroke-width="${width}" d="${path}"/>`)
  );
}

/** What is alone says itself how it looks. */
function grouped(attributes: string, members: readonly string[]): string[] {
  switch (members.length) {
    case 0:
      return [];
    case 1:
      return [members[0].replace(' ', ` ${attributes} `)];
    default:
      return [`<g ${attributes}>`, ...members, '</g>'];
  }
}

function length(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 1, 0);
}
