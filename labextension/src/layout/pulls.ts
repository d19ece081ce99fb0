/**
 * How far edges pull what they join apart. An edge that leaves a wide box at one side and enters the next at the other
 * would have each stand beside the one before, and a chain of such boxes be a staircase: it goes back below the box
 * instead, as the eye does to the next line of a text.
 */
import type { Extents } from './coordinates.ts';

/** Up to here, in px, an edge is worth standing askew for. */
const ASKEW = 300;
/** An end nearer to the middle of its box than this stands at no side. */
const ASIDE = 100;

/** The extents by which boxes are placed; routes have their own ends. */
export function eased(extents: Extents): Extents {
  const { upperOffset, lowerOffset } = extents;
  const share = upperOffset.map((upper, link) => {
    const lower = lowerOffset[link];
    const across = Math.min(Math.abs(upper), Math.abs(lower)) > ASIDE && upper > 0 !== lower > 0;
    const askew = Math.abs(upper - lower);
    return across && askew > ASKEW ? (ASKEW / askew) ** 2 : 1;
  });
  return {
    ...extents,
    upperOffset: upperOffset.map((offset, link) => offset * share[link]),
    lowerOffset: lowerOffset.map((offset, link) => offset * share[link])
  };
}
