/** The operations of StableHLO that MLIR prints in forms of their own; all others are printed alike. */
import { elided, joined, key, op, plain, type Piece } from './pieces.ts';

type Read = readonly (readonly Piece[])[];
type Attributes = ReadonlyMap<string, string>;
/** Gives what stands behind the name of an operation, by what it reads and by its attributes; undefined for what has another form. */
type Printed = (read: Read, own: Attributes) => readonly Piece[] | undefined;

export const PRINTED: Readonly<Record<string, Printed>> = {
  /** `LT, %0, %1, SIGNED` */
  compare: (read, own) => {
    const [direction, kind] = [own.get('comparison_direction'), own.get('compare_type')];
    return direction === undefined
      ? undefined
      : [plain(` ${direction}, `), ...joined(read, ', '), ...(kind ? [plain(`, ${kind}`)] : [])];
  },
  /** `(%0 init: %cst) applies stablehlo.add across dimensions = [0]` */
  reduce: (read, own) => {
    const [reducer, dimensions] = [own.get('reducer'), own.get('dimensions')];
    if (reducer === undefined || dimensions === undefined || read.length !== 2) {
      return undefined;
    }
    return [
      plain('('),
      ...read[0],
      plain(' init: '),
      ...read[1],
      plain(') applies '),
      op(`stablehlo.${reducer}`),
      plain(' across '),
      key('dimensions'),
      plain(` = [${dimensions}]`)
    ];
  },
  /** `%0 [0:3:2, 0:4]`, without the strides that are 1. */
  slice: (read, own) => {
    const [starts, limits, strides] = ['start_indices', 'limit_indices', 'strides'].map(name =>
      own.get(name)?.split(', ')
    );
    if (!starts || !limits || starts.length !== limits.length) {
      return undefined;
    }
    const sizes = starts.map((start, i) => {
      const stride = strides?.[i] ?? '1';
      return `${start}:${limits[i]}${stride === '1' ? '' : `:${stride}`}`;
    });
    return [plain(' '), ...joined(read, ', '), plain(` [${elided(sizes.join(', '))}]`)];
  },
  /** `%0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1]` */
  dot_general: (read, own) => {
    const numbers = own.get('dot_dimension_numbers') ?? '';
    const rest = [...own].filter(([name]) => name !== 'dot_dimension_numbers');
    const dims = (side: string, what: string): string | undefined =>
      new RegExp(`${side}_${what}_dimensions = (\\[[^\\]]*\\])`).exec(numbers)?.[1];
    const pairs = ['batching', 'contracting'].flatMap(what => {
      const [left, right] = [dims('lhs', what), dims('rhs', what)];
      return left && right ? [plain(', '), key(`${what}_dims`), plain(` = ${left} x ${right}`)] : [];
    });
    const others = rest.flatMap(([name, text]) => [plain(', '), key(name), plain(` = ${elided(text)}`)]);
    return numbers ? [plain(' '), ...joined(read, ', '), ...pairs, ...others] : undefined;
  }
};
