/**
 * A scene as SVG: live text, valid XML, no script, its own colours and background. What looks alike stands in one group,
 * which has the look as attributes that every reader of SVG understands; a box costs little more than its place and words.
 */
import { paintBundleLabels, paintBundles } from './bundles.ts';
import { paintBadge } from './badge.ts';
import { paintCableLabels, paintCables } from './cables.ts';
import { paintCarries } from './carry.ts';
import { paintHulls, paintHullWords } from './hull.ts';
import { edgeLook, haloLook, MARGIN, paintBox, paintFrame, paintTitle, routeOf, type Scene } from './scene.ts';
import { layersOf } from './over.ts';
import { Shape } from '../view/visible.ts';
import { paintStubs } from './stubs.ts';
import { SvgPainter } from './svgPainter.ts';
import { attribute, CLASS, darkRules, escape, familyAttributes, number, run, type Paint } from './svgText.ts';
import { measure, MONO } from './text.ts';
import { inks, palettes, type Theme } from './theme.ts';

export interface SvgOptions {
  /** `auto` follows the reader's own setting. */
  readonly theme: Theme | 'auto';
  /** Name and description for readers who do not see the picture. */
  readonly title: string;
  readonly description: string;
  /** What is to be known of the picture as a whole, written below it; of several lines, the first says it all in short. */
  readonly note?: string;
  /** px that it is wide at most: a wider one is drawn smaller. */
  readonly most?: number;
}

export function toSvg(scene: Scene, { theme, title, description, note, most = Infinity }: SvgOptions): string {
  const palette = palettes[theme === 'auto' ? 'light' : theme];
  const painter = new SvgPainter(palette, scene.layout.totalHeight);
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
  const lines = linesBelow(scene, note);
  const below = scene.layout.totalHeight + (visible.count ? 4 : -4);
  lines.forEach(({ ink, text }, line) => {
    // Some readers leave out the spaces that a text begins with.
    const words = text.trimStart();
    if (words) {
      const indent = measure(text.slice(0, text.length - words.length), inks[ink].face);
      painter.text(ink, indent, below + (line + 1) * WORDS_HEIGHT, words);
    }
  });
  painter.endLayer();
  const wide = lines.map(({ ink, text }) => 2 * MARGIN + measure(text, inks[ink].face));
  const whole = [Math.max(scene.width, ...wide), scene.height + lines.length * WORDS_HEIGHT];
  const [width, height] = whole.map(number);
  const smaller = Math.min(1, most / whole[0]);
  const [ownWidth, ownHeight] = whole.map(size => number(size * smaller));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${ownWidth}" height="${ownHeight}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" ${familyAttributes(MONO)} fill="none" direction="ltr"${painter.spaced ? ' xml:space="preserve"' : ''} role="img"${theme === 'auto' ? ` class="${CLASS}"` : ''}>`,
    `<title>${escape(title)}</title>`,
    `<desc>${escape(description)}</desc>`,
    ...(theme === 'auto'
      ? [`<style>@media(prefers-color-scheme:dark){${darkRules([GROUND, ...painter.paints])}}</style>`]
      : []),
    `<path ${attribute(GROUND, palette)} d="M${run(-MARGIN, -MARGIN)}h${width}v${height}h-${width}z"/>`,
    ...painter.parts,
    '</svg>'
  ].join('\n');
}

/** What all stands on. */
const GROUND: Paint = ['fill', 'background'];
/** What a picture without boxes says. */
const EMPTY = 'an empty program';
/** Room below a picture for each line of what is said of it as a whole. */
const WORDS_HEIGHT = 14;

interface Line {
  readonly ink: 'name' | 'title' | 'label';
  readonly text: string;
}

/** What stands below the picture: one line, or the first line of a longer text as the heading of the others. */
function linesBelow({ visible, layout }: Scene, note = ''): Line[] {
  const [first, ...others] = note.split('\n');
  const told = [...layout.simplified, ...(others.length || !note ? [] : [note])];
  const words = told.length || visible.count || note ? told.join('; ') : EMPTY;
  return [
    ...(words ? [{ ink: 'title', text: words } as const] : []),
    ...(others.length ? [{ ink: 'name', text: first } as const] : []),
    ...others.map(text => ({ ink: 'label', text }) as const)
  ];
}

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
