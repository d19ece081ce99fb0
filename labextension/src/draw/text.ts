/**
 * Widths of texts without a browser, so that every host lays out alike.
 *
 * The advances are those of DejaVu Sans, the widest of the usual interface faces: in a narrower face a box has a little
 * more room than it needs, and in none is a label wider than its box.
 */
import type { Measure } from '../view/sizes.ts';

export const SANS = 'system-ui,sans-serif';
/** Readers that take only the first family, as CairoSVG does, need one that is narrow and has arrows. */
export const MONO = "'DejaVu Sans Mono',Menlo,Consolas,monospace";
export const weights = { [SANS]: 600, [MONO]: 400 } as const;

/** The type scale: one face for each kind of text. Sizes in px. */
export const faces = {
  name: { size: 12, weight: weights[SANS], family: SANS },
  title: { size: 11, weight: weights[SANS], family: SANS },
  type: { size: 9.5, weight: weights[MONO], family: MONO },
  chip: { size: 10, weight: weights[MONO], family: MONO }
} as const;

export type Face = keyof typeof faces;

/** Advances of the characters from space to tilde in hundredths of the size, in the bold weight. */
const BOLD = [
  35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40, 84,
  84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85, 73, 85, 77, 72, 68, 81, 77, 110, 77, 72,
  73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72, 71, 34, 34, 67, 34, 104, 71, 69, 72, 72, 49, 60, 48, 71, 65,
  92, 65, 65, 58, 71, 37, 71, 84
];
const MONO_ADVANCE = 60.3;
const UNKNOWN_ADVANCE = 80;
/** Characters that are wider than those of most scripts. Words were measured in common fonts: letters join in many. */
const WIDER: readonly (readonly [first: number, last: number, hundredths: number])[] = [
  [0xb80, 0xbff, 110], // Tamil
  [0xc00, 0xcff, 95], // Telugu, Kannada
  [0xd00, 0xd7f, 120], // Malayalam
  [0xd80, 0xdff, 100], // Sinhala
  [0x1000, 0x109f, 100], // Burmese
  [0x1100, 0x115f, 125], // hangul
  [0x1f80, 0x1fff, 110], // Greek with an iota beside the letter
  [0x2e3a, 0x2e3b, 285], // dashes of two and three letters
  [0x2e80, 0xa4cf, 125], // ideographs and kana, as wide as they are high
  [0xac00, 0xd7a3, 125], // hangul
  [0xf900, 0xfaff, 125], // ideographs
  [0xfb00, 0xfb17, 110], // ligatures of Latin and Armenian
  [0xfb50, 0xfdcf, 175], // of Arabic letters
  [0xfdd0, 0xfdfc, 235], // of Arabic words
  [0xfdfd, 0xfdfd, 725], // of an Arabic sentence
  [0xfe30, 0xfe6f, 125], // forms for ideographic text
  [0xff00, 0xff60, 125],
  [0x12000, 0x12fff, 225], // cuneiform
  [0x1f000, 0x10ffff, 125] // emoji, rare ideographs
];
/** Marks that stand above or below a letter, and what only joins or parts letters. */
const NO_ADVANCE = /[\p{Mn}\p{Me}\p{Cf}]/u;

export const measure: Measure = (text, style) => {
  const { size, weight } = faces[style];
  let hundredths = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0x300 && NO_ADVANCE.test(character)) {
      continue;
    }
    const wider = code < WIDER[0][0] ? undefined : WIDER.find(([first, last]) => code >= first && code <= last);
    if (wider) {
      hundredths += wider[2];
    } else if (weight === 400) {
      hundredths += code < 0x2000 ? MONO_ADVANCE : UNKNOWN_ADVANCE;
    } else {
      hundredths += BOLD[code - 32] ?? UNKNOWN_ADVANCE;
    }
  }
  return (hundredths * size) / 100;
};
