import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AMOUNTS, groupColours, GROUPS } from './colours.ts';
import { looks, palettes, type Look, type LookName, type Role, type Theme } from './theme.ts';

type Rgb = readonly [number, number, number];

/** Linear light of a colour such as `#1f2328`. */
function linear(hex: string): Rgb {
  const channel = (at: number): number => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

/** Contrast as WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const luminance = ([r, g, blue]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  const [low, high] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** What eyes see that lack one kind of cone, in linear light (Machado, Oliveira and Fernandes 2009, severity 1). */
const EYES: Readonly<Record<string, readonly Rgb[]>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1]
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]
  ]
};

/** Place of a colour in OKLab, where distances are as large as they look. */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ];
}

function seenApart(a: string, b: string, eyes: readonly Rgb[]): number {
  const [p, q] = [a, b].map(hex => {
    const light = linear(hex);
    const through = eyes.map(row =>
      Math.min(1, Math.max(0, row[0] * light[0] + row[1] * light[1] + row[2] * light[2]))
    );
    return oklab(through as unknown as Rgb);
  });
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

const themes: readonly Theme[] = ['light', 'dark'];
const boxes = (Object.keys(looks) as LookName[]).filter(name => /^(box|group|amount)-|^ghost$|^chip$/.test(name));

test('every text on a box can be read, in both themes', () => {
  for (const theme of themes) {
    const palette = palettes[theme];
    for (const name of boxes) {
      const fill = palette[(looks[name] as Look).fill as Role];
      for (const ink of ['text', 'muted'] as const) {
        const found = contrast(fill, palette[ink]);
        assert.ok(found >= 4.5, `${theme} ${name}: ${ink} has ${found.toFixed(2)}`);
      }
    }
    const inks: readonly Role[] = ['text', 'muted', 'accent', 'cable', 'gone', 'added', 'changed', 'removed'];
    for (const [ground, written] of [
      ['background', inks],
      ['frame', inks],
      ['pressed', ['text', 'muted', 'accent', 'gone']],
      ['marked', ['text', 'muted', 'gone']]
    ] as const) {
      for (const ink of written) {
        const found = contrast(palette[ground], palette[ink]);
        assert.ok(found >= 4.5, `${theme} ${ink} on ${ground} has ${found.toFixed(2)}`);
      }
    }
  }
});

test('lines of groups stand out from the background, and apart for every kind of eye', () => {
  for (const theme of themes) {
    const lines = Array.from({ length: GROUPS }, (_, at) => groupColours[theme][`group${at}Line`]);
    for (const [at, line] of lines.entries()) {
      assert.ok(contrast(line, palettes[theme].background) >= 3, `${theme} group ${at}`);
      for (const [kind, eyes] of Object.entries(EYES)) {
        for (const other of lines.slice(at + 1)) {
          assert.ok(seenApart(line, other, eyes) > 0.1, `${theme}, ${kind}: ${line} and ${other}`);
        }
      }
    }
  }
});

test('lines of operations and of kernels stand out, and apart for every kind of eye', () => {
  const kinds = ['plain', 'matmul', 'reduction', 'movement', 'random', 'communication'] as const;
  const kernels = ['hull0', 'hull1', 'hull2', 'hull3'] as const;
  for (const theme of themes) {
    const palette = palettes[theme];
    for (const names of [kinds, kernels]) {
      for (const [at, name] of names.entries()) {
        const line = palette[`${name}Line`];
        for (const [kind, eyes] of Object.entries(EYES)) {
          for (const other of names.slice(at + 1)) {
            const apart = seenApart(line, palette[`${other}Line`], eyes);
            assert.ok(apart > 0.1, `${theme}, ${kind}: ${name} and ${other}`);
          }
        }
        // What is only elementwise steps back.
        const least = names === kernels ? 4.5 : name === 'plain' ? 2 : 3;
        for (const ground of [palette.background, palette[name]]) {
          assert.ok(contrast(line, ground) >= least, `${theme} ${name} on ${ground}`);
        }
      }
    }
  }
});

test('marks that eyes cannot tell apart by colour have another line', () => {
  const marks = (Object.keys(looks) as LookName[]).filter(name => name.startsWith('mark-'));
  for (const theme of themes) {
    for (const [at, name] of marks.entries()) {
      for (const other of marks.slice(at + 1)) {
        const [one, two] = [looks[name], looks[other]] as Look[];
        const [a, b] = [one, two].map(look => palettes[theme][look.stroke as Role]);
        const apart = Math.min(...Object.values(EYES).map(eyes => seenApart(a, b, eyes)));
        assert.ok(apart > 0.1 || String(one.dash) !== String(two.dash), `${theme}: ${name} and ${other}`);
      }
    }
  }
});

test('amounts go in one direction, step by step, for every kind of eye', () => {
  for (const theme of themes) {
    const lines = Array.from({ length: AMOUNTS }, (_, at) => groupColours[theme][`amount${at}Line`]);
    const strength = lines.map(line => contrast(line, palettes[theme].background));
    assert.deepEqual(
      strength,
      [...strength].sort((a, b) => a - b)
    );
    for (const eyes of Object.values(EYES)) {
      lines.slice(1).forEach((line, at) => assert.ok(seenApart(line, lines[at], eyes) > 0.05));
    }
  }
});
