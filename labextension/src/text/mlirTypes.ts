/** Types as MLIR spells them: `f32[3,4]` is `tensor<3x4xf32>`. */
import type { Document } from '../document/graph.ts';

const SPELLED: Readonly<Record<string, string>> = {
  bool: 'i1',
  pred: 'i1',
  c64: 'complex<f32>',
  c128: 'complex<f64>',
  complex64: 'complex<f32>',
  complex128: 'complex<f64>'
};

/** What is no array, as a token, stays as it is. */
export function mlirType({ strings, types }: Document, of: number): string {
  const text = strings[types.text[of]];
  const [, element, shape] = /^(\w+)\[([^\]]*)\]$/.exec(text) ?? [];
  if (element === undefined) {
    return text === 'token' ? '!stablehlo.token' : text;
  }
  const dims = shape ? shape.split(',').map(size => (/^\d+$/.test(size) ? size : '?')) : [];
  return `tensor<${[...dims, elementType(element)].join('x')}>`;
}

function elementType(element: string): string {
  // Signed numbers have no mark there, unsigned ones have one.
  return SPELLED[element] ?? element.replace(/^u(\d+)$/, 'ui$1').replace(/^s(\d+)$/, 'i$1');
}
