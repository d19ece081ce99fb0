/** Numbers in words. */

/** Sizes for people: powers of 1000, as drives and networks count. */
export function bytesText(bytes: number): string {
  if (bytes < 0) {
    return '';
  }
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  let size = bytes;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** How many copies there are of something, or turns, as it is written on it: with commas where it could not be read at a look. */
export function countText(times: number): string {
  return `x${times < 10_000 ? times : numberText(times)}`;
}

/** A whole number as people read it: 12,345. What the browser has for it takes a tenth of a second the first time. */
export function numberText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

const NUMBER = /^-?(\d+)(\.\d+)?(e[+-]?\d+)?$/;
/** Zeros that nobody counts at a look. */
const UNCOUNTED = /0{6}(\.0)?$/;

/** A constant in so many characters: of a number that is longer, digits are left out, never how large it is. */
export function constantWords(text: string, most: number): string {
  const [, whole, , exponent] = NUMBER.exec(text) ?? [];
  if (whole === undefined) {
    return text;
  }
  if (!exponent && (UNCOUNTED.test(text) || whole.length > most - 2)) {
    return constantWords(Number(text).toExponential().replace('e+', 'e'), most);
  }
  if (!exponent || text.length <= most) {
    return text;
  }
  return `${text.slice(0, most - 1 - exponent.length)}…${exponent}`;
}
